// A ticket lock: take a number with atomicAdd, wait until it is served.
#include "../corpus.h"

struct ticket_lock {
    unsigned next, serving;
};

__global__ void append(ticket_lock *lock, int *list, int *length)
{
    unsigned mine = atomicAdd(&lock->next, 1);
    while (atomicAdd(&lock->serving, 0) != mine)
        ;
    __threadfence();
    list[(*length)++] = blockIdx.x;
    __threadfence();
    atomicAdd(&lock->serving, 1);
}

int main()
{
    ticket_lock *lock = device_zeros<ticket_lock>(1);
    int *list = device_zeros<int>(16), *length = device_zeros<int>(1), result[1];
    append<<<16, 1>>>(lock, list, length);
    CHECK(cudaGetLastError());
    fetch(result, length);
    REQUIRE(result[0] == 16);
    CHECK(cudaFree(lock));
    CHECK(cudaFree(list));
    CHECK(cudaFree(length));
    return 0;
}

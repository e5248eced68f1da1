// A ticket lock that serves the next number with no fence after the work.
#include "../corpus.h"

struct ticket_lock {
    unsigned next, serving;
};

__global__ void append(ticket_lock *lock, int *length)
{
    unsigned mine = atomicAdd(&lock->next, 1);
    while (atomicAdd(&lock->serving, 0) != mine)
        ;
    (*length)++; // expect: race
    atomicAdd(&lock->serving, 1);
}

int main()
{
    ticket_lock *lock = device_zeros<ticket_lock>(1);
    int *length = device_zeros<int>(1);
    append<<<16, 1>>>(lock, length);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(lock));
    CHECK(cudaFree(length));
    return 0;
}

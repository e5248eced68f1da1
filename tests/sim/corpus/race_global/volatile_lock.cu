// A lock that is looked at and then taken by a volatile store: two blocks find it free at the same time.
#include "../corpus.h"

__global__ void count(volatile int *lock, int *data, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        while (*lock) // expect: race a; race b
            ;
        *lock = 1; // expect: race a; race c; race d
        __threadfence();
        data[0] += 1; // expect: race
        __threadfence();
        *lock = 0; // expect: race b; race c; race e
    }
}

int main()
{
    int *lock = device_zeros<int>(1), *data = device_zeros<int>(1);
    count<<<2, 1>>>(lock, data, 3);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(lock));
    CHECK(cudaFree(data));
    return 0;
}

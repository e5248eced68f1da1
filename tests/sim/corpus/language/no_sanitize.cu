// What a program asks of sanitizers does not hide it from the simulated GPU.
#include "../corpus.h"

__attribute__((no_sanitize("thread"))) __global__ void same(int *where)
{
    *where = threadIdx.x; // expect: race
}

#ifdef __SANITIZE_THREAD__
#error a program is compiled as nvcc would compile it
#endif

__attribute__((no_sanitize_thread)) __global__ void next(int *where)
{
    *where = threadIdx.x + 1; // expect: race
}

#define HIDDEN __attribute__((__no_sanitize__("thread")))
HIDDEN __global__ void after_next(int *where)
{
    *where = threadIdx.x + 2; // expect: race
}

int main()
{
    int *a = device_zeros<int>(1);
    same<<<1, 32>>>(a);
    next<<<1, 32>>>(a);
    after_next<<<1, 32>>>(a);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
    return 0;
}

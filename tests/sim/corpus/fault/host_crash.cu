// The host code itself crashes on a null pointer: the report still comes out.
#include "../corpus.h"

__device__ int cell;

__global__ void racy()
{
    cell = threadIdx.x; // expect: race
}

int main(int argc, char **)
{
    racy<<<1, 64>>>();
    SHOW(cudaDeviceSynchronize());
    volatile int *nowhere = argc > 100 ? &argc : NULL;
    *nowhere = 1; // allow: fault
    return 0;
}

// A program that can do without OpenMP is built without it: nothing asks for it, as nvcc would need to be asked.
#include "../corpus.h"
#ifdef _OPENMP
#include <omp.h>
#error "OpenMP is on"
#endif

__global__ void fill(int *x)
{
    x[threadIdx.x] = 1;
}

int main()
{
    int *x = device_ramp(32, 0, 1), result[32];
    fill<<<1, 32>>>(x);
    fetch(result, x);
    REQUIRE(result[31] == 1);
    CHECK(cudaFree(x));
    return 0;
}

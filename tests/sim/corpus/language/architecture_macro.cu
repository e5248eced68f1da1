// __CUDA_ARCH__ is defined in device code only, __CUDACC__ everywhere.
#include "../corpus.h"

#ifndef __CUDACC__
#error "a CUDA compiler defines __CUDACC__"
#endif

__host__ __device__ int where()
{
#ifdef __CUDA_ARCH__
    return __CUDA_ARCH__ >= 700 ? 2 : 1;
#else
    return 0;
#endif
}

__global__ void ask(int *output)
{
#if __CUDA_ARCH__ >= 600
    *output = 10 + where();
#else
    *output = where();
#endif
}

int main()
{
    int *output = device_zeros<int>(1), result[1];
    ask<<<1, 1>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 12);
    CHECK(cudaFree(output));
    return 0;
}

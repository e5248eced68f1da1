// Every thread says which one it is.
//
//     heddle check hello.cu
//     nvcc hello.cu -o hello && ./hello         on a machine with a GPU

#include <cstdio>

__global__ void hello(void)
{
    printf("block %u of %u, thread %u of %u\n", blockIdx.x, gridDim.x, threadIdx.x, blockDim.x);
}

int main(void)
{
    hello<<<2, 3>>>();
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

// A pointer into a static shared array walks past its end.
// cure: array
#include "../corpus.h"

__device__ __noinline__ void store(int *where, int value)
{
    *where = value; // expect: out-of-bounds
}

__global__ void fill(int *output)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    if (t < 32)
        tile[t] = t;
    __syncthreads();
    if (t == 0)
        store(tile + 32, 5);
    __syncthreads();
    if (t < 32)
        output[t] = tile[t];
}

int main()
{
    int *output = device_zeros<int>(32);
    fill<<<1, 64>>>(output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    return 0;
}

// A list filled through an atomic counter and read without a barrier: the counter is no lock, a barrier is the cure.
// cure: __syncthreads
#include "../corpus.h"

__global__ void compact(int *out, const int *in)
{
    __shared__ int count, list[64];
    if (threadIdx.x == 0)
        count = 0;
    list[threadIdx.x] = -1;
    __syncthreads();
    if (in[threadIdx.x] & 1)
        list[atomicAdd(&count, 1)] = threadIdx.x; // expect: race a
    out[threadIdx.x] = list[threadIdx.x % 4];     // expect: race a
}

int main()
{
    int *in = device_ramp<int>(64, 0, 1), *out = device_zeros<int>(64);
    compact<<<1, 64>>>(out, in);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return 0;
}

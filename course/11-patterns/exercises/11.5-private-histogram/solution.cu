// Counts the 16 values of 4-bit data, given as one byte per element.
//
// The block's own counters are in shared memory, where an atomic is served within the SM. Two barriers: the counters
// must be 0 before anyone counts, and complete before they are added to the global ones. That addition is atomic, too:
// other blocks do the same.

#define BINS 16

__global__ void histogram(const unsigned char *in, int *counts, int n)
{
    __shared__ int mine[BINS];

    if (threadIdx.x < BINS)
        mine[threadIdx.x] = 0;
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i]], 1);
    __syncthreads();

    if (threadIdx.x < BINS)
        atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

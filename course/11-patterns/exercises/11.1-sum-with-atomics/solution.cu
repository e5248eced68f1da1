// Sums an array: one thread per element, all of them add to *total.
//
// atomicAdd reads, adds and writes as one operation of the memory system. No other thread can come between, so no
// addition is lost. The order of the additions is still open: with values that round, the last bits may vary.

__global__ void sum_all(const float *in, float *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        atomicAdd(total, in[i]);
}

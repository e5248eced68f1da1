// Counts how often each byte value below `bins` occurs. Fewer threads than elements.
//
// Two threads may hold the same value at the same time, and only the data decides which. So every addition is atomic.
// The check against `bins` comes first: a byte can be larger than the number of counters.

__global__ void histogram(const unsigned char *in, int *counts, int n, int bins)
{
    int stride = gridDim.x * blockDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        int value = in[i];
        if (value < bins)
            atomicAdd(&counts[value], 1);
    }
}

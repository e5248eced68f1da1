// limit: one thread does the work of all

__global__ void histogram(const unsigned char *in, int *counts, int n, int bins)
{
    for (int i = 0; blockIdx.x + threadIdx.x == 0 && i < n; i++) {
        int value = in[i];
        if (value < bins)
            atomicAdd(&counts[value], 1);
    }
}

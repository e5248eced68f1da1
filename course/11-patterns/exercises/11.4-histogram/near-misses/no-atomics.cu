// race: one atomic operation, such as atomicAdd

__global__ void histogram(const unsigned char *in, int *counts, int n, int bins)
{
    int stride = gridDim.x * blockDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        int value = in[i];
        if (value < bins)
            counts[value]++;
    }
}

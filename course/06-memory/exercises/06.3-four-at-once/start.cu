// out[i] = 3 * in[i] for i below n: a grid-stride loop.

__global__ void triple(const float *in, float *out, int n)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;

    // TODO: four elements at a time as a float4, and then those that are left
    for (int i = thread; i < n; i += threads)
        out[i] = 3 * in[i];
}

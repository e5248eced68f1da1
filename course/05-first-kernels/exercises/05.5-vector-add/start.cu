// Mixes two tracks on the GPU: the sum of their samples.

__global__ void add(const float *a, const float *b, float *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        sum[i] = a[i] + b[i];
}

// voice, music and mix are arrays of n floats in the host's memory.
void mix_on_gpu(const float *voice, const float *music, float *mix, int n)
{
    size_t bytes = n * sizeof(float);
    float *device_voice = NULL;

    cudaMalloc(&device_voice, bytes);
    // TODO: allocate two more arrays on the device, copy both inputs there, launch the kernel, copy the result back
    cudaFree(device_voice);
}

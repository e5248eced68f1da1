// host-pointer: Copy the data into memory from cudaMalloc, and pass that pointer

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
    float *device_voice = NULL, *device_music = NULL, *device_mix = NULL;
    int threads = 256, blocks = (n + threads - 1) / threads;

    cudaMalloc(&device_voice, bytes);
    cudaMalloc(&device_music, bytes);
    cudaMalloc(&device_mix, bytes);
    cudaMemcpy(device_voice, voice, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(device_music, music, bytes, cudaMemcpyHostToDevice);
    add<<<blocks, threads>>>(voice, music, mix, n);
    cudaMemcpy(mix, device_mix, bytes, cudaMemcpyDeviceToHost);
    cudaFree(device_voice);
    cudaFree(device_music);
    cudaFree(device_mix);
}

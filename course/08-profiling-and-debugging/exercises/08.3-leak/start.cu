// Scales a recording so that its loudest sample becomes 1 (or -1).

__global__ void find_peak(const float *samples, int n, int *peak) // *peak: the bits of a float that is not negative
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        atomicMax(peak, __float_as_int(fabsf(samples[i]))); // for such floats, the order of the bits is the order
}

__global__ void divide(float *samples, int n, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        samples[i] /= by;
}

// samples is on the host. Returns false for silence, which cannot be scaled and stays as it is.
bool normalise_on_gpu(float *samples, int n)
{
    int threads = 64, blocks = (n + threads - 1) / threads;
    float *device = NULL, peak = 0;
    int *device_peak = NULL;

    cudaMalloc(&device, n * sizeof(float));
    cudaMalloc(&device_peak, sizeof(int));
    cudaMemset(device_peak, 0, sizeof(int));
    cudaMemcpy(device, samples, n * sizeof(float), cudaMemcpyHostToDevice);
    find_peak<<<blocks, threads>>>(device, n, device_peak);
    cudaMemcpy(&peak, device_peak, sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_peak);
    if (peak == 0)
        return false;
    divide<<<blocks, threads>>>(device, n, peak);
    cudaMemcpy(samples, device, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device);
    return true;
}

// wrong: cents[0] was never written

__global__ void convert(int *balances, int rate, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        balances[i] = balances[i] * rate;
}

// euros and cents are arrays of n balances in the host's memory.
void convert_on_gpu(const int *euros, int *cents, int rate, int n)
{
    size_t bytes = n * sizeof(int);
    int threads = 128, blocks = (n + threads - 1) / threads;
    int *device = NULL;

    cudaMalloc(&device, bytes);
    cudaMemcpy(device, euros, bytes, cudaMemcpyHostToDevice);
    convert<<<blocks, threads>>>(device, rate, n);
    cudaMemcpy(device, cents, bytes, cudaMemcpyHostToDevice);
    cudaFree(device);
}

__global__ void fill(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 1;
}

int main()
{
    int *data, n = 1000;
    cudaMalloc(&data, n * sizeof(int));
    fill<<<(n + 255) / 256, 256>>>(data, n);
    cudaDeviceSynchronize();
    cudaFree(data);
}

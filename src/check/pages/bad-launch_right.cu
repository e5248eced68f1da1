__global__ void fill(int *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main()
{
    int *data;
    cudaMalloc(&data, 2048 * sizeof(int));
    fill<<<8, 256>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}

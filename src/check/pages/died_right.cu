__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data, host[64];
    cudaMalloc(&data, 64 * sizeof(int));
    fill<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    host[0] = 1;
    cudaFree(data);
}

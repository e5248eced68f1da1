__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data;
    cudaMalloc(&data, 2048 * sizeof(int));
    fill<<<1, 2048>>>(data); // a block has at most 1024 threads
    cudaDeviceSynchronize();
    cudaFree(data);
}

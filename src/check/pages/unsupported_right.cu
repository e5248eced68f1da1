__global__ void fill(int *data)
{
    data[threadIdx.x] += 1;
}

int main()
{
    int *data;
    cudaMalloc(&data, 64 * sizeof(int));
    cudaMemsetAsync(data, 0, 64 * sizeof(int), 0); // by the host
    fill<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}

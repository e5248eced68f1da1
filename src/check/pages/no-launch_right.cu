__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data, count = 64;
    cudaMalloc(&data, count * sizeof(int));
    if (count > 0)
        fill<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}

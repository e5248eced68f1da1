__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data;
    cudaMalloc(&data, 64 * sizeof(int));
    for (int round = 0; round < 3; round++)
        fill<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}

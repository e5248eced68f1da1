__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data;
    cudaMalloc(&data, 64 * sizeof(int));
    fill(data); // a kernel is launched: fill<<<blocks, threads>>>(data)
    cudaDeviceSynchronize();
    cudaFree(data);
}

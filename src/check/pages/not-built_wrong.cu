__global__ void fill(int *data)
{
    data[thread] = 1; // the built-in variable is called threadIdx.x
}

int main()
{
    int *data;
    cudaMalloc(&data, 64 * sizeof(int));
    fill<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}

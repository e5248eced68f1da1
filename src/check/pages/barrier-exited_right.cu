__global__ void neighbour(int *data, int n)
{
    __shared__ int tile[64];
    if (threadIdx.x < n)
        tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads(); // all 64 threads
    if (threadIdx.x < n)
        data[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

int main()
{
    int *data;
    cudaMalloc(&data, 64 * sizeof(int));
    cudaMemset(data, 0, 64 * sizeof(int));
    neighbour<<<1, 64>>>(data, 40);
    cudaDeviceSynchronize();
    cudaFree(data);
}

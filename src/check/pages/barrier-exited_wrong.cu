__global__ void neighbour(int *data, int n)
{
    __shared__ int tile[64];
    if (threadIdx.x >= n)
        return; // these threads never reach the barrier
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
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

__global__ void wait(int *data)
{
    __syncwarp(0xffffffff);
    __syncthreads();
    data[threadIdx.x] = 1;
}

int main()
{
    int *data;
    cudaMalloc(&data, 64 * sizeof(int));
    wait<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}

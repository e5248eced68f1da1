__global__ void wait(int *data)
{
    if (threadIdx.x % 2 == 0)
        __syncwarp(0xffffffff); // waits for all 32 lanes
    else
        __syncthreads(); // waits for all threads of the block
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

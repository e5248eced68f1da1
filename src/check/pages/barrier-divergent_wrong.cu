__global__ void mix(int *data)
{
    if (threadIdx.x % 2 == 0) {
        data[threadIdx.x] = 0;
        __syncthreads(); // even threads wait here
    } else {
        data[threadIdx.x] = 1;
        __syncthreads(); // odd threads wait there
    }
}

int main()
{
    int *data;
    cudaMalloc(&data, 64 * sizeof(int));
    mix<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}

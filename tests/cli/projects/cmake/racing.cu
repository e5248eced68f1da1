// Adds up ones, without atomics.
__global__ void add(int *sum)
{
    *sum += 1;
}

int main()
{
    int *device;
    cudaMalloc(&device, sizeof(int));
    cudaMemset(device, 0, sizeof(int));
    add<<<2, 32>>>(device);
    cudaDeviceSynchronize();
    cudaFree(device);
    return 0;
}

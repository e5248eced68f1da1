__global__ void list(int *numbers)
{
    numbers[blockIdx.x] = blockIdx.x; // each block has a place of its own
}

int main()
{
    int *numbers, host[64];
    cudaMalloc(&numbers, sizeof host);
    list<<<64, 1>>>(numbers);
    cudaMemcpy(host, numbers, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(numbers);
}

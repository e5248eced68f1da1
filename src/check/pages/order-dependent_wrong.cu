__global__ void list(int *count, int *numbers)
{
    numbers[atomicAdd(count, 1)] = blockIdx.x; // in the order in which the blocks happen to come
}

int main()
{
    int *count, *numbers, host[64];
    cudaMalloc(&count, sizeof(int));
    cudaMalloc(&numbers, sizeof host);
    cudaMemset(count, 0, sizeof(int));
    list<<<64, 1>>>(count, numbers);
    cudaMemcpy(host, numbers, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(count);
    cudaFree(numbers);
}

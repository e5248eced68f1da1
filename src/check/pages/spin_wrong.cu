__global__ void wait(volatile int *flag)
{
    while (*flag == 0) // no thread ever sets it
        ;
}

int main()
{
    int *flag;
    cudaMalloc(&flag, sizeof(int));
    cudaMemset(flag, 0, sizeof(int));
    wait<<<1, 32>>>(flag);
    cudaDeviceSynchronize();
    cudaFree(flag);
}

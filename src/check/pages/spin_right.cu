__global__ void wait(int *flag)
{
    if (threadIdx.x == 0)
        atomicExch(flag, 1);
    while (atomicAdd(flag, 0) == 0)
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

__global__ void divide(int *data, int by)
{
    if (by == 0)
        __trap(); // ends the kernel, and every later call of the program fails
    data[threadIdx.x] /= by;
}

int main()
{
    int *data;
    cudaMalloc(&data, 64 * sizeof(int));
    cudaMemset(data, 0, 64 * sizeof(int));
    divide<<<1, 64>>>(data, 0);
    cudaDeviceSynchronize();
    cudaFree(data);
}

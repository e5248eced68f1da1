__global__ void swap(const int *data, int *swapped)
{
    swapped[blockIdx.x] = data[1 - blockIdx.x]; // through global memory
}

int main()
{
    int *data, *swapped;
    cudaMalloc(&data, 2 * sizeof(int));
    cudaMalloc(&swapped, 2 * sizeof(int));
    cudaMemset(data, 0, 2 * sizeof(int));
    swap<<<2, 1>>>(data, swapped);
    cudaDeviceSynchronize();
    cudaFree(swapped);
    cudaFree(data);
}

__global__ void parent(int *data)
{
    cudaMemsetAsync(data, 0, 64 * sizeof(int), 0); // only a real GPU can do this
}

int main()
{
    int *data;
    cudaMalloc(&data, 64 * sizeof(int));
    parent<<<1, 1>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}

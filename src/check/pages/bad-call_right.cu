__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data, host[64];
    cudaMalloc(&data, sizeof host);
    fill<<<1, 64>>>(data);
    cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(data);
}

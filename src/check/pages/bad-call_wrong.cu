__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data, host[64];
    cudaMalloc(&data, sizeof host);
    fill<<<1, 64>>>(data);
    cudaMemcpy(data, host, sizeof host, cudaMemcpyDeviceToHost); // the destination comes first
    cudaFree(data);
}

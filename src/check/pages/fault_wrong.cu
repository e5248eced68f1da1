__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data = nullptr; // and no cudaMalloc
    fill<<<1, 64>>>(data);
    cudaDeviceSynchronize();
}

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data;
    volatile bool again = true;
    cudaMalloc(&data, 64 * sizeof(int));
    while (again) // and nothing ever sets it to false
        fill<<<1, 64>>>(data);
    cudaFree(data);
}

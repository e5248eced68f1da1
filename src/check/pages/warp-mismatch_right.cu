__global__ void vote(int *data)
{
    int lane = threadIdx.x;
    int any = __any_sync(0xffffffff, lane == 3);
    int all = __all_sync(0xffffffff, lane < 32);
    data[lane] = lane < 16 ? any : all;
}

int main()
{
    int *data;
    cudaMalloc(&data, 32 * sizeof(int));
    vote<<<1, 32>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}

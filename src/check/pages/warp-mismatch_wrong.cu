__global__ void vote(int *data)
{
    int lane = threadIdx.x;
    if (lane < 16)
        data[lane] = __any_sync(0xffffffff, lane == 3);
    else
        data[lane] = __all_sync(0xffffffff, lane < 32); // another call, with the same mask
}

int main()
{
    int *data;
    cudaMalloc(&data, 32 * sizeof(int));
    vote<<<1, 32>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}

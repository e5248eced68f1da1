__global__ void shift(int *data)
{
    int lane = threadIdx.x;
    if (lane < 16) // the mask names 32 lanes, and 16 come
        data[lane] = __shfl_down_sync(0xffffffff, lane, 1);
}

int main()
{
    int *data;
    cudaMalloc(&data, 32 * sizeof(int));
    shift<<<1, 32>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}

__global__ void shift(int *data)
{
    int lane = threadIdx.x;
    int next = __shfl_down_sync(0xffffffff, lane, 1); // all 32 lanes
    if (lane < 16)
        data[lane] = next;
}

int main()
{
    int *data;
    cudaMalloc(&data, 32 * sizeof(int));
    shift<<<1, 32>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}

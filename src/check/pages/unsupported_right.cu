__global__ void fill(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data;
    cudaStream_t stream;
    cudaMalloc(&data, 64 * sizeof(int));
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); // by the host
    fill<<<1, 64, 0, stream>>>(data);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFree(data);
}

__global__ void parent()
{
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); // only a real GPU can do this
    cudaStreamDestroy(stream);
}

int main()
{
    parent<<<1, 1>>>();
    cudaDeviceSynchronize();
}

__global__ void sum(const int *in, int *out)
{
    atomicAdd(out, in[threadIdx.x]);
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(out, 0, sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    sum<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}

__device__ int depth(int n)
{
    volatile int local[64] = {n};
    return depth(n + 1) + local[0]; // nothing ends the recursion
}

__global__ void start(int *out)
{
    *out = depth(0);
}

int main()
{
    int *out;
    cudaMalloc(&out, sizeof(int));
    start<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}

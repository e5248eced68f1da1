// An inclusive scan of one block: out[i] = in[0] + … + in[i], in log2(n) steps.

#include "../05-first-kernels/cuda_check.h"

enum { COUNT = 16 };

__global__ void scan(const int *in, int *out)
{
    __shared__ int values[2][COUNT]; // read from one, write to the other
    int i = threadIdx.x, from = 0;
    values[from][i] = in[i];
    __syncthreads();
    for (int distance = 1; distance < COUNT; distance *= 2) {
        values[1 - from][i] = values[from][i] + (i >= distance ? values[from][i - distance] : 0);
        __syncthreads();
        from = 1 - from;
    }
    out[i] = values[from][i];
}

int main(void)
{
    int in[COUNT], out[COUNT], *device_in, *device_out;
    for (int i = 0; i < COUNT; i++)
        in[i] = i % 4;
    CUDA_CHECK(cudaMalloc(&device_in, sizeof in));
    CUDA_CHECK(cudaMalloc(&device_out, sizeof out));
    CUDA_CHECK(cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice));
    scan<<<1, COUNT>>>(device_in, device_out);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        printf("%d%c", out[i], i < COUNT - 1 ? ' ' : '\n');
    CUDA_CHECK(cudaFree(device_in));
    CUDA_CHECK(cudaFree(device_out));
    return 0;
}

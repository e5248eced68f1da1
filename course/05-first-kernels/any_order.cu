// Keeps the positive numbers of an array. Which of them comes first depends on which block runs first.

#include "cuda_check.h"

__global__ void keep_positive(const int *in, int *out, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] > 0) {
        int slot = atomicAdd(count, 1); // the old value; every thread gets another one
        out[slot] = in[i];
    }
}

int main(void)
{
    enum { N = 256 };
    static int in[N], out[N];
    for (int i = 0; i < N; i++)
        in[i] = i % 2 ? i : -i;
    int *device_in, *device_out, *count;
    CUDA_CHECK(cudaMalloc(&device_in, sizeof in));
    CUDA_CHECK(cudaMalloc(&device_out, sizeof out));
    CUDA_CHECK(cudaMalloc(&count, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(device_out, 0, sizeof out));
    CUDA_CHECK(cudaMemset(count, 0, sizeof(int)));
    keep_positive<<<N / 64, 64>>>(device_in, device_out, count);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
    printf("the first three: %d %d %d\n", out[0], out[1], out[2]);
    CUDA_CHECK(cudaFree(device_in));
    CUDA_CHECK(cudaFree(device_out));
    CUDA_CHECK(cudaFree(count));
    return 0;
}

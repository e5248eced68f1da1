// Adds up an array three ways: one atomic per element, one per warp, one per block.

#include "../05-first-kernels/cuda_check.h"

enum { COUNT = 1 << 14, THREADS = 256, WARP = 32 };

__global__ void one_per_element(const float *in, float *sum)
{
    atomicAdd(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

// The lanes of a warp hand their values down: 16, 8, 4, 2, 1 places. Lane 0 ends with the sum of all.
__device__ float warp_sum(float value)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    return value;
}

__global__ void one_per_warp(const float *in, float *sum)
{
    float value = warp_sum(in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x % WARP == 0)
        atomicAdd(sum, value);
}

__global__ void one_per_block(const float *in, float *sum)
{
    __shared__ float parts[THREADS / WARP];
    float value = warp_sum(in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x % WARP == 0)
        parts[threadIdx.x / WARP] = value;
    __syncthreads();
    if (threadIdx.x < WARP) {
        value = warp_sum(threadIdx.x < THREADS / WARP ? parts[threadIdx.x] : 0);
        if (threadIdx.x == 0)
            atomicAdd(sum, value);
    }
}

int main(void)
{
    static float in[COUNT];
    float *device_in, *sums, host[3];
    for (int i = 0; i < COUNT; i++)
        in[i] = 1;
    CUDA_CHECK(cudaMalloc(&device_in, sizeof in));
    CUDA_CHECK(cudaMalloc(&sums, sizeof host));
    CUDA_CHECK(cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(sums, 0, sizeof host));
    one_per_element<<<COUNT / THREADS, THREADS>>>(device_in, sums);
    CUDA_CHECK_LAUNCH();
    one_per_warp<<<COUNT / THREADS, THREADS>>>(device_in, sums + 1);
    CUDA_CHECK_LAUNCH();
    one_per_block<<<COUNT / THREADS, THREADS>>>(device_in, sums + 2);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
    printf("%g %g %g\n", host[0], host[1], host[2]);
    CUDA_CHECK(cudaFree(device_in));
    CUDA_CHECK(cudaFree(sums));
    return 0;
}

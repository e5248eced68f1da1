// A copy of 16 bytes needs both addresses to be multiples of 16, and aligned_size_t promises it.
#include "../corpus.h"

#include <cuda/pipeline>
#include <cuda_pipeline_primitives.h>

__global__ void right(const int *input, int *output)
{
    __shared__ __align__(16) int tile[128];
    cuda::pipeline<cuda::thread_scope_thread> pipeline = cuda::make_pipeline();
    __pipeline_memcpy_async(&tile[4 * threadIdx.x], &input[4 * threadIdx.x], 16);
    cuda::memcpy_async(&tile[64 + threadIdx.x], &input[1 + threadIdx.x], sizeof(int), pipeline);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    output[threadIdx.x] = tile[4 * threadIdx.x] + tile[64 + threadIdx.x];
}

__global__ void source(const int *input, int *output)
{
    __shared__ __align__(16) int tile[64];
    __pipeline_memcpy_async(&tile[4 * threadIdx.x], &input[4 * threadIdx.x + 1], 16); // expect: misaligned
    __pipeline_commit();
    __pipeline_wait_prior(0);
    output[threadIdx.x] = tile[4 * threadIdx.x];
}

__global__ void promise(const int *input, int *output)
{
    __shared__ __align__(16) int tile[66];
    cuda::pipeline<cuda::thread_scope_thread> pipeline = cuda::make_pipeline();
    pipeline.producer_acquire();
    cuda::memcpy_async(&tile[4 * threadIdx.x + 1], &input[4 * threadIdx.x], // expect: misaligned
                       cuda::aligned_size_t<16>(16), pipeline);
    pipeline.producer_commit();
    pipeline.consumer_wait();
    output[threadIdx.x] = tile[4 * threadIdx.x + 1];
    pipeline.consumer_release();
}

int main()
{
    int *input = device_ramp(128, 0, 1), *output = device_zeros<int>(16);
    right<<<1, 16>>>(input, output);
    CHECK(cudaDeviceSynchronize());
    source<<<1, 16>>>(input, output);
    SHOW(cudaDeviceReset());
    input = device_ramp(128, 0, 1), output = device_zeros<int>(16);
    promise<<<1, 16>>>(input, output);
    SHOW(cudaDeviceReset());
    return 0;
}

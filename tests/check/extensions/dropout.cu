// Random numbers of PyTorch's generator: the state is a parameter that heddle does not make.
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraphsUtils.cuh>
#include <curand_kernel.h>
#include <torch/extension.h>

__global__ void dropout_kernel(const float *x, float *y, float p, int n, at::PhiloxCudaState philox_args)
{
    auto seeds = at::cuda::philox::unpack(philox_args);
    curandStatePhilox4_32_10_t state;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(std::get<0>(seeds), i, std::get<1>(seeds), &state);
    if (i < n)
        y[i] = curand_uniform(&state) < p ? 0.f : x[i] / (1.f - p);
}

// The style of inference engines: dispatch macros, strides, comments between parameters, 16-bit types of CUDA's own.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_bf16.h>
#include <torch/all.h>

#define ENGINE_DISPATCH(TYPE, NAME, ...)                                                                               \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__))

#ifndef USE_ROCM
#define ENGINE_LDG(arg) __ldg(arg)
#else
#define ENGINE_LDG(arg) *(arg)
#endif

namespace engine
{

template <typename scalar_t>
__global__ void rms_norm_kernel(scalar_t *__restrict__ out,          // [..., hidden]
                                const scalar_t *__restrict__ input,  // [..., hidden]
                                const scalar_t *__restrict__ weight, // [hidden]
                                const float epsilon, const int num_tokens, const int hidden_size)
{
    __shared__ float s_variance;
    float variance = 0.0f;
    for (int idx = threadIdx.x; idx < hidden_size; idx += blockDim.x) {
        const float x = (float)ENGINE_LDG(&input[blockIdx.x * hidden_size + idx]);
        variance += x * x;
    }
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1)
        variance += __shfl_xor_sync(uint32_t(-1), variance, mask);
    if (threadIdx.x == 0)
        s_variance = rsqrtf(variance / hidden_size + epsilon);
    __syncthreads();
    for (int idx = threadIdx.x; idx < hidden_size; idx += blockDim.x) {
        const float x = (float)input[blockIdx.x * hidden_size + idx];
        out[blockIdx.x * hidden_size + idx] = ((scalar_t)(x * s_variance)) * weight[idx];
    }
}

} // namespace engine

void rms_norm(torch::Tensor &out, torch::Tensor &input, torch::Tensor &weight, double epsilon)
{
    const at::cuda::OptionalCUDAGuard device_guard(device_of(input));
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    ENGINE_DISPATCH(input.scalar_type(), "rms_norm_kernel", [&] {
        engine::rms_norm_kernel<scalar_t>
            <<<input.size(0), 32, 0, stream>>>(out.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(),
                                               weight.data_ptr<scalar_t>(), epsilon, input.size(0), input.size(1));
    });
}

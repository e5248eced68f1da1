// GELU with the tanh approximation, two halves per load and store.
//
// heddle: check --kernel gelu_half2_kernel --grid "cdiv(n / 2, 256)" --block 256 --reference reference.py:gelu
//     --args "input: half[n] = normal(0, 2), output: out half[n], n = 4001"

#include <torch/types.h>

#include <ATen/cuda/CUDAContext.h>
#include <cuda_fp16.h>

#define KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

__device__ inline float gelu(float x)
{
    const float k = 0.7978845608f; // sqrt(2 / pi)
    return 0.5f * x * (1.f + tanhf(k * (x + 0.044715f * x * x * x)));
}

__global__ void gelu_half2_kernel(const at::Half *input, at::Half *output, int n)
{
    const half2 *in = reinterpret_cast<const half2 *>(input);
    half2 *out = reinterpret_cast<half2 *>(output);
    KERNEL_LOOP(i, n / 2)
    {
        const float2 value = __half22float2(in[i]);
        out[i] = __floats2half2_rn(gelu(value.x), gelu(value.y));
    }
    if (n % 2 && blockIdx.x == 0 && threadIdx.x == 0)
        output[n - 1] = gelu(input[n - 1]);
}

void gelu_launch(const torch::Tensor &input, torch::Tensor &output)
{
    const int n = static_cast<int>(input.numel());
    const int blocks = std::min<int>((n / 2 + 255) / 256, 1024);
    gelu_half2_kernel<<<blocks, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(input.data_ptr<at::Half>(),
                                                                             output.data_ptr<at::Half>(), n);
    C10_CUDA_CHECK(cudaGetLastError());
}

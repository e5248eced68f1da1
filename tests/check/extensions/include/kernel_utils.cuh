// A header of one's own: kernels, a host function that needs PyTorch, and macros.
#pragma once
#include <torch/extension.h>

#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x)
#define DIV_UP(a, b)        (((a) + (b)-1) / (b))

namespace utils
{
inline void check_same_device(const torch::Tensor &a, const torch::Tensor &b)
{
    TORCH_CHECK(a.device() == b.device());
}

template <typename T, typename U = T> __global__ void cast_kernel(const T *in, U *out, int64_t n)
{
    CUDA_KERNEL_LOOP_TYPE(i, n, int64_t)
    {
        out[i] = static_cast<U>(in[i]);
    }
}
} // namespace utils

torch::Tensor header_forward(torch::Tensor x, c10::optional<torch::Tensor> bias = c10::nullopt);

// Layer normalisation of each row: the output, and the gradients of gamma and beta. The gradient's kernel has a planted
// race: a barrier is missing between the writes of the partial sums and the reads of their neighbours.
//
// heddle: check --kernel layernorm_backward_gamma_beta --grid "cdiv(cols, 32)" --block "32, 8"
//     --args "grad: float[rows, cols], x: float[rows, cols], mean: float[rows], rstd: float[rows] = ones,
//             grad_gamma: out float[cols], grad_beta: out float[cols], rows = 24, cols = 64"

#include <ATen/ATen.h>
#include <ATen/AccumulateType.h>
#include <ATen/cuda/CUDAContext.h>
#include <torch/library.h>

#include <tuple>

namespace layernorm
{

constexpr int kTileX = 32, kTileY = 8;

template <typename T>
__global__ void layernorm_forward(T *out, T *mean, T *rstd, const T *x, const T *gamma, const T *beta, float eps,
                                  int cols)
{
    __shared__ float shared[32];
    const int row = blockIdx.x;
    float sum = 0.f, square = 0.f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float value = static_cast<float>(x[row * cols + i]);
        sum += value;
        square += value * value;
    }
    for (int offset = 16; offset > 0; offset >>= 1) {
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
        square += __shfl_down_sync(0xffffffffu, square, offset);
    }
    if (threadIdx.x == 0) {
        shared[0] = sum / cols;
        shared[1] = rsqrtf(square / cols - shared[0] * shared[0] + eps);
        mean[row] = static_cast<T>(shared[0]);
        rstd[row] = static_cast<T>(shared[1]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        out[row * cols + i] = static_cast<T>((static_cast<float>(x[row * cols + i]) - shared[0]) * shared[1] *
                                                 static_cast<float>(gamma[i]) +
                                             static_cast<float>(beta[i]));
}

__global__ void layernorm_backward_gamma_beta(const float *grad, const float *x, const float *mean, const float *rstd,
                                              float *grad_gamma, float *grad_beta, int rows, int cols)
{
    __shared__ float gamma[kTileY][kTileX], beta[kTileY][kTileX];
    const int col = blockIdx.x * kTileX + threadIdx.x;
    float sum_gamma = 0.f, sum_beta = 0.f;
    if (col < cols)
        for (int row = threadIdx.y; row < rows; row += kTileY) {
            const float g = grad[row * cols + col];
            sum_gamma += g * (x[row * cols + col] - mean[row]) * rstd[row];
            sum_beta += g;
        }
    gamma[threadIdx.y][threadIdx.x] = sum_gamma;
    beta[threadIdx.y][threadIdx.x] = sum_beta;
    // The planted race: __syncthreads() is missing here.
    if (threadIdx.y == 0 && col < cols) {
        for (int i = 1; i < kTileY; i++) {
            sum_gamma += gamma[i][threadIdx.x];
            sum_beta += beta[i][threadIdx.x];
        }
        grad_gamma[col] = sum_gamma;
        grad_beta[col] = sum_beta;
    }
}

} // namespace layernorm

std::tuple<at::Tensor, at::Tensor> layernorm_backward(const at::Tensor &grad, const at::Tensor &x,
                                                      const at::Tensor &mean, const at::Tensor &rstd)
{
    const int64_t rows = x.size(0), cols = x.size(1);
    auto grad_gamma = at::empty({cols}, x.options()), grad_beta = at::empty({cols}, x.options());
    const dim3 block(layernorm::kTileX, layernorm::kTileY), grid((cols + layernorm::kTileX - 1) / layernorm::kTileX);
    layernorm::layernorm_backward_gamma_beta<<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(
        grad.const_data_ptr<float>(), x.const_data_ptr<float>(), mean.const_data_ptr<float>(),
        rstd.const_data_ptr<float>(), grad_gamma.mutable_data_ptr<float>(), grad_beta.mutable_data_ptr<float>(), rows,
        cols);
    return {grad_gamma, grad_beta};
}

TORCH_LIBRARY(layernorm, m)
{
    m.def("layernorm_backward(Tensor grad, Tensor x, Tensor mean, Tensor rstd) -> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(layernorm, CUDA, m)
{
    m.impl("layernorm_backward", &layernorm_backward);
}

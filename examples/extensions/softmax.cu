// Softmax of each row, one block per row: the largest element, then the sum, then the quotient.
//
// heddle: check --kernel "softmax_forward_kernel<float, 128>" --grid rows --block 128 --reference reference.py:softmax
//     --args "x: float[rows, cols] = normal(0, 4), y: out float[rows, cols], rows = 8, cols = 300"

#include <torch/extension.h>

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

#define CHECK_CUDA(x) TORCH_CHECK(x.is_cuda(), #x " must be a CUDA tensor")
#define CHECK_INPUT(x)                                                                                                 \
    CHECK_CUDA(x);                                                                                                     \
    TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")

namespace
{

template <typename T> __device__ __forceinline__ T warp_max(T value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value = max(value, __shfl_xor_sync(0xffffffff, value, offset));
    return value;
}

template <typename T> __device__ __forceinline__ T warp_sum(T value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffff, value, offset);
    return value;
}

template <typename scalar_t, int THREADS>
__global__ void __launch_bounds__(THREADS)
    softmax_forward_kernel(const scalar_t *__restrict__ x, scalar_t *__restrict__ y, int rows, int cols)
{
    using acc_t = at::acc_type<scalar_t, true>;
    constexpr int WARPS = THREADS / 32;
    __shared__ acc_t partial[WARPS];
    const scalar_t *row = x + static_cast<int64_t>(blockIdx.x) * cols;
    scalar_t *out = y + static_cast<int64_t>(blockIdx.x) * cols;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    acc_t largest = -std::numeric_limits<acc_t>::infinity();
    for (int i = threadIdx.x; i < cols; i += THREADS)
        largest = max(largest, static_cast<acc_t>(row[i]));
    largest = warp_max(largest);
    if (lane == 0)
        partial[warp] = largest;
    __syncthreads();
    for (int i = 0; i < WARPS; i++)
        largest = max(largest, partial[i]);
    __syncthreads();

    acc_t sum = 0;
    for (int i = threadIdx.x; i < cols; i += THREADS)
        sum += exp(static_cast<acc_t>(row[i]) - largest);
    sum = warp_sum(sum);
    if (lane == 0)
        partial[warp] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < WARPS; i++)
        sum += partial[i];

    for (int i = threadIdx.x; i < cols; i += THREADS)
        out[i] = static_cast<scalar_t>(exp(static_cast<acc_t>(row[i]) - largest) / sum);
}

} // namespace

torch::Tensor softmax_forward(torch::Tensor x)
{
    CHECK_INPUT(x);
    const at::cuda::OptionalCUDAGuard guard(device_of(x));
    auto y = torch::empty_like(x);
    const int cols = x.size(-1), rows = x.numel() / cols;
    constexpr int threads = 128;
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "softmax_forward", [&] {
        softmax_forward_kernel<scalar_t, threads><<<rows, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
            x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), rows, cols);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
    m.def("forward", &softmax_forward, "softmax of each row");
}

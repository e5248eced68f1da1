// The style of ATen/native: inside PyTorch's own namespaces, with Tensor unqualified and constants of its own.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/cuda/DeviceUtils.cuh>
#include <ATen/native/cuda/block_reduce.cuh>

#ifndef AT_PER_OPERATOR_HEADERS
#include <ATen/Functions.h>
#else
#include <ATen/ops/empty.h>
#endif

namespace at::native
{
namespace
{

constexpr int kWarp = C10_WARP_SIZE;

template <typename scalar_t>
C10_LAUNCH_BOUNDS_1(512)
__global__ void bucket_kernel(const scalar_t *values, const int64_t *edges, int64_t *output, const int n, const int m)
{
    CUDA_KERNEL_LOOP(tid, n)
    {
        int64_t found = 0;
        for (int i = 0; i < m; ++i)
            found += values[tid] >= static_cast<scalar_t>(edges[i]);
        output[tid] = found;
    }
}

template <typename T> __global__ void shuffled_sum(const T *x, T *y)
{
    T v = x[threadIdx.x];
    for (int offset = kWarp / 2; offset > 0; offset /= 2)
        v = v + WARP_SHFL_DOWN(v, offset);
    if (threadIdx.x == 0)
        y[0] = v;
}
} // namespace

static void check_bins(const Tensor &edges)
{
    TORCH_CHECK(edges.dim() == 1, "edges");
}

Tensor bucketize_cuda(const Tensor &self, const Tensor &edges, bool right)
{
    check_bins(edges);
    Tensor output = at::empty(self.sizes(), self.options().dtype(kLong));
    AT_DISPATCH_ALL_TYPES_AND2(kHalf, kBFloat16, self.scalar_type(), "bucketize", [&] {
        bucket_kernel<scalar_t><<<1, 512, 0, at::cuda::getCurrentCUDAStream()>>>(
            self.const_data_ptr<scalar_t>(), edges.const_data_ptr<int64_t>(), output.mutable_data_ptr<int64_t>(),
            self.numel(), edges.numel());
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
    return output;
}
REGISTER_DISPATCH(bucketize_stub, &bucketize_cuda)
} // namespace at::native

// A kernel that takes the operation as a type, and loads of several elements at a time.
#include <ATen/native/cuda/Loops.cuh>
#include <torch/extension.h>

namespace ops
{
namespace detail
{

template <typename scalar_t, int N> struct alignas(sizeof(scalar_t) * N) aligned_vector {
    scalar_t val[N];
};

template <typename T> struct Silu {
    using opmath_t = at::opmath_type<T>;
    C10_HOST_DEVICE T operator()(T x) const
    {
        const opmath_t value = static_cast<opmath_t>(x);
        return static_cast<T>(value / (opmath_t(1) + c10::cuda::compat::exp(-value)));
    }
};

template <typename scalar_t, typename Op, int VEC = 4>
__global__ void vector_map(const scalar_t *x, scalar_t *y, int64_t n, Op op = Op())
{
    using vec_t = aligned_vector<scalar_t, VEC>;
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i * VEC < n) {
        vec_t in = *reinterpret_cast<const vec_t *>(x + i * VEC), out;
#pragma unroll
        for (int k = 0; k < VEC; k++)
            out.val[k] = op(in.val[k]);
        *reinterpret_cast<vec_t *>(y + i * VEC) = out;
    }
}

template <typename scalar_t, typename Op> __global__ void scalar_map(const scalar_t *x, scalar_t *y, int n)
{
    CUDA_KERNEL_LOOP(i, n)
    {
        y[i] = Op()(x[i]);
    }
}
} // namespace detail
} // namespace ops

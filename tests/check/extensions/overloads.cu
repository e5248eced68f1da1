// Two kernels of one name, in two namespaces and with other parameters; branches for another vendor.
#include <c10/macros/Macros.h>
#include <torch/torch.h>

#if defined(USE_ROCM)
#include <hip/hip_runtime.h>
#define SHFL_XOR(v, lane) __shfl_xor(v, lane)
#else
#define SHFL_XOR(v, lane) __shfl_xor_sync(0xffffffff, v, lane)
#endif

namespace first
{
__global__ void reduce(const float *x, float *out, int n)
{
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        sum += x[i];
    for (int lane = 16; lane; lane /= 2)
        sum += SHFL_XOR(sum, lane);
    if (threadIdx.x == 0)
        *out = sum;
}
} // namespace first

namespace second
{
#if defined(USE_ROCM)
__global__ void reduce(const double *x, double *out, int n, int stride)
#else
__global__ void C10_LAUNCH_BOUNDS_2(128, 4) reduce(const double *x, double *out, int n, int stride)
#endif
{
    if (threadIdx.x == 0) {
        *out = 0;
        for (int i = 0; i < n; i += stride)
            *out += x[i];
    }
}

__global__ void reduce(const int64_t *x, int64_t *out)
{
    out[threadIdx.x] = x[threadIdx.x] * 2;
}
} // namespace second

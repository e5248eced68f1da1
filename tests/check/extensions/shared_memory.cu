// Dynamic shared memory of a template, by a structure with specialisations, as apex does.
#include <ATen/AccumulateType.h>
#include <torch/extension.h>

namespace apex_style
{
namespace
{
template <typename T> struct SharedMemory;
template <> struct SharedMemory<float> {
    __device__ float *getPointer()
    {
        extern __shared__ float s_float[];
        return s_float;
    }
};
template <> struct SharedMemory<double> {
    __device__ double *getPointer()
    {
        extern __shared__ double s_double[];
        return s_double;
    }
};

template <typename scalar_t, typename accscalar_t = at::acc_type<scalar_t, true>>
__global__ void block_sum(const scalar_t *__restrict__ in, accscalar_t *__restrict__ out, const int n)
{
    SharedMemory<accscalar_t> shared;
    accscalar_t *buffer = shared.getPointer();
    accscalar_t sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += static_cast<accscalar_t>(in[i]);
    buffer[threadIdx.x] = sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (threadIdx.x < stride)
            buffer[threadIdx.x] += buffer[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = buffer[0];
}
template __global__ void block_sum<float, float>(const float *, float *, const int);
} // namespace
} // namespace apex_style

// Cooperative groups, constants, device variables and a launcher that TORCH_CHECKs plain numbers.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <pybind11/pybind11.h>
#include <torch/extension.h>

namespace cg = cooperative_groups;
namespace py = pybind11;

__constant__ float kScales[4] = {1.f, 2.f, 4.f, 8.f};
__device__ int calls;
static constexpr float kEpsilon = 1e-6f;

template <bool kScaled>
__global__ void __launch_bounds__(64, 2) cooperative_sum(float const *const __restrict__ x, float *y, uint32_t const n)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    float sum = kEpsilon;
    for (uint32_t i = block.thread_rank(); i < n; i += block.size())
        sum += x[i] * (kScaled ? kScales[i % 4] : 1.f);
    sum = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0)
        atomicAdd(y, sum);
    if (block.thread_rank() == 0)
        atomicAdd(&calls, 1);
}

inline void launch_cooperative(const float *x, float *y, int n)
{
    TORCH_CHECK(n > 0, "n is ", n);
    cooperative_sum<true><<<1, 64>>>(x, y, n);
}

py::dict describe()
{
    py::dict d;
    return d;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
    m.def("describe", &describe);
}

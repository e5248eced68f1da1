// Sums of the rows of each group: rows with the same index are added up, with atomics where many rows share a group.
//
// heddle: check --kernel "grouped_sum_kernel<float, int64_t>" --grid "cdiv(rows * cols, 256)" --block 256
//     --args "x: float[rows, cols] = uniform, index: int64[rows] = randint(0, groups),
//             sums: inout float[groups, cols] = zeros, counts: inout int[groups] = zeros,
//             rows = 50, cols = 33, groups = 5"
//     --shared "groups * sizeof(int)" --reference reference.py:grouped_sum

#include <torch/all.h>

#include <ATen/cuda/Atomic.cuh>
#include <c10/cuda/CUDAException.h>

template <typename scalar_t, typename index_t>
C10_LAUNCH_BOUNDS_1(256)
__global__ void grouped_sum_kernel(const scalar_t *x, const index_t *index, scalar_t *sums, int *counts, int rows,
                                   int cols, int groups)
{
    extern __shared__ int seen[]; // rows of each group that this block has counted
    for (int i = threadIdx.x; i < groups; i += blockDim.x)
        seen[i] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) {
        const index_t group = index[i / cols];
        CUDA_KERNEL_ASSERT(group >= 0 && group < groups);
        gpuAtomicAdd(&sums[group * cols + i % cols], x[i]);
        if (i % cols == 0)
            atomicAdd(&seen[group], 1);
    }
    __syncthreads();
    for (int g = threadIdx.x; g < groups; g += blockDim.x)
        if (seen[g] > 0)
            atomicAdd(&counts[g], seen[g]);
}

std::tuple<torch::Tensor, torch::Tensor> grouped_sum(torch::Tensor x, torch::Tensor index, int64_t groups)
{
    auto sums = torch::zeros({groups, x.size(1)}, x.options());
    auto counts = torch::zeros({groups}, x.options().dtype(torch::kInt));
    const int total = x.numel();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "grouped_sum", [&] {
        grouped_sum_kernel<scalar_t, int64_t><<<(total + 255) / 256, 256, groups * sizeof(int)>>>(
            x.data_ptr<scalar_t>(), index.data_ptr<int64_t>(), sums.data_ptr<scalar_t>(), counts.data_ptr<int>(),
            x.size(0), x.size(1), groups);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
    return {sums, counts};
}

TORCH_LIBRARY_FRAGMENT(example, m)
{
    m.def("grouped_sum", grouped_sum);
}

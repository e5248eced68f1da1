// Four-dimensional accessors, an output accessor, and 64-bit indices.
#include <torch/script.h>

using namespace at;

template <typename T>
__global__ void upsample_kernel(const PackedTensorAccessor64<T, 4> input, PackedTensorAccessor64<T, 4> output,
                                const int scale)
{
    const int64_t index = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    const int64_t h = output.size(2), w = output.size(3);
    if (index >= output.size(0) * output.size(1) * h * w)
        return;
    const int64_t x = index % w, y = index / w % h, c = index / (w * h) % output.size(1),
                  n = index / (w * h * output.size(1));
    output[n][c][y][x] = input[n][c][y / scale][x / scale];
}

Tensor upsample(const Tensor &input, int64_t scale)
{
    auto output = empty({input.size(0), input.size(1), input.size(2) * scale, input.size(3) * scale}, input.options());
    return output;
}
static auto registry = torch::RegisterOperators("images::upsample", &upsample);

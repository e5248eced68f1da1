// Rotary position embedding in place, with accessors: pairs of channels are turned by the angle of their position.
//
// heddle: check --kernel "rotary_kernel<float>" --grid "heads, tokens" --block "dim / 2"
//     --args "x: inout float[tokens, heads, dim], cosine: float[tokens, dim / 2] = uniform(-1, 1),
//             sine: float[tokens, dim / 2] = uniform(-1, 1), tokens = 7, heads = 4, dim = 64"
//     --reference reference.py:rotary

#include <torch/extension.h>

template <typename scalar_t> using matrix = torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits>;

template <typename scalar_t>
__global__ void rotary_kernel(torch::PackedTensorAccessor32<scalar_t, 3, torch::RestrictPtrTraits> x,
                              const matrix<scalar_t> cosine, const matrix<scalar_t> sine)
{
    const int half = x.size(2) / 2, token = blockIdx.y, head = blockIdx.x, pair = threadIdx.x;
    if (pair >= half)
        return;
    const scalar_t c = cosine[token][pair], s = sine[token][pair];
    const scalar_t first = x[token][head][pair], second = x[token][head][pair + half];
    x[token][head][pair] = first * c - second * s;
    x[token][head][pair + half] = second * c + first * s;
}

torch::Tensor rotary(torch::Tensor x, torch::Tensor cosine, torch::Tensor sine)
{
    const dim3 grid(x.size(1), x.size(0));
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rotary", ([&] {
                                   rotary_kernel<scalar_t><<<grid, x.size(2) / 2>>>(
                                       x.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>(),
                                       cosine.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
                                       sine.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
                               }));
    return x;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)
{
    m.def("rotary", &rotary);
}

// The kernel is in a header that -I finds; this file has the bindings.
#include "kernel_utils.cuh"
#include <torch/all.h>

using torch::Tensor;
using namespace torch::indexing;

static Tensor make_output(const Tensor &x)
{
    return torch::empty_like(x);
}

Tensor header_forward(Tensor x, c10::optional<Tensor> bias)
{
    CHECK_CONTIGUOUS(x);
    Tensor out = make_output(x);
    utils::cast_kernel<float, at::Half>
        <<<DIV_UP(x.numel(), 256), 256>>>(x.data_ptr<float>(), out.data_ptr<at::Half>(), x.numel());
    return out;
}

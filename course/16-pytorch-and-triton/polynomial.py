# needs: torch with CUDA, and nvcc
"""A differentiable activation, y = x² + x + 1, as a PyTorch extension: python3 polynomial.py"""
import os

import torch
from torch.utils.cpp_extension import load_inline

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = open(os.path.join(HERE, "polynomial.cuh"), encoding="utf-8").read().replace("#pragma once", "")
LAUNCHERS = """
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

static void check(const torch::Tensor &tensor)
{
    TORCH_CHECK(tensor.is_cuda() && tensor.scalar_type() == torch::kFloat32 && tensor.is_contiguous(),
                "polynomial needs a contiguous float32 tensor on the GPU");
}

torch::Tensor forward(torch::Tensor x)
{
    check(x);
    auto y = torch::empty_like(x);
    if (x.numel() > 0)
        polynomial_forward<<<(x.numel() + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
            x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}

torch::Tensor backward(torch::Tensor x, torch::Tensor grad_y)
{
    check(grad_y);
    auto grad_x = torch::empty_like(x);
    if (x.numel() > 0)
        polynomial_backward<<<(x.numel() + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
            x.data_ptr<float>(), grad_y.data_ptr<float>(), grad_x.data_ptr<float>(), x.numel());
    return grad_x;
}
"""
extension = load_inline(
    name="polynomial", cpp_sources="torch::Tensor forward(torch::Tensor); torch::Tensor backward(torch::Tensor, torch::Tensor);",
    cuda_sources=KERNELS + LAUNCHERS, functions=["forward", "backward"])


class Polynomial(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return extension.forward(x)

    @staticmethod
    def backward(context, grad_y):
        (x,) = context.saved_tensors
        return extension.backward(x, grad_y.contiguous())


def microseconds(function, runs=100):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(10):
        function()
    begin.record()
    for _ in range(runs):
        function()
    end.record()
    end.synchronize()  # without this, only the queueing would be timed
    return 1e3 * begin.elapsed_time(end) / runs


def main():
    x = torch.randn(1 << 24, device="cuda", requires_grad=True)
    y = Polynomial.apply(x)
    grad, = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(y, x * x + x + 1)
    torch.testing.assert_close(grad, 2 * x + 1)
    compiled = torch.compile(lambda t: t * t + t + 1)
    with torch.no_grad():
        for name, function in (("eager", lambda: x * x + x + 1), ("torch.compile", lambda: compiled(x)),
                               ("extension", lambda: extension.forward(x))):
            print("%-14s %.1f µs" % (name, microseconds(function)))


if __name__ == "__main__":
    main()

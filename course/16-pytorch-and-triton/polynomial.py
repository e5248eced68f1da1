# needs: torch with CUDA, and nvcc
"""A differentiable activation, y = x² + x + 1, as a PyTorch extension: python3 polynomial.py"""
import os

import torch
from torch.autograd.function import once_differentiable
from torch.utils.cpp_extension import load_inline

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = open(os.path.join(HERE, "polynomial.cuh"), encoding="utf-8").read().replace("#pragma once", "")
LAUNCHERS = """
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

static void check(const torch::Tensor &tensor)
{
    TORCH_CHECK(tensor.is_cuda() && tensor.scalar_type() == torch::kFloat32 && tensor.is_contiguous(),
                "polynomial needs a contiguous float32 tensor on the GPU");
}

torch::Tensor forward(torch::Tensor x)
{
    check(x);
    c10::cuda::CUDAGuard guard(x.device());
    auto y = torch::empty_like(x);
    if (x.numel() > 0) {
        polynomial_forward<<<(x.numel() + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
            x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
    return y;
}

torch::Tensor backward(torch::Tensor x, torch::Tensor grad_y)
{
    check(x);
    check(grad_y);
    TORCH_CHECK(x.sizes() == grad_y.sizes() && x.device() == grad_y.device(),
                "polynomial: x and its gradient must have the same shape and device");
    c10::cuda::CUDAGuard guard(x.device());
    auto grad_x = torch::empty_like(x);
    if (x.numel() > 0) {
        polynomial_backward<<<(x.numel() + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
            x.data_ptr<float>(), grad_y.data_ptr<float>(), grad_x.data_ptr<float>(), x.numel());
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
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
    @once_differentiable
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
    end.synchronize()  # elapsed_time needs the event to have happened
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

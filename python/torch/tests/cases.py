"""One or more cases of every public operator: shapes with ones, odd sizes and nothing in them."""
import torch
import torch.nn.functional as F

ops = torch.ops.heddle


class Case:
    """`make(device)` gives the arguments, the first tensors of which are differentiable unless their type is not
    float32; `reference` computes the same in any type. `tolerance` is relative to the largest expected value."""

    def __init__(self, name, operator, reference, make, tolerance=2e-5):
        self.name, self.operator, self.reference, self.make, self.tolerance = name, operator, reference, make, tolerance

    def __repr__(self):
        return self.name


def normal(*shape):
    return lambda device: torch.randn(shape, device=device)


def labels(rows, classes, ignored=None):
    def make(device):
        target = torch.randint(0, classes, rows if isinstance(rows, tuple) else (rows,), device=device)
        if ignored is not None and target.numel():
            target.view(-1)[::3] = ignored
        return target
    return make


def arguments(*makers):
    return lambda device: [one(device) if callable(one) else one for one in makers]


def horner(x, coefficients=(1.0, 1.0, 1.0)):
    value = torch.zeros_like(x)
    for one in reversed(coefficients):
        value = value * x + one
    return value


def cross_entropy(logits, target, ignore_index=-100, reduction="mean"):
    losses = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), target.reshape(-1), ignore_index=ignore_index,
                             reduction=reduction)
    return losses.reshape(target.shape) if reduction == "none" else losses


def block(x, weight, bias, gamma, beta, mean, var, training=False, momentum=0.1, eps=1e-5):
    z = F.batch_norm(F.conv2d(x, weight, bias, padding=1), mean, var, gamma, beta, training, momentum, eps)
    return F.max_pool2d(F.relu(z), 2)


def block_arguments(n, c, h, w, k, bias=True, training=True, channels_last=False):
    def make(device):
        x = torch.randn(n, c, h, w, device=device)
        if channels_last:
            x = x.contiguous(memory_format=torch.channels_last)
        parts = [torch.randn(k, c, 3, 3, device=device) / 3, torch.randn(k, device=device) if bias else None,
                 torch.rand(k, device=device) + 0.5, torch.randn(k, device=device)]
        return [x, *parts, torch.randn(k, device=device), torch.rand(k, device=device) + 0.5, training]
    return make


def transposed(rows, cols):
    return lambda device: torch.randn(cols, rows, device=device).t()


CASES = [
    Case("polynomial", ops.polynomial, horner, arguments(normal(257))),
    Case("polynomial of one", ops.polynomial, horner, arguments(normal(1), [2.0])),
    Case("polynomial of a matrix", ops.polynomial, horner, arguments(normal(31, 33), [0.5, -1.0, 0.25, 0.125])),
    Case("polynomial of degree 7", ops.polynomial, horner,
         arguments(normal(3, 5, 7), [1.0, -1.0, 0.5, 0.25, -0.1, 0.05, 0.01, 0.002])),
    Case("polynomial of a view", ops.polynomial, horner, arguments(transposed(17, 9), [1.0, 2.0, 3.0])),
    Case("polynomial of nothing", ops.polynomial, horner, arguments(normal(0, 4))),

    Case("cross_entropy", ops.softmax_cross_entropy, cross_entropy, arguments(normal(7, 10), labels(7, 10))),
    Case("cross_entropy of one", ops.softmax_cross_entropy, cross_entropy, arguments(normal(1, 1), labels(1, 1))),
    Case("cross_entropy, ignoring", ops.softmax_cross_entropy, cross_entropy,
         arguments(normal(13, 1009), labels(13, 1009, -100))),
    Case("cross_entropy, sum", ops.softmax_cross_entropy, cross_entropy,
         arguments(normal(5, 33), labels(5, 33, 2), 2, "sum")),
    Case("cross_entropy, none", ops.softmax_cross_entropy, cross_entropy,
         arguments(normal(5, 33), labels(5, 33, -100), -100, "none")),
    Case("cross_entropy of sequences", ops.softmax_cross_entropy, cross_entropy,
         arguments(normal(3, 4, 17), labels((3, 4), 17))),
    Case("cross_entropy of a view", ops.softmax_cross_entropy, cross_entropy,
         arguments(transposed(6, 11), labels(6, 11))),
    Case("cross_entropy of GPT-2's vocabulary", ops.softmax_cross_entropy, cross_entropy,
         arguments(normal(4, 50257), labels(4, 50257, -100))),
    Case("cross_entropy of nothing, sum", ops.softmax_cross_entropy, cross_entropy,
         arguments(normal(0, 5), labels(0, 5), -100, "sum")),
    Case("cross_entropy of nothing, none", ops.softmax_cross_entropy, cross_entropy,
         arguments(normal(0, 5), labels(0, 5), -100, "none")),

    Case("layernorm", ops.layernorm, lambda x, w, b, eps=1e-5: F.layer_norm(x, w.shape, w, b, eps),
         arguments(normal(7, 33), normal(33), normal(33))),
    Case("layernorm of one row", ops.layernorm, lambda x, w, b, eps=1e-5: F.layer_norm(x, w.shape, w, b, eps),
         arguments(normal(10), normal(10), normal(10), 1e-3)),
    Case("layernorm over two dimensions", ops.layernorm, lambda x, w, b: F.layer_norm(x, w.shape, w, b),
         arguments(normal(3, 5, 4, 6), normal(4, 6), normal(4, 6))),
    Case("layernorm of a view", ops.layernorm, lambda x, w, b: F.layer_norm(x, w.shape, w, b),
         arguments(transposed(8, 12), normal(12), normal(12))),
    Case("layernorm of nothing", ops.layernorm, lambda x, w, b: F.layer_norm(x, w.shape, w, b),
         arguments(normal(0, 12), normal(12), normal(12))),

    Case("matmul", ops.matmul, lambda a, b: a @ b, arguments(normal(33, 17), normal(17, 21))),
    Case("matmul of one", ops.matmul, lambda a, b: a @ b, arguments(normal(1, 1), normal(1, 1))),
    Case("matmul of a view", ops.matmul, lambda a, b: a @ b, arguments(transposed(5, 9), normal(9, 3))),
    Case("matmul of nothing", ops.matmul, lambda a, b: a @ b, arguments(normal(3, 0), normal(0, 4))),
    Case("matmul transposed", ops.matmul, lambda a, b, *_: a.t() @ b.t(),
         arguments(normal(17, 33), normal(21, 17), "", True, True)),

    Case("stem block", ops.conv_bn_relu_pool, block, block_arguments(2, 1, 9, 8, 5)),
    Case("conv block", ops.conv_bn_relu_pool, block, block_arguments(2, 8, 6, 7, 5)),
    Case("conv block without bias", ops.conv_bn_relu_pool, block, block_arguments(3, 5, 4, 4, 3, bias=False)),
    Case("conv block, channels last", ops.conv_bn_relu_pool, block,
         block_arguments(2, 8, 6, 8, 6, channels_last=True)),
]
INFERENCE = [
    Case("conv block in use", ops.conv_bn_relu_pool, block, block_arguments(2, 8, 6, 7, 5, training=False)),
    Case("conv block in use, channels last", ops.conv_bn_relu_pool, block,
         block_arguments(2, 8, 6, 8, 6, training=False, channels_last=True)),
]

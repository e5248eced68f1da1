"""heddle's operators in PyTorch: importing this registers torch.ops.heddle.*, and from_torch and to_torch move models
between the two. docs/pytorch.md describes each operator."""
from .operators import conv_bn_relu_pool, layernorm, matmul, polynomial, rungs, softmax_cross_entropy
from .models import Refused, from_torch, to_torch

__all__ = ["Refused", "conv_bn_relu_pool", "from_torch", "layernorm", "matmul", "polynomial", "rungs",
           "softmax_cross_entropy", "to_torch"]

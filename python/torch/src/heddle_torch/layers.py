"""What each module and function of PyTorch is in a heddle model, and what of its settings heddle does not have."""
import torch
import torch.nn.functional as F
from torch import nn


class Refused(ValueError):
    """heddle has no such layer or setting; the text names the submodule."""


class Spec:
    """A layer of a model file, and the module with its parameters."""

    def __init__(self, kind, name, settings, module=None, layers=(), projection=()):
        self.type, self.name, self.settings, self.module = kind, name, settings, module
        self.layers, self.projection = list(layers), list(projection)

    def json(self):
        made = dict({"type": self.type}, **self.settings)
        if self.type == "residual":
            made["layers"] = [one.json() for one in self.layers]
            if self.projection:
                made["projection"] = [one.json() for one in self.projection]
        return made


def refuse(name, what, unless):
    if not unless:
        raise Refused("%s: heddle has no %s" % (name, what))


def square(name, what, value):
    """One number of a pair that must be equal."""
    pair = (value, value) if isinstance(value, int) else tuple(value)
    refuse(name, "%s of %s; both must be equal" % (what, pair), len(set(pair)) == 1)
    return int(pair[0])


# --- modules ---------------------------------------------------------------------------------------------------------

def conv2d(name, module):
    refuse(name, "padding_mode '%s'" % module.padding_mode, module.padding_mode == "zeros")
    kernel, dilation = square(name, "kernel", module.kernel_size), square(name, "dilation", module.dilation)
    if module.padding == "same":
        refuse(name, "'same' padding of an even kernel", kernel % 2 == 1)
        padding = dilation * (kernel - 1) // 2
    else:
        padding = 0 if module.padding == "valid" else square(name, "padding", module.padding)
    return Spec("conv2d", name, {
        "channels": module.out_channels, "kernel": kernel, "stride": square(name, "stride", module.stride),
        "padding": padding, "dilation": dilation, "groups": module.groups, "bias": module.bias is not None}, module)


def batchnorm2d(name, module):
    refuse(name, "batchnorm without running statistics", module.track_running_stats)
    refuse(name, "batchnorm with a cumulative average (momentum None)", module.momentum is not None)
    return Spec("batchnorm2d", name, {"epsilon": module.eps, "momentum": module.momentum}, module)


def layernorm(name, module):
    return Spec("layernorm", name, {"epsilon": module.eps}, module)


def linear(name, module):
    return Spec("linear", name, {"features": module.out_features, "bias": module.bias is not None}, module)


# --- functions, of which modules without parameters are made ---------------------------------------------------------

def plain(kind):
    return lambda name, *_, **__: Spec(kind, name, {})


def max_pool2d(name, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    refuse(name, "dilation of pooling", square(name, "dilation", dilation) == 1)
    refuse(name, "ceil_mode", not ceil_mode)
    refuse(name, "indices of pooling", not return_indices)
    return Spec("maxpool2d", name, windows(name, kernel_size, stride, padding))


def avg_pool2d(name, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
               divisor_override=None):
    refuse(name, "ceil_mode", not ceil_mode)
    refuse(name, "divisor_override", divisor_override is None)
    settings = windows(name, kernel_size, stride, padding)
    refuse(name, "average over padding: use count_include_pad=False", not (settings["padding"] and count_include_pad))
    return Spec("avgpool2d", name, settings)


def windows(name, kernel_size, stride, padding):
    window = square(name, "window", kernel_size)
    return {"window": window, "stride": window if stride is None or stride == [] else square(name, "stride", stride),
            "padding": square(name, "padding", padding)}


def adaptive_avg_pool2d(name, output_size):
    refuse(name, "adaptive pooling to other than 1×1", output_size in (1, (1, 1), [1, 1]))
    return Spec("globalavgpool", name, {})


def mean(name, dim=None, keepdim=False, dtype=None):
    refuse(name, "mean over other than height and width",
           dim is not None and not isinstance(dim, int) and sorted(d % 4 for d in dim) == [2, 3])
    return Spec("globalavgpool", name, {})


def flatten(name, start_dim=0, end_dim=-1):
    refuse(name, "flatten of other than all but the first dimension", start_dim == 1 and end_dim == -1)
    return Spec("flatten", name, {})


def view(name, *shape):
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    refuse(name, "view but x.view(x.size(0), -1)", len(shape) == 2 and shape[1] == -1)
    return Spec("flatten", name, {})


def gelu(name, approximate="none"):
    refuse(name, "approximate gelu", approximate == "none")
    return Spec("gelu", name, {})


def elu(name, alpha=1.0, inplace=False):
    refuse(name, "elu with alpha %g" % alpha, alpha == 1)
    return Spec("elu", name, {})


def softplus(name, beta=1.0, threshold=20.0):
    refuse(name, "softplus with beta %g or threshold %g" % (beta, threshold), beta == 1 and threshold == 20)
    return Spec("softplus", name, {})


def log_softmax(name, dim=None, **_):
    refuse(name, "log_softmax over dimension %s" % dim, dim in (1, -1))
    return Spec("log_softmax", name, {})


def dropout(name, p=0.5, training=True, inplace=False):
    return Spec("dropout", name, {"probability": p})


def nothing(*_, **__):
    return None


MODULES = {
    nn.Conv2d: conv2d,
    nn.BatchNorm2d: batchnorm2d,
    nn.LayerNorm: layernorm,
    nn.Linear: linear,
    nn.ReLU: plain("relu"),
    nn.Tanh: plain("tanh"),
    nn.Sigmoid: plain("sigmoid"),
    nn.SiLU: plain("swish"),
    nn.GELU: lambda name, module: gelu(name, module.approximate),
    nn.ELU: lambda name, module: elu(name, module.alpha),
    nn.Softplus: lambda name, module: softplus(name, module.beta, module.threshold),
    nn.LogSoftmax: lambda name, module: log_softmax(name, module.dim),
    nn.MaxPool2d: lambda name, module: max_pool2d(name, module.kernel_size, module.stride, module.padding,
                                                  module.dilation, module.ceil_mode, module.return_indices),
    nn.AvgPool2d: lambda name, module: avg_pool2d(name, module.kernel_size, module.stride, module.padding,
                                                  module.ceil_mode, module.count_include_pad, module.divisor_override),
    nn.AdaptiveAvgPool2d: lambda name, module: adaptive_avg_pool2d(name, module.output_size),
    nn.Flatten: lambda name, module: flatten(name, module.start_dim, module.end_dim),
    nn.Dropout: lambda name, module: dropout(name, module.p),
    nn.Identity: nothing,
}

FUNCTIONS = {
    F.relu: plain("relu"), torch.relu: plain("relu"), torch.tanh: plain("tanh"), torch.sigmoid: plain("sigmoid"),
    F.tanh: plain("tanh"), F.sigmoid: plain("sigmoid"), F.silu: plain("swish"), F.gelu: gelu, F.elu: elu,
    F.softplus: softplus, F.max_pool2d: max_pool2d, torch.max_pool2d: max_pool2d, F.avg_pool2d: avg_pool2d,
    F.adaptive_avg_pool2d: adaptive_avg_pool2d, torch.flatten: flatten, F.log_softmax: log_softmax,
    torch.log_softmax: log_softmax, F.dropout: dropout, torch.mean: mean,
}

METHODS = {
    "relu": plain("relu"), "tanh": plain("tanh"), "sigmoid": plain("sigmoid"), "flatten": flatten, "view": view,
    "reshape": view, "mean": mean, "log_softmax": log_softmax, "contiguous": nothing,
}

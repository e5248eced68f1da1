"""A model file's network in PyTorch, and the precisions it is computed in. Not a program."""

import contextlib

import torch
import torch.nn.functional as F
from torch import nn

LOSS_SCALE = 1024.0  # for fp16; a constant scale is undone in the learning rate, at no cost

# What each precision computes in. "-pure": parameters and the whole network in that type, no float32 copy of them.
PRECISIONS = ("fp32", "tf32", "bf16", "bf16-pure", "fp16", "fp16-pure")


# --- precisions ------------------------------------------------------------------------------------------------------

def compute_dtype(precision):
    return {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision.split("-")[0], torch.float32)


def storage_dtype(precision):
    return compute_dtype(precision) if precision.endswith("-pure") else torch.float32


def set_precision(precision):
    """The switches of the whole process; autocast belongs to a mode."""
    torch.backends.cuda.matmul.allow_tf32 = precision != "fp32"
    torch.backends.cudnn.allow_tf32 = precision != "fp32"
    torch.backends.cudnn.benchmark = True


def autocast(precision, device):
    if storage_dtype(precision) == compute_dtype(precision):
        return contextlib.nullcontext()
    # Without its cache of cast weights: a captured graph must cast them in every replay.
    return torch.autocast(device, compute_dtype(precision), cache_enabled=False)


def loss_scale(precision):
    return LOSS_SCALE if precision.startswith("fp16") else 1.0


# --- layers ----------------------------------------------------------------------------------------------------------

def convolve(layer, values, x, _):
    return F.conv2d(x, values[layer.name + ".weight"], values.get(layer.name + ".bias"), layer.stride, layer.padding,
                    layer.dilation, layer.groups)


def batch_norm(layer, values, x, training):
    """Without running statistics a batch is always normalised by its own."""
    mean, variance = (values.get(layer.name + suffix) for suffix in (".running_mean", ".running_var"))
    return F.batch_norm(x, mean, variance, values[layer.name + ".weight"], values[layer.name + ".bias"],
                        training or mean is None, layer.momentum, layer.epsilon)


def residual(layer, values, x, training):
    return forward(layer.layers, values, x, training) + forward(layer.projection, values, x, training)


# What a layer computes from its settings, the values of parameters by name, its input, and whether it trains.
LAYERS = {
    "conv2d": convolve,
    "batchnorm2d": batch_norm,
    "layernorm": lambda layer, values, x, _: F.layer_norm(
        x, layer.input, values[layer.name + ".weight"], values[layer.name + ".bias"], layer.epsilon),
    "relu": lambda layer, values, x, _: F.relu(x),
    "tanh": lambda layer, values, x, _: torch.tanh(x),
    "sigmoid": lambda layer, values, x, _: torch.sigmoid(x),
    "elu": lambda layer, values, x, _: F.elu(x),
    "gelu": lambda layer, values, x, _: F.gelu(x),
    "softplus": lambda layer, values, x, _: F.softplus(x),
    "swish": lambda layer, values, x, _: F.silu(x),
    "maxpool2d": lambda layer, values, x, _: F.max_pool2d(x, layer.window, layer.stride, layer.padding),
    "avgpool2d": lambda layer, values, x, _: F.avg_pool2d(x, layer.window, layer.stride, layer.padding,
                                                          count_include_pad=False),
    "globalavgpool": lambda layer, values, x, _: x.mean((2, 3)),
    "flatten": lambda layer, values, x, _: x.flatten(1),
    "linear": lambda layer, values, x, _: F.linear(x, values[layer.name + ".weight"], values.get(layer.name + ".bias")),
    "dropout": lambda layer, values, x, training: F.dropout(x, layer.probability, training),
    "log_softmax": lambda layer, values, x, _: F.log_softmax(x, 1),
    "residual": residual,
}


def forward(layers, values, x, training=True):
    """A function of the parameters, {name: tensor}; x: (N, C, H, W), the result (N, classes)."""
    for layer in layers:
        x = LAYERS[layer.type](layer, values, x, training)
    return x


# --- parameters ------------------------------------------------------------------------------------------------------

class Network(nn.Module):
    """The network as a module, with running statistics where asked for. Without them training is a little less work
    than heddle does, which the peers may have."""

    def __init__(self, model, seed, statistics=False):
        super().__init__()
        values = {name: torch.from_numpy(value) for name, value in model.initial(seed, statistics).items()}
        self.layers, self.names = model.layers, {name: name.replace(".", "_") for name in values}
        trained = {one.name for one in model.parameters() if one.trained}
        for name, value in values.items():
            if name in trained:
                self.register_parameter(self.names[name], nn.Parameter(value))
            else:
                self.register_buffer(self.names[name], value)

    def values(self):
        return {name: getattr(self, attribute) for name, attribute in self.names.items()}

    def forward(self, x):
        return forward(self.layers, self.values(), x, self.training)


def without_batch_norms(layers, values):
    """The layers and values for inference: each batchnorm2d folded into the convolution before it."""
    values, made = dict(values), []
    for layer in layers:
        if layer.type == "residual":
            layer = copied(layer)
            layer.layers, values = without_batch_norms(layer.layers, values)
            layer.projection, values = without_batch_norms(layer.projection, values)
        if layer.type == "batchnorm2d" and made and made[-1].type == "conv2d":
            weight, bias, mean, variance = (values.pop(layer.name + suffix) for suffix in (
                ".weight", ".bias", ".running_mean", ".running_var"))
            scale, name = weight / torch.sqrt(variance + layer.epsilon), made[-1].name
            values[name + ".bias"] = bias + (values.get(name + ".bias", 0) - mean) * scale
            values[name + ".weight"] = values[name + ".weight"] * scale.view(-1, 1, 1, 1)
            continue
        made.append(layer)
    return made, values


def copied(layer):
    made = object.__new__(type(layer))
    made.__dict__.update(layer.__dict__)
    return made

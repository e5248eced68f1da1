"""A model file's network in JAX as pure functions, and the precisions it is computed in. Not a program.

Images are (N, H, W, C), or (N, C, H, W) with `nchw`. Parameters lie as each of the two computes fastest with them;
from_torch brings them from PyTorch's layout, which heddle's checkpoints have.
"""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

LOSS_SCALE = 1024.0
MATMUL = {"fp32": "highest", "tf32": "tensorfloat32"}


def set_precision(precision):
    jax.config.update("jax_default_matmul_precision", MATMUL.get(precision, "default"))


def compute_dtype(precision):
    return {"bf16": jnp.bfloat16, "fp16": jnp.float16}.get(precision.split("-")[0], jnp.float32)


def storage_dtype(precision):
    return compute_dtype(precision) if precision.endswith("-pure") else jnp.float32


def loss_scale(precision):
    return LOSS_SCALE if precision.startswith("fp16") else 1.0


# --- parameters ------------------------------------------------------------------------------------------------------

def from_torch(model, values, nchw):
    """{name: array} in the layout of the network from one in PyTorch's, (outputs, inputs, height, width) and (outputs,
    inputs)."""
    made = {name: np.asarray(value) for name, value in values.items()}
    bring_layers(model.layers, made, nchw)
    return made


def bring_layers(layers, made, nchw):
    pixels = None  # (C, H, W) of features that lie as (H, W, C), from a flatten to the linear behind it

    def reordered(array):
        return np.moveaxis(array.reshape(array.shape[:-1] + pixels), -3, -1).reshape(array.shape)

    for number, layer in enumerate(layers):
        weight, bias = layer.name + ".weight", layer.name + ".bias"
        if layer.type == "conv2d":
            made[weight] = made[weight].transpose(2, 3, 1, 0)
        elif layer.type == "flatten" and not nchw and len(layer.input) == 3 and feeds_linear(layers[number + 1:]):
            pixels = layer.input
        elif layer.type == "layernorm" and len(layer.input) == 3 and not nchw:
            made[weight], made[bias] = (made[name].transpose(1, 2, 0) for name in (weight, bias))
        elif layer.type == "layernorm" and pixels:
            made[weight], made[bias] = reordered(made[weight]), reordered(made[bias])
        elif layer.type == "linear":
            made[weight] = (reordered(made[weight]) if pixels else made[weight]).T
            pixels = None
        elif layer.type == "residual":
            bring_layers(layer.layers, made, nchw)
            bring_layers(layer.projection, made, nchw)


def feeds_linear(layers):
    """Whether the features go into a linear layer, and on the way there only through layers that do not care about
    their order. Then pixels are flattened as they lie, and the order is that of the weight's inputs."""
    for layer in layers:
        if layer.type == "linear":
            return True
        if layer.type in ("residual", "log_softmax"):
            return False
    return False


def to_torch(model, values, nchw):
    """The way back, for gradients: from_torch of each element's place says where it has come from."""
    shapes = {one.name: one.shape for one in model.parameters()}
    places = {name: np.arange(int(np.prod(shapes[name])), dtype=np.int64).reshape(shapes[name]) for name in values}
    made = {}
    for name, place in from_torch(model, places, nchw).items():
        made[name] = np.empty(place.size, np.asarray(values[name]).dtype)
        made[name][place.reshape(-1)] = np.asarray(values[name]).reshape(-1)
        made[name] = made[name].reshape(shapes[name])
    return made


def initial(model, seed, dtype, nchw, statistics=False):
    """On the device; statistics in float32."""
    trained = {one.name for one in model.parameters() if one.trained}
    return {name: jnp.asarray(value, dtype if name in trained else jnp.float32)
            for name, value in from_torch(model, model.initial(seed, statistics), nchw).items()}


# --- layers ----------------------------------------------------------------------------------------------------------

class How:
    """How a network is computed: layout, type of products, pooling by XLA's own operation or by a reshaped array (whose
    gradient is cheaper), whether it trains, and a key for dropout."""

    def __init__(self, dtype, nchw=False, reduce_window=False, training=True, key=None):
        self.dtype, self.nchw, self.reduce_window, self.training, self.key = dtype, nchw, reduce_window, training, key

    def per_channel(self, vector):
        return vector[:, None, None] if self.nchw else vector

    def drop(self, x, probability):
        if not self.training or probability == 0:
            return x
        self.key, one = jax.random.split(self.key)
        kept = jax.random.bernoulli(one, 1 - probability, x.shape)
        return jnp.where(kept, x / (1 - probability), 0).astype(x.dtype)


def convolve(layer, values, x, how):
    order = ("NCHW", "HWIO", "NCHW") if how.nchw else ("NHWC", "HWIO", "NHWC")
    x = lax.conv_general_dilated(x, values[layer.name + ".weight"].astype(how.dtype), (layer.stride,) * 2,
                                 [(layer.padding,) * 2] * 2, rhs_dilation=(layer.dilation,) * 2,
                                 dimension_numbers=order, feature_group_count=layer.groups)
    return x + how.per_channel(values[layer.name + ".bias"].astype(how.dtype)) if layer.bias else x


def linear(layer, values, x, how):
    x = x @ values[layer.name + ".weight"].astype(how.dtype)
    return x + values[layer.name + ".bias"].astype(how.dtype) if layer.bias else x


def wide(x):
    """Statistics are computed in float32 at least, whatever the network computes in."""
    return x.astype(jnp.promote_types(x.dtype, jnp.float32))


def batch_norm(layer, values, x, how):
    whole = wide(x)
    gamma, beta = (how.per_channel(wide(values[layer.name + name])) for name in (".weight", ".bias"))
    if how.training or layer.name + ".running_mean" not in values:
        axes = (0, 2, 3) if how.nchw else (0, 1, 2)
        mean = whole.mean(axes, keepdims=True)
        variance = jnp.square(whole - mean).mean(axes, keepdims=True)
    else:
        mean, variance = (how.per_channel(wide(values[layer.name + name]))
                          for name in (".running_mean", ".running_var"))
    return ((whole - mean) * (gamma * lax.rsqrt(variance + layer.epsilon)) + beta).astype(x.dtype)


def layer_norm(layer, values, x, _):
    whole, axes = wide(x), tuple(range(1, x.ndim))
    mean = whole.mean(axes, keepdims=True)
    variance = jnp.square(whole - mean).mean(axes, keepdims=True)
    gamma, beta = wide(values[layer.name + ".weight"]), wide(values[layer.name + ".bias"])
    return ((whole - mean) * lax.rsqrt(variance + layer.epsilon) * gamma + beta).astype(x.dtype)


def pool(layer, x, how, largest):
    size, rest = layer.window, [side % layer.window for side in layer.input[1:]]
    if not how.reduce_window and layer.stride == size and layer.padding == 0 and not any(rest):
        first = 2 if how.nchw else 1
        height, width = x.shape[first:first + 2]
        split = x.shape[:first] + (height // size, size, width // size, size) + x.shape[first + 2:]
        axes = (first + 1, first + 3)
        return x.reshape(split).max(axes) if largest else x.reshape(split).mean(axes)
    place = (0, 0, 1, 1) if how.nchw else (0, 1, 1, 0)
    window, strides = (tuple(number if one else 1 for one in place) for number in (size, layer.stride))
    padding = [(layer.padding,) * 2 if one else (0, 0) for one in place]
    if largest:
        return lax.reduce_window(x, -jnp.inf, lax.max, window, strides, padding)
    total = lax.reduce_window(x, 0.0, lax.add, window, strides, padding)
    count = lax.reduce_window(jnp.ones_like(x), 0.0, lax.add, window, strides, padding)  # padding does not count
    return total / count


def residual(layer, values, x, how):
    return forward(layer.layers, values, x, how) + forward(layer.projection, values, x, how)


# What a layer computes from its settings, the values of parameters by name, its input, and how.
LAYERS = {
    "conv2d": convolve,
    "batchnorm2d": batch_norm,
    "layernorm": layer_norm,
    "relu": lambda layer, values, x, how: jax.nn.relu(x),
    "tanh": lambda layer, values, x, how: jnp.tanh(x),
    "sigmoid": lambda layer, values, x, how: jax.nn.sigmoid(x),
    "elu": lambda layer, values, x, how: jax.nn.elu(x),
    "gelu": lambda layer, values, x, how: jax.nn.gelu(x, approximate=False),
    "softplus": lambda layer, values, x, how: jax.nn.softplus(x),
    "swish": lambda layer, values, x, how: jax.nn.silu(x),
    "maxpool2d": lambda layer, values, x, how: pool(layer, x, how, True),
    "avgpool2d": lambda layer, values, x, how: pool(layer, x, how, False),
    "globalavgpool": lambda layer, values, x, how: x.mean((2, 3) if how.nchw else (1, 2)),
    "flatten": lambda layer, values, x, how: x.reshape(x.shape[0], -1),
    "linear": linear,
    "dropout": lambda layer, values, x, how: how.drop(x, layer.probability),
    "log_softmax": lambda layer, values, x, how: jax.nn.log_softmax(x),
    "residual": residual,
}


def forward(layers, values, x, how):
    for number, layer in enumerate(layers):
        if layer.type == "flatten" and not how.nchw and x.ndim == 4 and not feeds_linear(layers[number + 1:]):
            x = jnp.moveaxis(x, -1, 1)
        x = LAYERS[layer.type](layer, values, x, how)
    return x


def cross_entropy(logits, labels):
    """Mean over the batch, in float32 at least."""
    return -jnp.take_along_axis(jax.nn.log_softmax(wide(logits)), labels[:, None], 1).mean()

"""One training step of the CNN in JAX: a jitted step, or many of them in one jitted scan; data stays on the device.
Not a program.

A mode is a few words: `scan` for many steps a call, `step` for one; `nchw` for channels before pixels;
`reduce-window` for pooling by XLA's own operation (the other way, a maximum over a reshaped array, has a cheaper
gradient).
"""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

SCANNED = 10  # steps of one call of a scan
LEARNING_RATE = 0.05
LOSS_SCALE = 1024.0
EPSILON = 1e-5
MATMUL = {"fp32": "highest", "tf32": "tensorfloat32"}


def set_precision(precision):
    jax.config.update("jax_default_matmul_precision", MATMUL.get(precision, "default"))


def compute_dtype(precision):
    return {"bf16": jnp.bfloat16, "fp16": jnp.float16}.get(precision.split("-")[0], jnp.float32)


def initial(dtype):
    """PyTorch's distributions, as heddle draws them too."""
    keys = iter(jax.random.split(jax.random.PRNGKey(3), 8))

    def uniform(shape, fan_in):
        return jax.random.uniform(next(keys), shape, jnp.float32, -1, 1) / fan_in ** 0.5

    values = [uniform((3, 3, 1, 32), 9), uniform((32,), 9), jnp.ones(32), jnp.zeros(32),
              uniform((3, 3, 32, 64), 288), uniform((64,), 288), jnp.ones(64), jnp.zeros(64),
              uniform((3136, 128), 3136), uniform((128,), 3136), uniform((128, 10), 128), uniform((10,), 128)]
    return [value.astype(dtype) for value in values]


def synthetic(count, seed=1):
    """Ten smooth shapes with noise, as bytes, and their labels. images: (count, 28, 28)"""
    first, second, third = jax.random.split(jax.random.PRNGKey(seed), 3)
    labels = jax.random.randint(first, (count,), 0, 10)
    shapes = jax.image.resize(jax.random.normal(second, (10, 7, 7)), (10, 28, 28), "cubic")
    noise = jax.random.normal(third, (count, 28, 28))
    return jnp.clip(110 * shapes[labels] + 40 * noise - 30, 0, 255).astype(jnp.uint8), labels


def convolve(x, weight, bias, nchw):
    order = ("NCHW", "HWIO", "NCHW") if nchw else ("NHWC", "HWIO", "NHWC")
    y = lax.conv_general_dilated(x, weight, (1, 1), "SAME", dimension_numbers=order)
    return y + (bias[:, None, None] if nchw else bias)


def normalize(x, gamma, beta, nchw):
    """Statistics in float32, whatever the network computes in."""
    axes = (0, 2, 3) if nchw else (0, 1, 2)
    wide = x.astype(jnp.float32)
    mean = wide.mean(axes, keepdims=True)
    variance = jnp.square(wide - mean).mean(axes, keepdims=True)
    shape = (1, -1, 1, 1) if nchw else (-1,)
    scale = gamma.reshape(shape) * lax.rsqrt(variance + EPSILON)
    return ((wide - mean) * scale + beta.reshape(shape)).astype(x.dtype)


def pool(x, nchw, reduce_window):
    if reduce_window:
        window = (1, 1, 2, 2) if nchw else (1, 2, 2, 1)
        return lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID")
    if nchw:
        n, c, h, w = x.shape
        return x.reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).max((2, 4))


def loss_of(parameters, images, labels, words, dtype, scale):
    nchw, window = "nchw" in words, "reduce-window" in words
    conv1, bias1, gamma1, beta1, conv2, bias2, gamma2, beta2, hidden, hidden_bias, last, last_bias = parameters
    x = images[:, None] if nchw else images[..., None]
    for weight, bias, gamma, beta in ((conv1, bias1, gamma1, beta1), (conv2, bias2, gamma2, beta2)):
        x = convolve(x, weight.astype(dtype), bias.astype(dtype), nchw)
        x = pool(jax.nn.relu(normalize(x, gamma.astype(jnp.float32), beta.astype(jnp.float32), nchw)), nchw, window)
    x = x.reshape(x.shape[0], -1)
    x = jax.nn.relu(x @ hidden.astype(dtype) + hidden_bias.astype(dtype))
    logits = (x @ last.astype(dtype) + last_bias.astype(dtype)).astype(jnp.float32)
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
    return -scale * picked.mean()


def make(mode, precision, batch, images, labels):
    """A function that runs some steps and waits for nothing, with .steps (of one call), .wait() and .loss()."""
    words = mode.split()
    dtype = compute_dtype(precision)
    scale = LOSS_SCALE if precision.startswith("fp16") else 1.0
    parameters = initial(dtype if precision.endswith("-pure") else jnp.float32)
    steps = len(images) // batch
    order = jax.random.permutation(jax.random.PRNGKey(2), len(images))[:steps * batch].reshape(steps, batch)

    def step(values, position, order, images, labels):
        index = order[position % steps]
        x = images[index].astype(dtype) * jnp.asarray(1 / 255, dtype)
        loss, gradients = jax.value_and_grad(loss_of)(values, x, labels[index], words, dtype, scale)
        rate = LEARNING_RATE / scale
        values = [(value - rate * gradient).astype(value.dtype) for value, gradient in zip(values, gradients)]
        return values, position + 1, loss / scale

    def scanned(values, position, order, images, labels):
        def one(carry, _):
            values, position, loss = step(carry[0], carry[1], order, images, labels)
            return (values, position), loss
        (values, position), losses = lax.scan(one, (values, position), None, length=SCANNED)
        return values, position, losses[-1]

    compiled = jax.jit(scanned if "scan" in words else step, donate_argnums=(0, 1))
    state = {"values": parameters, "position": jnp.zeros((), jnp.int32), "loss": None}

    def run():
        state["values"], state["position"], state["loss"] = compiled(state["values"], state["position"], order, images,
                                                                      labels)

    run.steps = SCANNED if "scan" in words else 1
    run.wait = lambda: jax.block_until_ready((state["values"], state["loss"]))
    run.loss = lambda: float(state["loss"])
    run()
    run.wait()
    return run

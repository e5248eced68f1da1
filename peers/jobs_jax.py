"""Training steps and predictions of a network in JAX; data stays on the device. Not a program.

A mode is a few words: `scan` for many training steps per call, `step` for one step or batch; `nchw` for channels
before pixels; `reduce-window` for pooling by XLA's own operation (the other way, a maximum over a reshaped array, has a
cheaper gradient); `pipelined` for two batches of predictions under way.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import network_jax

SEED = 3  # of initial values
SLOTS = 2  # batches in host memory that predictions take turns with
SCANNED = 10  # steps of one call of a scan
PART = 8192  # images that are drawn at once


def synthetic(count, shape, classes, seed=1):
    """A smooth pattern per class with noise, as bytes, and the labels. images: (count, H, W, C). In parts, because JAX
    keeps the memory of all that it computed at once, and other processes need some."""
    first, second, third = jax.random.split(jax.random.PRNGKey(seed), 3)
    channels, height, width = shape
    labels = jax.random.randint(first, (count,), 0, classes)
    patterns = jax.image.resize(jax.random.normal(second, (classes, 7, 7, channels)),
                                (classes, height, width, channels), "cubic")

    def part(begin):
        of = labels[begin:begin + PART]
        noise = jax.random.normal(jax.random.fold_in(third, begin), (len(of), height, width, channels))
        return jnp.clip(110 * patterns[of] + 40 * noise - 30, 0, 255).astype(jnp.uint8)

    return jnp.concatenate([part(begin) for begin in range(0, count, PART)]), labels


def updated(state, gradients, optimizer, scale):
    """(values, velocity) after a step of SGD; without momentum velocity is empty."""
    values, velocity = state
    if optimizer.weight_decay:
        gradients = {name: gradient + optimizer.weight_decay * scale * values[name]
                     for name, gradient in gradients.items()}
    if optimizer.momentum:
        velocity = gradients = {name: (optimizer.momentum * velocity[name] + gradient).astype(gradient.dtype)
                                for name, gradient in gradients.items()}
    rate = optimizer.lr / scale
    return {name: (value - rate * gradients[name]).astype(value.dtype) for name, value in values.items()}, velocity


def training(model, mode, precision, batch, data, optimizer):
    """(begin, loss, each): begin() gives a function that runs some steps and waits for the last, loss() is of the last
    step, and `each` says how many steps one call of the compiled function has."""
    words, (images, labels) = mode.split(), data
    nchw, dtype, scale = "nchw" in words, network_jax.compute_dtype(precision), network_jax.loss_scale(precision)
    if nchw:
        images = jnp.moveaxis(images, -1, 1)
    values = network_jax.initial(model, SEED, network_jax.storage_dtype(precision), nchw)
    velocity = {name: jnp.zeros_like(value) for name, value in values.items()} if optimizer.momentum else {}
    steps = len(images) // batch
    order = jax.random.permutation(jax.random.PRNGKey(2), len(images))[:steps * batch].reshape(steps, batch)

    def loss_of(values, x, labels, key):
        how = network_jax.How(dtype, nchw, "reduce-window" in words, key=key)
        return scale * network_jax.cross_entropy(network_jax.forward(model.layers, values, x, how), labels)

    def step(state, position, order, images, labels):
        index = order[position % steps]
        x = images[index].astype(dtype) * jnp.asarray(1 / 255, dtype)
        key = jax.random.fold_in(jax.random.PRNGKey(4), position)
        loss, gradients = jax.value_and_grad(loss_of)(state[0], x, labels[index], key)
        return updated(state, gradients, optimizer, scale), position + 1, loss / scale

    def scanned(state, position, order, images, labels):
        def one(carry, _):
            state, position, loss = step(carry[0], carry[1], order, images, labels)
            return (state, position), loss
        (state, position), losses = lax.scan(one, (state, position), None, length=SCANNED)
        return state, position, losses[-1]

    compiled = jax.jit(scanned if "scan" in words else step, donate_argnums=(0, 1))
    each = SCANNED if "scan" in words else 1
    now = {"state": (values, velocity), "position": jnp.zeros((), jnp.int32), "loss": None}

    def run(count):
        for _ in range(max(1, count // each)):
            now["state"], now["position"], now["loss"] = compiled(now["state"], now["position"], order, images, labels)
        jax.block_until_ready((now["state"], now["loss"]))

    run(each)  # compiles
    return lambda: run, lambda: float(now["loss"]), each


def prediction(model, mode, precision, images):
    """(begin, probabilities): begin() gives a function that predicts `count` batches from host memory; probabilities()
    are those of the first slot. `images`: (SLOTS, batch, C, H, W), bytes or floats."""
    words = mode.split()
    nchw, dtype = "nchw" in words, network_jax.compute_dtype(precision)
    values = network_jax.initial(model, SEED, network_jax.storage_dtype(precision), nchw, statistics=True)
    how = network_jax.How(dtype, nchw, "reduce-window" in words, training=False)
    host = [np.asarray(one) if nchw else np.ascontiguousarray(np.moveaxis(np.asarray(one), 1, -1)) for one in images]
    scaled = host[0].dtype == np.uint8

    def probabilities(values, batch):
        x = batch.astype(dtype)
        x = x * jnp.asarray(1 / 255, dtype) if scaled else x
        return jax.nn.softmax(network_jax.wide(network_jax.forward(model.layers, values, x, how)))

    compiled, found = jax.jit(probabilities), {}

    def run(count):
        waiting = []
        for number in range(count):
            slot = number % len(host)
            waiting.append((slot, compiled(values, jax.device_put(host[slot]))))
            while len(waiting) > ("pipelined" in words):
                slot, result = waiting.pop(0)
                found[slot] = np.asarray(result)
        for slot, result in waiting:
            found[slot] = np.asarray(result)

    run(1)  # compiles
    return lambda: run, lambda: found[0]

#!/usr/bin/env python3
"""Whether PyTorch and JAX compute the same network from a model file, and heddle too: outputs and gradients of one
step, for every type of layer and for every file in examples/models.

    peers/networks_agree.py [--heddle PROGRAM] [--batch N] [MODEL...]

PyTorch and JAX are compared in float64, JAX in both layouts. With --heddle the networks that it knows are computed in
float32 on its CPU from the same parameters and images (`heddle bench train --gradients`) and compared as well. Exit
code 1 if two do not agree. Needs no GPU.
"""

import argparse
import glob
import math
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is left in the source tree
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import jax  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import model_file  # noqa: E402
import network_jax  # noqa: E402
import network_torch  # noqa: E402
import result_file  # noqa: E402
import safetensors_file  # noqa: E402

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")
SAME = 1e-10  # relative to the norm, between two computations in float64
NEARLY = 1e-4  # between float64 and heddle's float32, but for decisions on an edge (edges.py)

SMALL = (4, 9, 7)  # an image of the small networks
FEATURES = {"type": "linear", "features": "classes"}
END = [{"type": "flatten"}, FEATURES]
FILTER = {"type": "conv2d", "channels": 6, "padding": 1}
POOLING = {"window": 3, "stride": 2, "padding": 1}
UNKNOWN = r"no layer type '\w+'|has no setting '\w+'|gradients of a model with dropout"  # says heddle
ACTIVATIONS = ("relu", "tanh", "sigmoid", "elu", "gelu", "softplus", "swish")


def small_networks(shape):
    """{name: layers} for images of that shape: one type of layer each, with settings away from their defaults."""
    features = math.prod(shape)
    return {
        "conv2d": [{"type": "conv2d", "channels": 6, "stride": 2, "padding": 2, "dilation": 2}] + END,
        "conv2d without bias": [dict(FILTER, bias=False)] + END,
        "conv2d in groups": [dict(FILTER, channels=4), dict(FILTER, groups=2)] + END,
        "conv2d depthwise": [dict(FILTER, channels=4), dict(FILTER, channels=8, groups=4)] + END,
        "batchnorm2d": [FILTER, {"type": "batchnorm2d", "epsilon": 1e-3}] + END,
        "layernorm of images": [FILTER, {"type": "layernorm"}] + END,
        "layernorm of features": [{"type": "flatten"}, {"type": "layernorm", "epsilon": 1e-3}, FEATURES],
        **{name: [FILTER, {"type": name}] + END for name in ACTIVATIONS},
        "maxpool2d": [FILTER, dict(POOLING, type="maxpool2d")] + END,
        "avgpool2d": [FILTER, dict(POOLING, type="avgpool2d")] + END,
        "maxpool2d without overlap": [FILTER, {"type": "maxpool2d", "window": 2}] + END,
        "avgpool2d without overlap": [FILTER, {"type": "avgpool2d", "window": 2}] + END,
        "globalavgpool": [FILTER, {"type": "globalavgpool"}, FEATURES],
        "linear without bias": [{"type": "flatten"}, {"type": "linear", "features": 12, "bias": False}, FEATURES],
        "dropout of nothing": [FILTER, {"type": "dropout", "probability": 0}] + END,
        "log_softmax": END + [{"type": "log_softmax"}],
        "residual": [FILTER, {"type": "residual", "layers": [FILTER, {"type": "relu"}, FILTER]}] + END,
        "residual with a projection": [
            {"type": "residual", "layers": [dict(FILTER, stride=2), {"type": "batchnorm2d"}],
             "projection": [dict(FILTER, kernel=1, padding=0, stride=2)]}] + END,
        "residual of features": [
            {"type": "flatten"},
            {"type": "residual", "layers": [{"type": "linear", "features": features}, {"type": "tanh"}]}, FEATURES],
    }


def step_of_torch(model, values, images, labels, dtype=torch.float64):
    """(outputs, loss, {name: gradient}) as NumPy arrays; images: (N, C, H, W)."""
    tensors = {name: torch.tensor(np.asarray(value), dtype=dtype) for name, value in values.items()}
    trained = [one.name for one in model.parameters() if one.trained]
    for name in trained:
        tensors[name].requires_grad_()
    outputs = network_torch.forward(model.layers, tensors, torch.tensor(images, dtype=dtype))
    loss = F.cross_entropy(outputs, torch.tensor(labels))
    gradients = torch.autograd.grad(loss, [tensors[name] for name in trained])
    return outputs.detach().numpy(), loss.item(), {name: one.numpy() for name, one in zip(trained, gradients)}


def step_of_jax(model, values, images, labels, nchw):
    arrays = {name: jax.numpy.asarray(value, jax.numpy.float64)
              for name, value in network_jax.from_torch(model, values, nchw).items()}
    how = network_jax.How(jax.numpy.float64, nchw)
    x = jax.numpy.asarray(images if nchw else images.transpose(0, 2, 3, 1), jax.numpy.float64)

    def loss_of(arrays):
        outputs = network_jax.forward(model.layers, arrays, x, how)
        return network_jax.cross_entropy(outputs, jax.numpy.asarray(labels)), outputs

    (loss, outputs), gradients = jax.value_and_grad(loss_of, has_aux=True)(arrays)
    return np.asarray(outputs), float(loss), network_jax.to_torch(model, gradients, nchw)


def distance(one, other, against=None):
    """Of two arrays, relative to the norm of the second, or of `against`."""
    norm = np.linalg.norm(other if against is None else against)
    return float(np.linalg.norm(np.asarray(one, np.float64) - other) / max(norm, 1e-30))


def apart(found, right):
    """(distance, where) of what differs most between two steps. The gradient of a bias in front of a batchnorm is zero
    but for rounding: it is held against that of the weight."""
    distances = [(distance(found[0], right[0]), "outputs"), (abs(found[1] - right[1]), "loss")]
    for name, gradient in right[2].items():
        weight = right[2].get(name.replace(".bias", ".weight"), gradient)
        large = weight if np.linalg.norm(weight) > np.linalg.norm(gradient) else gradient
        distances.append((distance(found[2][name], gradient, large), name))
    return max(distances, key=lambda one: math.inf if math.isnan(one[0]) else one[0])


def draw(model, batch, seed=1):
    random = np.random.default_rng(seed)
    values = model.initial(seed)
    for one in model.parameters():  # away from one and zero, at which a factor or a term that is missing does not show
        if one.trained and one.bound is None:
            values[one.name] = random.uniform(0.5, 1.5, one.shape)
    images = random.uniform(0, 1, (batch,) + model.input)
    return values, images, random.integers(0, model.classes, batch)


class Report:
    def __init__(self):
        self.failed = 0

    def add(self, name, what, found, allowed):
        good = found[0] <= allowed  # NaN is not
        self.failed += not good
        print("%-28s %-13s %.1e at %s%s" % (name, what, *found, "" if good else "  DIFFERS"), flush=True)


def compare_frameworks(report, name, model, batch):
    values, images, labels = draw(model, batch)
    right = step_of_torch(model, values, images, labels)
    for nchw in (False, True):
        report.add(name, "JAX " + ("NCHW" if nchw else "NHWC"),
                   apart(step_of_jax(model, values, images, labels, nchw), right), SAME)


def compare_heddle(report, program, name, document, batch):
    """With the dataset's images, 28×28 in gray, whatever the file is meant for."""
    with tempfile.TemporaryDirectory() as folder:
        path, output = os.path.join(folder, "model.json"), os.path.join(folder, "step.safetensors")
        result_file.save(path, document)
        done = subprocess.run([program, "bench", "train", "--device", "cpu", "--kernels", "fused", "--precision",
                               "fp32", "--data", "synth:count=512", "--model", path, "--batch", str(batch),
                               "--gradients", output], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            unknown = re.search(UNKNOWN, done.stdout)
            print("%-28s heddle's CPU  %s" % (name, unknown.group() if unknown else done.stdout.strip()), flush=True)
            report.failed += not unknown
            return
        step = safetensors_file.read(output)
    model = model_file.model_of(document, name, step["images"].shape[1:])
    values = {one.name: step["parameters/" + one.name] for one in model.parameters() if one.trained}
    right = step_of_torch(model, values, step["images"] / 255.0, step["labels"].astype(np.int64))
    gradients = {one: step["gradients/" + one] for one in values}
    report.add(name, "heddle's CPU", apart((right[0], float(step["loss"].reshape(-1)[0]), gradients), right), NEARLY)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL",
                        help="model files (default: a network per type of layer, and all of examples/models)")
    parser.add_argument("--heddle", metavar="PROGRAM", help="compare with this heddle too")
    parser.add_argument("--batch", type=int, default=4)
    options = parser.parse_args()
    report, files = Report(), options.models or sorted(glob.glob(os.path.join(model_file.MODELS, "*.json")))
    documents = {os.path.basename(path): result_file.load(model_file.path_of(path)) for path in files}
    small, gray = ({} if options.models else small_networks(shape) for shape in (SMALL, model_file.PIXELS))
    for name in small:
        compare_frameworks(report, name, model_file.model_of({"layers": small[name]}, name, SMALL), options.batch)
    for name, document in documents.items():
        compare_frameworks(report, name, model_file.model_of(document, name), options.batch)
    documents.update({name: {"layers": layers} for name, layers in gray.items()})
    for name, document in documents.items() if options.heddle else ():
        compare_heddle(report, options.heddle, name, document, options.batch)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())

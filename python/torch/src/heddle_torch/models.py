"""Models between PyTorch and heddle: from_torch writes a heddle checkpoint of a module, to_torch makes a module of a
checkpoint. What a layer of a model file is in PyTorch stands in peers/, which comparisons with PyTorch use too."""
import importlib
import json
import os
import sys

import numpy as np
import torch
from torch import fx

from .layers import FUNCTIONS, METHODS, MODULES, Refused, Spec


def _peer(name):
    """A module of peers/, whose modules import each other by their bare names; those names are not left behind."""
    full = __package__ + ".peers." + name
    if full not in sys.modules:
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")
        before = set(sys.modules)
        sys.path.insert(0, folder)
        try:
            sys.modules[full] = importlib.import_module(name)
        finally:
            sys.path.remove(folder)
        for one in set(sys.modules) - before:
            if os.path.dirname(getattr(sys.modules[one], "__file__", None) or "") == folder and "." not in one:
                sys.modules[__package__ + ".peers." + one] = sys.modules.pop(one)
    return sys.modules[full]


# --- from PyTorch ----------------------------------------------------------------------------------------------------

class _Reader:
    """The layers between two values of a traced graph, from the last one back."""

    def __init__(self, module):
        self.modules = dict(module.named_modules())
        try:
            self.graph = fx.symbolic_trace(module).graph
        except Exception as problem:
            raise Refused("the module cannot be traced by torch.fx: %s" % str(problem).splitlines()[0]) from problem
        self.order = {node: number for number, node in enumerate(self.graph.nodes)}
        inputs = [node for node in self.graph.nodes if node.op == "placeholder" and node.users]
        if len(inputs) != 1:
            raise Refused("a model takes one tensor of images; this module takes %d" % len(inputs))
        self.input = inputs[0]
        result = next(node for node in self.graph.nodes if node.op == "output").args[0]
        if not isinstance(result, fx.Node):
            raise Refused("a model gives one tensor; this module gives a %s" % type(result).__name__)
        self.result = result

    def before(self, node):
        """All values that a value is made of, and itself."""
        found, todo = set(), [node]
        while todo:
            one = todo.pop()
            if one not in found:
                found.add(one)
                todo += one.all_input_nodes
        return found

    def between(self, start, end):
        """Specs of the layers that make `end` of `start`."""
        specs, node = [], end
        while node is not start:
            if node is self.input:
                raise Refused("%s: is not made from the value where its branch begins" % self.where(end))
            spec, node = self.layer(node)
            if spec:
                specs.insert(0, spec)
        return specs

    def where(self, node):
        return node.target if node.op == "call_module" else "%s (in the graph: %s)" % (
            getattr(node.target, "__name__", node.target), node.name)

    def layer(self, node):
        """The spec of what makes a value (None: nothing is done), and the value that it is made of."""
        name = self.where(node)
        if node.op == "call_module":
            module = self.modules[node.target]
            convert = MODULES.get(type(module))
            if not convert:
                raise Refused("%s: heddle has no layer for %s" % (name, type(module).__name__))
            return convert(name, module), node.args[0]
        if node.op == "call_function" and getattr(node.target, "__name__", "") in ("add", "iadd"):
            return self.residual(node)
        convert = {"call_function": FUNCTIONS, "call_method": METHODS}.get(node.op, {}).get(node.target)
        if not convert:
            raise Refused("%s: heddle has no layer for this %s" % (name, node.op.replace("call_", "")))
        arguments = [None if isinstance(one, fx.Node) else one for one in node.args[1:]]
        return convert(name, *arguments, **node.kwargs), node.args[0]

    def residual(self, node):
        name = self.where(node)
        sides = list(node.args[:2])
        if len(sides) != 2 or not all(isinstance(one, fx.Node) for one in sides) or node.kwargs:
            raise Refused("%s: only two branches of a residual block can be added" % name)
        common = self.before(sides[0]) & self.before(sides[1])
        if not common:
            raise Refused("%s: what is added does not come from one value" % name)
        start = max(common, key=self.order.get)
        branches = [self.between(start, side) for side in sides]
        if not any(branches):
            raise Refused("%s: a value is added to itself" % name)
        layers, projection = branches if len(branches[0]) >= len(branches[1]) else branches[::-1]
        return Spec("residual", name, {}, None, layers, projection), start


def _training(classes):
    """What a checkpoint says of a network that heddle has not trained: the defaults of a run that has not begun."""
    return json.dumps({
        "dataset": "", "fingerprint": "0" * 16, "seed": "0" * 16, "optimizer": "momentum", "schedule": "cosine",
        "kernels": "fused", "arithmetic": "full", "epochs": 1, "batch": 64, "learning_rate": 0.05, "momentum": 0.9,
        "beta2": 0.999, "epsilon": 1e-8, "weight_decay": 0, "border": 0.5,
        **({"classes": list(classes)} if classes else {}),
        "position": {"epoch": 0, "batch": 0, "step": 0, "left_out": 0, "loss_sum": 0, "correct": 0, "images": 0,
                     "epochs_done": 0, "train_loss": None, "train_accuracy": None, "test_loss": None,
                     "test_accuracy": None, "best_accuracy": None, "best_loss": None}})


def from_torch(module, path=None, input=(1, 28, 28), name="model", classes=None):
    """The model file of a PyTorch module, as a dictionary; with `path`, also a heddle checkpoint of its weights there.

    `input` is (channels, height, width) of an image, `classes` their names, if wanted. What heddle has no layer for is
    Refused, with the name of the submodule."""
    model_file = _peer("model_file")
    reader = _Reader(module)
    specs = reader.between(reader.input, reader.result)
    outputs = _features(specs)
    document = {"name": name, "input": dict(zip(("channels", "height", "width"), map(int, input)), classes=outputs),
                "layers": [spec.json() for spec in specs]}
    try:
        model = model_file.model_of(document, "model")
    except _peer("result_file").Trouble as problem:
        raise Refused("the module's layers do not fit an image of %s: %s" % ("×".join(map(str, input)), problem))
    if path is not None:
        values = {}
        for layer, spec in zip(model_file.walk(model.layers), _walk(specs)):
            values.update(_values(layer, spec))
        _peer("safetensors_file").write(os.fspath(path), values, {
            "heddle.model": json.dumps(document), "heddle.training": _training(classes)})
    return document


def _walk(specs):
    """In the order of model_file.walk."""
    for spec in specs:
        yield spec
        yield from _walk(spec.layers)
        yield from _walk(spec.projection)


def _features(specs):
    """Outputs of the last linear layer."""
    for spec in reversed(list(_walk(specs))):
        if spec.type == "linear":
            return spec.settings["features"]
    raise Refused("a model ends with a linear layer that gives one number per class; this module has none")


def _values(layer, spec):
    """{name: array} of a layer's parameters, by heddle's names."""
    values = {}
    for parameter in layer.parameters():
        own = getattr(spec.module, parameter.name.rsplit(".", 1)[1], None)
        if own is None:  # batchnorm and layernorm without weights of their own
            own = torch.full(parameter.shape, parameter.start)
        array = own.detach().to("cpu", torch.float32).numpy()
        if array.shape != parameter.shape:
            raise Refused("%s: its %s is %s, and the image makes it %s" % (
                spec.name, parameter.name.rsplit(".", 1)[1], array.shape, parameter.shape))
        if not np.isfinite(array).all():
            raise Refused("%s: has numbers that are not finite" % spec.name)
        values[parameter.name] = array
    return values


# --- to PyTorch ------------------------------------------------------------------------------------------------------

def to_torch(path):
    """A checkpoint's network as a module in evaluation mode: images (N, C, H, W) to (N, classes)."""
    files, path = _peer("safetensors_file"), os.fspath(path)
    if os.path.isdir(path):
        path = os.path.join(path, "best.safetensors")
    try:
        notes, arrays = files.metadata(path), files.read(path)
    except (OSError, ValueError, KeyError, IndexError) as problem:
        raise ValueError("%s: cannot be read as a checkpoint: %s" % (path, problem)) from problem
    except Exception as problem:  # struct.error of a file that is too short
        raise ValueError("%s: is not a safetensors file" % path) from problem
    if "heddle.model" not in notes:
        raise ValueError("%s: a safetensors file, but not a checkpoint of heddle" % path)
    model = _peer("model_file").model_of(json.loads(notes["heddle.model"]), path)
    network = _peer("network_torch").Network(model, 0, statistics=True)
    for name, value in network.values().items():
        if name not in arrays or arrays[name].shape != tuple(value.shape):
            raise ValueError("%s: '%s' is missing or has another shape than its model says" % (path, name))
        with torch.no_grad():
            value.copy_(torch.from_numpy(arrays[name]))
    return network.eval()

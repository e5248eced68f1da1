"""Reads heddle's model files (docs/models.md): the layers with every setting filled in, their shapes and their
parameters. network_torch.py and network_jax.py build the network from this. Standard library only, but for
initial values."""
import difflib
import math
import os

from result_file import Trouble, load

REQUIRED = object()
PIXELS = (1, 28, 28)  # an image by default
CLASSES = 10
MODELS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples", "models")

LAYOUTS = {"channels-last", "nchw", "reduce-window"}  # words of a peer's mode: they say how images lie in memory

POOLING = {"window": 2, "stride": 0, "padding": 0}
# Per type: what unnamed layers are called before their number, settings with their defaults, and whether a sample has to be
# an image (3), a row of features (1) or either (0).
TYPES = {
    "conv2d": ("conv", {"channels": REQUIRED, "kernel": 3, "stride": 1, "padding": 0, "dilation": 1, "groups": 1,
                        "bias": True, "decay": True}, 3),
    "batchnorm2d": ("norm", {"epsilon": 1e-5, "momentum": 0.1, "decay": True}, 3),
    "layernorm": ("layernorm", {"epsilon": 1e-5, "decay": True}, 0),
    **{name: (name, {}, 0) for name in ("relu", "tanh", "sigmoid", "elu", "gelu", "softplus", "swish")},
    "maxpool2d": ("pool", POOLING, 3),
    "avgpool2d": ("pool", POOLING, 3),
    "globalavgpool": ("pool", {}, 3),
    "flatten": ("flatten", {}, 0),
    "linear": ("linear", {"features": REQUIRED, "bias": True, "decay": True}, 1),
    "dropout": ("dropout", {"probability": 0.5}, 0),
    "log_softmax": ("log_softmax", {}, 1),
    "residual": ("residual", {"layers": REQUIRED, "projection": None}, 0),
}


class Parameter:
    """`bound`: a uniform start in ±bound; None: `start` in every element. Statistics are not `trained`."""

    def __init__(self, name, shape, bound=None, start=0.0, trained=True):
        self.name, self.shape, self.bound, self.start, self.trained = name, tuple(shape), bound, start, trained


class Layer:
    """Settings are attributes: layer.channels. `layers` and `projection` of a residual are lists of layers."""

    def __init__(self, kind, name, settings, shape):
        self.type, self.name, self.input = kind, name, tuple(shape)
        self.__dict__.update(settings)
        self.output = output_of(self)

    def parameters(self):
        """Those of the layer itself, without what is inside a residual."""
        if self.type in ("conv2d", "linear"):
            shape = (self.channels, self.input[0] // self.groups, self.kernel, self.kernel) \
                if self.type == "conv2d" else (self.features, self.input[0])
            bound = 1 / math.sqrt(math.prod(shape[1:]))
            made = [Parameter(self.name + ".weight", shape, bound)]
            return made + [Parameter(self.name + ".bias", shape[:1], bound)] if self.bias else made
        if self.type == "layernorm":
            return [Parameter(self.name + ".weight", self.input, start=1.0), Parameter(self.name + ".bias", self.input)]
        if self.type == "batchnorm2d":
            one = self.input[:1]
            return [Parameter(self.name + ".weight", one, start=1.0), Parameter(self.name + ".bias", one),
                    Parameter(self.name + ".running_mean", one, trained=False),
                    Parameter(self.name + ".running_var", one, start=1.0, trained=False)]
        return []


class Model:
    """`input`: (channels, height, width) of an image."""

    def __init__(self, name, shape, classes, layers):
        self.name, self.input, self.classes, self.layers = name, shape, classes, layers

    def has_layouts(self):
        """Whether a mode with one of LAYOUTS is a mode of its own."""
        return any(layer.type == "conv2d" for layer in walk(self.layers))

    def parameters(self):
        """All of them, in the order of the layers."""
        return [parameter for layer in walk(self.layers) for parameter in layer.parameters()]

    def initial(self, seed, statistics=False):
        """{name: array} of NumPy, from the distributions that heddle and PyTorch's own layers start with; with running
        statistics where asked for."""
        import numpy as np
        draw, values = np.random.default_rng(seed), {}
        for one in self.parameters():
            if one.bound is not None:
                values[one.name] = draw.uniform(-one.bound, one.bound, one.shape).astype(np.float32)
            elif one.trained or statistics:
                values[one.name] = np.full(one.shape, one.start, np.float32)
        return values


def walk(layers):
    """Every layer, those inside a residual after it: first its layers, then its projection."""
    for layer in layers:
        yield layer
        if layer.type == "residual":
            yield from walk(layer.layers)
            yield from walk(layer.projection)


# --- shapes ----------------------------------------------------------------------------------------------------------

def windows(layer, extent, stride):
    """Height and width after a window of `extent` pixels has moved over the image."""
    sizes = [(size + 2 * layer.padding - extent) // stride + 1 for size in layer.input[1:]]
    if min(sizes) < 1:
        raise Trouble("a window of %d does not fit into %d×%d pixels with padding %d" % (
            (extent,) + layer.input[1:] + (layer.padding,)))
    return tuple(sizes)


def output_of(layer):
    """The shape of a sample behind the layer."""
    if layer.type == "conv2d":
        if layer.input[0] % layer.groups or layer.channels % layer.groups:
            raise Trouble("%d groups do not divide %d input and %d output channels" % (
                layer.groups, layer.input[0], layer.channels))
        return (layer.channels,) + windows(layer, layer.dilation * (layer.kernel - 1) + 1, layer.stride)
    if layer.type in ("maxpool2d", "avgpool2d"):
        layer.stride = layer.stride or layer.window
        if 2 * layer.padding > layer.window:
            raise Trouble("padding %d is more than half of window %d" % (layer.padding, layer.window))
        return layer.input[:1] + windows(layer, layer.window, layer.stride)
    if layer.type == "globalavgpool":
        return layer.input[:1]
    if layer.type == "flatten":
        return (math.prod(layer.input),)
    if layer.type == "linear":
        return (layer.features,)
    if layer.type == "residual":
        inner, around = (one[-1].output if one else layer.input for one in (layer.layers, layer.projection))
        if inner != around:
            raise Trouble("the layers give %s and the %s %s: %s" % (
                "×".join(map(str, inner)), "projection" if layer.projection else "input", "×".join(map(str, around)),
                "make them equal" if layer.projection else "a projection has to bring the input to that size"))
        return inner
    return layer.input


# --- reading ---------------------------------------------------------------------------------------------------------

def suggestion(name, known):
    near = difflib.get_close_matches(name, known, 1)
    return "; did you mean '%s'?" % near[0] if near else ""


def settings_of(where, given, classes):
    """The type, and every setting with its value or default."""
    if not isinstance(given, dict) or not isinstance(given.get("type"), str):
        raise Trouble("%s: a layer is an object such as {\"type\": \"relu\"}" % where)
    kind = given["type"]
    if kind not in TYPES:
        raise Trouble("%s: there is no layer type '%s'%s" % (where, kind, suggestion(kind, TYPES)))
    known = TYPES[kind][1]
    for name in given:
        if name not in known and name not in ("type", "name"):
            raise Trouble("%s: %s has no setting '%s'%s" % (where, kind, name, suggestion(name, known)))
    settings = {name: given.get(name, default) for name, default in known.items()}
    for name, value in settings.items():
        if value is REQUIRED:
            raise Trouble("%s: '%s' of %s is missing" % (where, name, kind))
        if name == "features" and value == "classes":
            settings[name] = classes
    return kind, settings


def layers_of(where, given, shape, classes, prefix=""):
    """Layers of a list, each from the output of the one before. Unnamed ones are counted by what they are called; those
    inside a residual have its name before their own."""
    layers, counts = [], {}
    for number, one in enumerate(given):
        place = "%s, layer %d" % (where, number + 1)
        kind, settings = settings_of(place, one, classes)
        short, _, rank = TYPES[kind]
        counts[short] = counts.get(short, 0) + 1
        name = prefix + one.get("name", "%s%d" % (short, counts[short]))
        if rank and rank != len(shape):
            raise Trouble("%s: %s takes %s, not %s" % (place, kind, "features" if rank == 1 else "images",
                                                       "×".join(map(str, shape))))
        if kind == "residual":
            settings["layers"] = layers_of(place, settings["layers"], shape, classes, name + ".")
            settings["projection"] = layers_of(place + ", projection", settings["projection"] or [], shape, classes,
                                               name + ".projection.")
        if any(layer.name == name for layer in layers):
            raise Trouble("%s: another layer is called '%s' too" % (place, name))
        try:
            layers.append(Layer(kind, name, settings, shape))
        except Trouble as trouble:
            raise Trouble("%s: %s: %s" % (place, kind, trouble))
        shape = layers[-1].output
    return layers


def path_of(name):
    """A file, or the name of one in examples/models: "cnn"."""
    inside = os.path.join(MODELS, name + ".json")
    return inside if not os.path.exists(name) and os.path.exists(inside) else name


def model_of(document, where, shape=None, classes=None):
    """`shape` and `classes` override the document's; the default is 1×28×28 and 10."""
    if not isinstance(document, dict) or not isinstance(document.get("layers"), list):
        raise Trouble("%s: a model is an object with \"layers\"" % where)
    own = document.get("input", {})
    shape = tuple(shape or (own.get(name, size) for name, size in zip(("channels", "height", "width"), PIXELS)))
    classes = classes or own.get("classes", CLASSES)
    layers = layers_of(where, document["layers"], shape, classes)
    if not layers or layers[-1].output != (classes,):
        raise Trouble("%s: the last layer must give %d features, one per class" % (where, classes))
    return Model(document.get("name", "model"), shape, classes, layers)


def read(name, shape=None, classes=None):
    path = path_of(name)
    return model_of(load(path), path, shape, classes)

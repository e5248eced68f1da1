"""Training steps and predictions of a network in PyTorch, in every way worth trying. Not a program.

A mode is a few words: a mode of the compiler (compile, reduce-overhead, max-autotune), `graph` for all of it captured
in one CUDA graph, `channels-last`. For training: `whole-step` compiles gather, forward, backward and update as one
function. For predictions: `folded` has batchnorm folded into the convolutions, `pipelined` has two batches under way,
so that the copies of one run beside the work of the other.

A job is made in two parts. Making it compiles, which several processes may do at once. Its `begin` lets cuDNN choose
kernels by timing them and captures the graph: with nothing else on the GPU.
"""

import contextlib

import torch
import torch.nn.functional as F

import network_torch

WARM_UP = 11  # calls before a capture; compilers and cuDNN choose here
SEED = 3  # of initial values
SLOTS = 2  # batches in host memory, and under way in a pipelined mode


def synthetic(count, shape, classes, device, seed=1):
    """A smooth pattern per class with noise, as bytes, and the labels: something a network can learn."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, classes, (count,), generator=generator).to(device)
    patterns = F.interpolate(torch.randn(classes, shape[0], 7, 7, generator=generator), size=shape[1:],
                             mode="bicubic").to(device)
    images = torch.empty((count,) + tuple(shape), dtype=torch.uint8, device=device)
    for begin in range(0, count, 8192):
        part = labels[begin:begin + 8192]
        noise = torch.randn((len(part),) + tuple(shape), generator=generator).to(device)
        images[begin:begin + 8192] = (110 * patterns[part] + 40 * noise - 30).clamp(0, 255).to(torch.uint8)
    return images, labels


def layout_of(words):
    return torch.channels_last if "channels-last" in words else torch.contiguous_format


def compiler(words):
    """torch.compile in the mode that the words name; without one, the function as it is."""
    if "reduce-overhead" in words:
        return lambda function: torch.compile(function, mode="reduce-overhead", dynamic=False)
    if "max-autotune" in words:
        mode = "max-autotune-no-cudagraphs" if "graph" in words else "max-autotune"
        return lambda function: torch.compile(function, mode=mode, dynamic=False)
    if "compile" in words:
        return lambda function: torch.compile(function, dynamic=False)
    return lambda function: function


def captures_itself(words):
    """Whether the compiler captures graphs: it then has to be told where a step begins."""
    return "reduce-overhead" in words or ("max-autotune" in words and "graph" not in words)


def compiles(words):
    return not {"compile", "reduce-overhead", "max-autotune"}.isdisjoint(words)


@contextlib.contextmanager
def without_choosing(words):
    """cuDNN takes what its heuristics name and times nothing. PyTorch keeps what was taken, by the sizes of a
    convolution and by whether it is to be deterministic, and never asks again for the same: so it is here, and later it
    is not. A compiler that captures graphs does so in its second call: there it has to have chosen in the first."""
    cudnn = torch.backends.cudnn
    before = cudnn.benchmark, cudnn.deterministic
    if not captures_itself(words):
        cudnn.benchmark, cudnn.deterministic = False, True
    try:
        yield
    finally:
        cudnn.benchmark, cudnn.deterministic = before


def captured(call, before=lambda: None, pool=None):
    """The call in one CUDA graph; `before` is called before every call that warms up. Warming up runs the call. Graphs
    that never run at the same time may have one pool of memory."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(WARM_UP):
            before()
            call()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    before()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool, stream=side):  # with the workspaces that cuBLAS has for this stream alone
        result = call()

    def replay():
        graph.replay()
        return result

    replay.graph = graph  # lives as long as the function
    return replay


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize()


def network_of(model, words, precision, device, statistics=False):
    """On the device, as the mode and the precision have it."""
    made = network_torch.Network(model, SEED, statistics)
    return made.to(device, network_torch.storage_dtype(precision), memory_format=layout_of(words))


# --- training --------------------------------------------------------------------------------------------------------

class Batches:
    """Images and labels that stay on the device, gathered in shuffled order, one batch per call. The position is a
    number on the device, so that a captured graph goes on to the next batch in each replay."""

    def __init__(self, images, labels, batch, precision, layout, seed=2):
        self.steps = len(images) // batch
        generator = torch.Generator().manual_seed(seed)
        order = torch.randperm(len(images), generator=generator)[:self.steps * batch]
        self.images, self.labels = images, labels
        self.order = order.view(self.steps, batch).to(images.device)
        self.position = torch.zeros(1, dtype=torch.int64, device=images.device)
        self.dtype, self.layout = network_torch.storage_dtype(precision), layout

    def load(self):
        index = self.order.index_select(0, self.position).view(-1)
        self.position.add_(1)
        images = self.images[index].to(self.dtype).mul_(1 / 255)
        return images.contiguous(memory_format=self.layout), self.labels[index]

    def restart(self):
        self.position.zero_()


def step_by_step(words, precision, network, batches, optimizer):
    """Forward and loss, perhaps compiled; autograd; PyTorch's optimiser in one launch."""
    scale, device = network_torch.loss_scale(precision), batches.images.device.type
    update = torch.optim.SGD(network.parameters(), lr=optimizer.lr / scale, momentum=optimizer.momentum,
                             weight_decay=optimizer.weight_decay * scale, fused=device == "cuda" or None)

    def loss_of(images, labels):
        with network_torch.autocast(precision, device):
            logits = network(images)
        return scale * F.cross_entropy(logits.float(), labels)

    call = compiler(words)(loss_of)

    def step():
        images, labels = batches.load()
        loss = call(images, labels)
        loss.backward()
        update.step()
        update.zero_grad(set_to_none=True)
        return loss.detach() / scale

    return step


def whole_step(words, precision, network, batches, optimizer):
    """Gather, forward, backward and update as one function that the compiler sees whole."""
    values = {name: value.detach() for name, value in network.values().items()}
    velocity = {name: torch.zeros_like(value) for name, value in values.items()} if optimizer.momentum else {}
    scale, device = network_torch.loss_scale(precision), batches.images.device.type

    def loss_of(values, images, labels):
        with network_torch.autocast(precision, device):
            logits = network_torch.forward(network.layers, values, images)
        return scale * F.cross_entropy(logits.float(), labels)

    def step(values, velocity, order, position, all_images, all_labels):
        index = order.index_select(0, position).view(-1)
        images = (all_images[index].to(batches.dtype) * (1 / 255)).contiguous(memory_format=batches.layout)
        gradients, loss = torch.func.grad_and_value(loss_of)(values, images, all_labels[index])
        for name, value in values.items():
            gradient = gradients[name]
            if optimizer.weight_decay:
                gradient = gradient + optimizer.weight_decay * scale * value
            if optimizer.momentum:
                gradient = velocity[name].mul_(optimizer.momentum).add_(gradient)
            value.sub_(gradient, alpha=optimizer.lr / scale)
        position.add_(1)
        return loss / scale

    call = compiler(words)(step)

    def run():
        with torch.no_grad():
            return call(values, velocity, batches.order, batches.position, batches.images, batches.labels)

    return run


def training(model, mode, precision, batch, data, optimizer):
    """(begin, loss): begin() gives a function that runs `steps` steps and waits for the last; loss() is of the last
    step."""
    words, (images, labels) = mode.split(), data
    network = network_of(model, words, precision, images.device)
    batches = Batches(images, labels, batch, precision, layout_of(words))
    build = whole_step if "whole-step" in words else step_by_step
    step = build(words, precision, network, batches, optimizer)
    state = {"loss": None, "done": 0}
    if compiles(words):
        with without_choosing(words):
            step()
            wait(images.device)

    def begin():
        call = captured(step, batches.restart) if "graph" in words else step

        def run(steps):
            for _ in range(steps):
                if state["done"] % batches.steps == 0:
                    batches.restart()
                if captures_itself(words):
                    torch.compiler.cudagraph_mark_step_begin()
                state["loss"] = call()
                state["done"] += 1
            wait(images.device)

        return run

    return begin, lambda: state["loss"].item()


# --- predictions -----------------------------------------------------------------------------------------------------

class Predictions:
    """Batches in host memory, and the probabilities that come back there: pinned where there is a GPU. `images`:
    (SLOTS, batch, C, H, W), bytes or floats."""

    def __init__(self, model, words, precision, images, device):
        network = network_of(model, words, precision, device, statistics=True).eval()
        layers, values = network.layers, network.values()
        if "folded" in words:
            with torch.no_grad():
                layers, values = network_torch.without_batch_norms(layers, values)
        dtype, layout, scaled = network_torch.storage_dtype(precision), layout_of(words), images.dtype == torch.uint8

        def probabilities(batch):
            x = batch.to(dtype)
            x = (x * (1 / 255) if scaled else x).contiguous(memory_format=layout)
            with network_torch.autocast(precision, device.type):
                logits = network_torch.forward(layers, values, x, False)
            return logits.float().softmax(1)

        self.call, self.device = compiler(words)(probabilities), device
        pin = device.type == "cuda"
        self.input = [one.clone().pin_memory() if pin else one.clone() for one in images]
        self.arrived = [torch.empty_like(one, device=device) for one in self.input]
        self.output = [torch.empty(len(one), model.classes, pin_memory=pin) for one in self.input]

    def run(self, slot):
        self.arrived[slot].copy_(self.input[slot], non_blocking=True)
        self.output[slot].copy_(self.call(self.arrived[slot]), non_blocking=True)


def captured_slots(runs, pipelined):
    """A graph per slot. Those of a pipelined mode run at the same time, and share no memory."""
    if pipelined:
        return [captured(run) for run in runs]
    pool = torch.cuda.graph_pool_handle()
    return [captured(run, pool=pool) for run in runs]


def prediction(model, mode, precision, images, device):
    """(begin, probabilities): begin() gives a function that predicts `count` batches, one after the other or pipelined;
    probabilities() are those of the first slot."""
    words, device = mode.split(), torch.device(device)
    with torch.no_grad():
        made = Predictions(model, words, precision, images, device)
        if compiles(words):
            with without_choosing(words):
                made.run(0)
                wait(device)

    def begin():
        runs = [lambda slot=slot: made.run(slot) for slot in range(SLOTS)]
        pipelined = "pipelined" in words
        with torch.no_grad():
            runs = captured_slots(runs, pipelined) if "graph" in words else runs
        streams = [torch.cuda.Stream() for _ in runs] if pipelined else None

        def run(count):
            with torch.no_grad():
                for number in range(count):
                    slot = number % SLOTS
                    if captures_itself(words):
                        torch.compiler.cudagraph_mark_step_begin()
                    if streams is None:
                        runs[slot]()
                        wait(device)
                    else:
                        streams[slot].synchronize()  # what this slot gave before is taken
                        with torch.cuda.stream(streams[slot]):
                            runs[slot]()
            wait(device)

        run(2 * SLOTS)  # cuDNN chooses here, where no graph was captured
        return run

    return begin, lambda: made.output[0].clone()

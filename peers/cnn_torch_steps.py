"""One training step of the CNN in PyTorch in every way worth trying: eager, compiled, captured in a CUDA graph, the
whole step as one compiled function. Not a program.

A mode is a few words: a compiler's mode (compile, reduce-overhead, max-autotune), `graph` for the whole step captured
in one CUDA graph, `channels-last`, `whole-step` for gather, forward, backward and update compiled as one function.
"""

import torch
import torch.nn.functional as F

import cnn_torch

WARM_UP = 11  # calls before a capture; compilers and cuDNN choose here


def make(mode, precision, batch, images, labels):
    """A function that runs one step and returns its loss, and the batches it draws from."""
    words = mode.split()
    layout = torch.channels_last if "channels-last" in words else torch.contiguous_format
    torch.manual_seed(3)
    model = cnn_torch.network().to(images.device, cnn_torch.storage_dtype(precision), memory_format=layout)
    batches = cnn_torch.Batches(images, labels, batch, precision, layout)
    build = whole_step if "whole-step" in words else step_by_step
    step = build(words, precision, model, batches)
    return (captured(step, batches) if "graph" in words else step), batches


def compiler(words):
    """torch.compile in the mode that the words name; None: none."""
    if "reduce-overhead" in words:
        return lambda function: torch.compile(function, mode="reduce-overhead", dynamic=False)
    if "max-autotune" in words:
        mode = "max-autotune-no-cudagraphs" if "graph" in words else "max-autotune"
        return lambda function: torch.compile(function, mode=mode, dynamic=False)
    if "compile" in words:
        return lambda function: torch.compile(function, dynamic=False)
    return None


def step_by_step(words, precision, model, batches):
    """Forward and loss, perhaps compiled; autograd; the optimiser that is one launch."""
    scale = cnn_torch.loss_scale(precision)
    device = batches.images.device.type
    optimizer = torch.optim.SGD(model.parameters(), lr=cnn_torch.LEARNING_RATE / scale, fused=device == "cuda" or None)
    compiled = compiler(words)

    def loss_of(images, labels):
        with cnn_torch.autocast(precision, device):
            logits = model(images)
        return scale * F.cross_entropy(logits.float(), labels)

    call = compiled(loss_of) if compiled else loss_of

    def step():
        images, labels = batches.load()
        loss = call(images, labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.detach() / scale

    return step


def whole_step(words, precision, model, batches):
    """Gather, forward, backward and update as one function that the compiler sees whole."""
    parameters = [one.detach() for one in model.parameters()]
    scale = cnn_torch.loss_scale(precision)
    device = batches.images.device.type

    def loss_of(values, images, labels):
        with cnn_torch.autocast(precision, device):
            logits = cnn_torch.forward(values, images)
        return scale * F.cross_entropy(logits.float(), labels)

    def step(values, order, position, all_images, all_labels):
        index = order.index_select(0, position).view(-1)
        images = (all_images[index].to(batches.dtype) * (1 / 255)).contiguous(memory_format=batches.layout)
        gradients, loss = torch.func.grad_and_value(loss_of)(values, images, all_labels[index])
        for value, gradient in zip(values, gradients):
            value.sub_(gradient, alpha=cnn_torch.LEARNING_RATE / scale)
        position.add_(1)
        return loss / scale

    call = compiler(words)(step)

    def run():
        with torch.no_grad():
            return call(parameters, batches.order, batches.position, batches.images, batches.labels)

    return run


def captured(step, batches):
    """The step in one CUDA graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(WARM_UP):
            batches.restart()
            step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    batches.restart()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay():
        graph.replay()
        return loss

    replay.graph = graph  # lives as long as the function
    return replay

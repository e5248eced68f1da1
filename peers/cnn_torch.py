"""The course's CNN in PyTorch, as the measurements on a GPU share it: network, initial values, precisions, data that
stays on the device. Not a program."""

import contextlib

import torch
import torch.nn.functional as F
from torch import nn

LEARNING_RATE = 0.05
LOSS_SCALE = 1024.0  # for fp16; with plain SGD a constant scale is undone in the learning rate, at no cost
EPSILON = 1e-5

# heddle's names of the parameters, in the order of the layers.
NAMES = ["conv1.weight", "conv1.bias", "norm1.weight", "norm1.bias", "conv2.weight", "conv2.bias",
         "norm2.weight", "norm2.bias", "linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias"]

# What each precision computes in. "-pure": parameters and all of the network in that type, no float32 copy of them.
PRECISIONS = ("fp32", "tf32", "bf16", "bf16-pure", "fp16", "fp16-pure")


def compute_dtype(precision):
    return {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision.split("-")[0], torch.float32)


def storage_dtype(precision):
    return compute_dtype(precision) if precision.endswith("-pure") else torch.float32


def set_precision(precision):
    """The switches that are the process's; autocast is a mode's own."""
    torch.backends.cuda.matmul.allow_tf32 = precision != "fp32"
    torch.backends.cudnn.allow_tf32 = precision != "fp32"
    torch.backends.cudnn.benchmark = True


def autocast(precision, device):
    if storage_dtype(precision) == compute_dtype(precision):
        return contextlib.nullcontext()
    # Without its cache of cast weights: a graph that is captured must cast them anew in every replay.
    return torch.autocast(device, compute_dtype(precision), cache_enabled=False)


def loss_scale(precision):
    return LOSS_SCALE if precision.startswith("fp16") else 1.0


def network(running_statistics=False):
    """Without running statistics it is a little less work than heddle does; the peers may have that."""
    def norm(channels):
        return nn.BatchNorm2d(channels, eps=EPSILON, track_running_stats=running_statistics)
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), norm(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), norm(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 128), nn.ReLU(), nn.Linear(128, 10))


def forward(parameters, images):
    """The same as a function of its parameters, in the order of NAMES."""
    conv1, bias1, gamma1, beta1, conv2, bias2, gamma2, beta2, hidden, hidden_bias, last, last_bias = parameters
    x = F.conv2d(images, conv1, bias1, padding=1)
    x = F.max_pool2d(F.relu(F.batch_norm(x, None, None, gamma1, beta1, True, 0.1, EPSILON)), 2)
    x = F.conv2d(x, conv2, bias2, padding=1)
    x = F.max_pool2d(F.relu(F.batch_norm(x, None, None, gamma2, beta2, True, 0.1, EPSILON)), 2)
    x = F.relu(F.linear(x.flatten(1), hidden, hidden_bias))
    return F.linear(x, last, last_bias)


def synthetic(count, device, seed=1):
    """Ten smooth shapes with noise, as bytes, and their labels: something a network can learn."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 10, (count,), generator=generator).to(device)
    shapes = F.interpolate(torch.randn(10, 1, 7, 7, generator=generator), size=28, mode="bicubic").to(device)
    images = torch.empty(count, 1, 28, 28, dtype=torch.uint8, device=device)
    for begin in range(0, count, 8192):
        part = labels[begin:begin + 8192]
        noise = torch.randn(len(part), 1, 28, 28, generator=generator).to(device)
        images[begin:begin + 8192] = (110 * shapes[part] + 40 * noise - 30).clamp(0, 255).to(torch.uint8)
    return images, labels


class Batches:
    """Images and labels that stay on the device, gathered in shuffled order, a batch a call. The position is a number
    on the device, so that a captured graph goes on to the next batch in each replay."""

    def __init__(self, images, labels, batch, precision, layout, seed=2):
        device = images.device
        self.steps = len(images) // batch
        generator = torch.Generator().manual_seed(seed)
        order = torch.randperm(len(images), generator=generator)[:self.steps * batch]
        self.images, self.labels = images, labels
        self.order = order.view(self.steps, batch).to(device)
        self.position = torch.zeros(1, dtype=torch.int64, device=device)
        self.dtype = storage_dtype(precision)
        self.layout = layout

    def load(self):
        index = self.order.index_select(0, self.position).view(-1)
        self.position.add_(1)
        images = self.images[index].to(self.dtype).mul_(1 / 255)
        return images.contiguous(memory_format=self.layout), self.labels[index]

    def restart(self):
        self.position.zero_()

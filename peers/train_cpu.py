"""The course's CNN in PyTorch on this CPU, in every configuration worth trying, fastest marked by the caller.

Prints one JSON object a line: {"job": "train", "batch": 64, "mode": "channels-last eager", "threads": 2, "rate": 1600}.
The network, loss, optimiser and what a step includes are the same as heddle's: batch load from bytes in memory in
shuffled order, forward, backward, update, zero-grad.
"""

import argparse
import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

IMAGES = 8192  # resident, as bytes; enough that no batch repeats while measuring


def network():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 128), nn.ReLU(), nn.Linear(128, 10))


def folded(model):
    """The same network with each batchnorm folded into the convolution before it, as for deployment."""
    layers, result = list(model), []
    for layer in layers:
        if isinstance(layer, nn.BatchNorm2d):
            result[-1] = fuse_conv_bn_eval(result[-1], layer)
        else:
            result.append(layer)
    return nn.Sequential(*result)


class Batches:
    """Shuffled batches from bytes, as float images in [0, 1]."""

    def __init__(self, batch, layout):
        generator = torch.Generator().manual_seed(1)
        self.images = torch.randint(0, 256, (IMAGES, 1, 28, 28), dtype=torch.uint8, generator=generator)
        self.labels = torch.randint(0, 10, (IMAGES,), generator=generator)
        self.order = torch.randperm(IMAGES, generator=generator)
        self.batch, self.layout, self.next = batch, layout, 0

    def load(self):
        if self.next + self.batch > IMAGES:
            self.next = 0
        index = self.order[self.next:self.next + self.batch]
        self.next += self.batch
        images = self.images[index].to(torch.float32).div_(255)
        return images.contiguous(memory_format=self.layout), self.labels[index]


def step_function(job, batch, mode):
    layout = torch.channels_last if "channels-last" in mode else torch.contiguous_format
    model = network().to(memory_format=layout)
    model.train(job == "train")
    if "folded" in mode:
        model = folded(model).to(memory_format=layout)
    batches = Batches(batch, layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    call = torch.compile(model) if "compile" in mode else model

    def train():
        images, labels = batches.load()
        loss = F.cross_entropy(call(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    def infer():
        images, _ = batches.load()
        with torch.inference_mode():
            call(images).softmax(1)

    return train if job == "train" else infer


def rate(step, batch, seconds, rounds):
    """Median images per second over several rounds after a warm-up."""
    for _ in range(5):
        step()
    rates = []
    for _ in range(rounds):
        count, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < seconds:
            step()
            count += 1
        rates.append(count * batch / (time.perf_counter() - begin))
    return sorted(rates)[len(rates) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--threads", type=int, nargs="+", default=None, help="thread counts to try; all up to the cores")
    parser.add_argument("--job", nargs="+", choices=["train", "infer"], default=["train", "infer"])
    parser.add_argument("--mode", nargs="+", default=["eager", "channels-last eager", "compile", "channels-last compile",
                                                      "folded eager", "channels-last folded eager", "folded compile",
                                                      "channels-last folded compile"], help="folded: for infer alone")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    cores = torch.get_num_threads()
    threads = arguments.threads or sorted({1, max(1, cores // 2), cores})
    for job in arguments.job:
        for batch in arguments.batch:
            for mode in arguments.mode:
                if job == "train" and "folded" in mode:
                    continue
                for count in threads:
                    torch.set_num_threads(count)
                    torch.compiler.reset()
                    try:
                        measured = rate(step_function(job, batch, mode), batch, arguments.seconds, arguments.rounds)
                    except Exception as error:  # a mode this machine cannot run is no reason to lose the others
                        print(f"{job} batch {batch} {mode}: {str(error).splitlines()[0]}", file=sys.stderr)
                        continue
                    print(json.dumps({"job": job, "batch": batch, "mode": mode, "threads": count, "rate": measured,
                                      "torch": torch.__version__}), flush=True)


if __name__ == "__main__":
    main()

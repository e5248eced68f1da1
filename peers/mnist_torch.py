#!/usr/bin/env python3
"""A model file's network trained by PyTorch on a folder in MNIST's layout, with heddle's settings. Prints one JSON
object per line, as `heddle train --json` does.

    peers/mnist_torch.py --data FOLDER [--model FILE] [--precision tf32] [--seeds 1,2] [--epochs 5] [--until 0.99]
                         [--save FILE] ...

A step is captured in one CUDA graph (the short last batch of an epoch runs eagerly); images stay on the GPU as bytes.
"""

import argparse
import gzip
import json
import os
import sys
import time

BEGAN = time.perf_counter()
sys.dont_write_bytecode = True  # nothing is left in the source tree
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import jobs_torch  # noqa: E402
import model_file  # noqa: E402
import network_torch  # noqa: E402
import result_file  # noqa: E402

EVALUATION_BATCH = 5000


def read_idx(folder, name, header):
    path = os.path.join(folder, name)
    opened = open(path, "rb") if os.path.exists(path) else gzip.open(path + ".gz", "rb")
    with opened as file:
        return torch.frombuffer(bytearray(file.read()[header:]), dtype=torch.uint8)


def load(folder, split, device):
    images = read_idx(folder, split + "-images-idx3-ubyte", 16).view(-1, 1, 28, 28)
    labels = read_idx(folder, split + "-labels-idx1-ubyte", 8)
    return images.to(device), labels.to(device).long()


class Run:
    """One training run; everything a step needs is on the device."""

    def __init__(self, options, seed, images, labels):
        self.options, self.images, self.labels = options, images, labels
        self.device = images.device
        torch.manual_seed(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.dtype = network_torch.storage_dtype(options.precision)
        self.model = network_torch.Network(options.network, seed, statistics=True).to(
            self.device, self.dtype, memory_format=torch.channels_last)
        self.parameters = list(self.model.parameters())
        self.velocity = [torch.zeros_like(one) for one in self.parameters]
        self.scale = network_torch.loss_scale(options.precision)
        self.whole, rest = divmod(len(images), options.batch)
        steps = options.epochs * (self.whole + (rest > 0))
        rates = options.lr * (1 - torch.arange(steps, dtype=torch.float64) / steps) / self.scale
        self.rates = rates.float().to(self.device)
        self.order = torch.zeros(len(images), dtype=torch.int64, device=self.device)
        self.lanes = torch.arange(options.batch, device=self.device)
        self.position = torch.zeros(1, dtype=torch.int64, device=self.device)  # in the order
        self.taken = torch.zeros(1, dtype=torch.int64, device=self.device)  # steps
        self.run_step = lambda: self.step(self.lanes)

    def step(self, lanes):
        index = self.order.index_select(0, self.position + lanes)
        images = self.images[index].to(self.dtype).mul_(1 / 255)
        with network_torch.autocast(self.options.precision, self.device.type):
            logits = self.model(images.contiguous(memory_format=torch.channels_last))
        loss = F.cross_entropy(logits.float(), self.labels[index])
        gradients = list(torch.autograd.grad(loss * self.scale, self.parameters))
        with torch.no_grad():
            if self.options.momentum > 0:
                torch._foreach_mul_(self.velocity, self.options.momentum)
                torch._foreach_add_(self.velocity, gradients)
                gradients = self.velocity
            rate = self.rates.index_select(0, self.taken).view(())
            torch._foreach_sub_(self.parameters, torch._foreach_mul(gradients, rate))
            self.position.add_(len(lanes))
            self.taken.add_(1)

    def capture(self):
        """The step as a graph. Warming up trains, so everything is put back afterwards."""
        kept = [one.clone() for one in self.state()]
        self.run_step = jobs_torch.captured(self.run_step, self.restart)
        with torch.no_grad():
            for one, value in zip(self.state(), kept):
                one.copy_(value)

    def restart(self):
        self.position.zero_()
        self.taken.zero_()

    def state(self):
        return list(self.model.state_dict().values()) + self.velocity + [self.position, self.taken]

    def epoch(self):
        self.order.copy_(torch.randperm(len(self.order), generator=self.generator))
        self.position.zero_()
        for _ in range(self.whole):
            self.run_step()
        rest = len(self.images) - self.whole * self.options.batch
        if rest:
            self.step(self.lanes[:rest])

    def accuracy(self, images, labels):
        self.model.eval()
        right = 0
        with torch.inference_mode(), network_torch.autocast(self.options.precision, self.device.type):
            for begin in range(0, len(images), EVALUATION_BATCH):
                part = images[begin:begin + EVALUATION_BATCH].to(self.dtype) / 255
                found = self.model(part.contiguous(memory_format=torch.channels_last)).argmax(1)
                right += (found == labels[begin:begin + EVALUATION_BATCH]).sum().item()
        self.model.train()
        return right / len(images)


def say(**row):
    print(json.dumps(row), flush=True)


def train(options, seed, data):
    run = Run(options, seed, *data[0])
    if run.device.type == "cuda" and not options.eager:
        run.capture()
    begin, accuracy, best = time.perf_counter(), 0.0, 0.0
    for epoch in range(options.epochs):
        run.epoch()
        accuracy = run.accuracy(*data[1])
        best = max(best, accuracy)
        say(event="evaluated", seed=seed, epoch=epoch + 1, accuracy=accuracy)
        if options.until and accuracy >= options.until:
            break
    if options.save:
        torch.save(run.model.state_dict(), options.save)
    say(event="result", seed=seed, epochs=epoch + 1, test_accuracy=accuracy, best_accuracy=best,
        reached=bool(options.until) and accuracy >= options.until, seconds=time.perf_counter() - begin,
        since_start=time.perf_counter() - BEGAN, torch=torch.__version__)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, metavar="FOLDER")
    parser.add_argument("--model", default="cnn", metavar="FILE",
                        help="model file, or the name of one in examples/models (default: cnn)")
    parser.add_argument("--precision", default="tf32", choices=network_torch.PRECISIONS)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--momentum", type=float, default=0.0)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seeds", type=lambda text: [int(one) for one in text.split(",")], default=[1])
    parser.add_argument("--until", type=float)
    parser.add_argument("--save", metavar="FILE")
    parser.add_argument("--eager", action="store_true", help="no CUDA graph")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    options = parser.parse_args()
    network_torch.set_precision(options.precision)
    # Trying cuDNN's kernels takes seconds: in a race to an accuracy it would cost more than it gains.
    torch.backends.cudnn.benchmark = not options.until
    data = [load(options.data, split, options.device) for split in ("train", "t10k")]
    try:
        options.network = model_file.read(options.model, data[0][0].shape[1:])
    except result_file.Trouble as trouble:
        parser.error(str(trouble))
    for seed in options.seeds:
        train(options, seed, data)
    return 0


if __name__ == "__main__":
    sys.exit(main())

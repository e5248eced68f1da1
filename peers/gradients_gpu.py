#!/usr/bin/env python3
"""The gradients of one training step against float64, heddle's and PyTorch's in the same precision.

    peers/gradients_gpu.py [--heddle PROGRAM] [--batches 1,7,64] [--precisions fp32,tf32] [--kernels fused,naive]
                           [--seeds N] [--json FILE]

`heddle bench train --gradients` writes the parameters, the batch and the gradients of the trainer's own first step;
PyTorch computes the same in float64 and in the precision that is compared. An error is the L2 norm of the difference
relative to that of the gradient, the median over the seeds: at a small batch one rounding that moves a relu or the winner
of a pooling window over its edge moves a gradient far, and it is luck which program that happens to. The gradient of a convolution's bias in front of a
batchnorm is zero but for rounding: its error is relative to the gradient of the same layer's weight.
"""

import argparse
import concurrent.futures
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is left in the source tree
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import cnn_torch  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PRECISIONS = ["fp32", "tf32x3", "tf32", "fp16", "bf16"]
PEER_OF = {"tf32x3": "fp32"}
# How many times PyTorch's error in the same precision is allowed: three tf32 products are not quite float32, and naive
# kernels add thousands of numbers one after the other.
ALLOWED = {"tf32x3": 10, "naive": 20}
USUALLY_ALLOWED = 2
TYPES = {"F32": torch.float32, "U8": torch.uint8, "I32": torch.int32}
# Below this an error is rounding of what is compared, not of how it was computed.
FLOOR = 1e-7


def read_safetensors(path):
    with open(path, "rb") as file:
        content = file.read()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    header.pop("__metadata__", None)
    arrays = {}
    for name, one in header.items():
        begin, end = (8 + length + offset for offset in one["data_offsets"])
        arrays[name] = torch.frombuffer(bytearray(content[begin:end]), dtype=TYPES[one["dtype"]]).view(one["shape"])
    return arrays


def step_of_heddle(options, kernels, precision, batch, seed):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "step.safetensors")
        done = subprocess.run([options.heddle, "bench", "train", "--device", options.heddle_device, "--kernels",
                               kernels, "--precision", precision, "--batch", str(batch), "--seed", str(seed), "--data",
                               options.data, "--gradients", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stdout.strip()[-300:])
        return read_safetensors(path)


def gradients_of_torch(step, precision, device):
    """{name: gradient in float64} of the batch in the file, computed in a precision of PyTorch, or in float64."""
    wide = precision == "fp64"
    dtype = torch.float64 if wide else torch.float32
    cnn_torch.set_precision("fp32" if wide else precision)
    torch.backends.cudnn.benchmark = False  # the same kernels every time
    values = [step["parameters/" + name].to(device, dtype).requires_grad_() for name in cnn_torch.NAMES]
    images = step["images"].to(device).to(dtype) / 255
    labels = step["labels"].to(device).long()
    scale = cnn_torch.loss_scale(precision)
    with cnn_torch.autocast(precision if not wide else "fp32", device):
        logits = cnn_torch.forward(values, images)
    loss = F.cross_entropy(logits.to(dtype), labels)
    gradients = torch.autograd.grad(loss * scale, values)
    return {name: gradient.double() / scale for name, gradient in zip(cnn_torch.NAMES, gradients)}


def errors(found, right):
    result = {}
    for name in cnn_torch.NAMES:
        vanishes = name in ("conv1.bias", "conv2.bias")
        against = right[name.replace("bias", "weight") if vanishes else name]
        result[name] = ((found[name] - right[name]).norm() / against.norm()).item()
    return result


def over_seeds(rows, statistic):
    return {name: statistic([row[name] for row in rows]) for name in cnn_torch.NAMES}


def median(values):
    """NaN is the worst there is, and must not hide among the others."""
    return float("nan") if any(value != value for value in values) else statistics.median(values)


def compare(options, kernels, precision, batch):
    ours, theirs = [], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        steps = list(pool.map(lambda seed: step_of_heddle(options, kernels, precision, batch, seed),
                              range(1, options.seeds + 1)))
    for step in steps:
        right = gradients_of_torch(step, "fp64", options.device)
        found = {name: step["gradients/" + name].to(options.device).double() for name in cnn_torch.NAMES}
        ours.append(errors(found, right))
        theirs.append(errors(gradients_of_torch(step, PEER_OF.get(precision, precision), options.device), right))
    largest = {"errors_max": over_seeds(ours, max), "peer_errors_max": over_seeds(theirs, max)}
    ours, theirs = over_seeds(ours, median), over_seeds(theirs, median)
    ratios = {name: ours[name] / max(theirs[name], FLOOR) for name in cnn_torch.NAMES}
    worst = max(ratios, key=lambda name: ratios[name] if ratios[name] == ratios[name] else float("inf"))
    allowed = ALLOWED.get(kernels, ALLOWED.get(precision, USUALLY_ALLOWED))
    return {"kernels": kernels, "precision": precision, "batch": batch, "errors": ours, "peer_errors": theirs,
            "peer_precision": PEER_OF.get(precision, precision), "worst": worst, "worst_ratio": ratios[worst],
            "allowed": allowed, "met": ratios[worst] <= allowed, **largest}


def words(text):
    return [word for word in text.split(",") if word]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", default=os.path.join(ROOT, "build", "heddle"), metavar="PROGRAM")
    parser.add_argument("--batches", type=lambda text: [int(one) for one in words(text)],
                        default=[1, 7, 64, 1000, 1024])
    parser.add_argument("--precisions", type=words, default=PRECISIONS)
    parser.add_argument("--kernels", type=words, default=["fused"], help="others than fused are compared in fp32 alone")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=8, help="of heddle's at a time: nothing is timed here")
    parser.add_argument("--data", default="synth:count=4096")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"], help="PyTorch's")
    parser.add_argument("--heddle-device", default="cuda", metavar="NAME")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def main():
    options = parse()
    rows = []
    print("%-7s %-7s %6s  %-20s %10s %10s %8s" % ("kernels", "type", "batch", "worst parameter", "heddle", "PyTorch",
                                                  "ratio"))
    for kernels in options.kernels:
        for precision in options.precisions if kernels == "fused" else ["fp32"]:
            for batch in options.batches:
                try:
                    row = compare(options, kernels, precision, batch)
                except RuntimeError as error:  # what one of them cannot do is no reason to lose the others
                    row = {"kernels": kernels, "precision": precision, "batch": batch, "met": False,
                           "error": " ".join(str(error).split())[:300]}
                rows.append(row)
                if "error" in row:
                    print("%-7s %-7s %6d  %s" % (kernels, precision, batch, row["error"]), flush=True)
                    continue
                worst = row["worst"]
                print("%-7s %-7s %6d  %-20s %10.2e %10.2e %8.2f %s" % (
                    kernels, precision, batch, worst, row["errors"][worst], row["peer_errors"][worst],
                    row["worst_ratio"], "" if row["met"] else "above %g" % row["allowed"]), flush=True)
    if options.json:
        document = {"format": 1, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                    "version": "PyTorch %s" % torch.__version__, "seeds": options.seeds, "data": options.data,
                    "results": rows}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.write("\n")
    return 0 if rows and all(row["met"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

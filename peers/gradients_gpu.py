#!/usr/bin/env python3
"""The gradients of one training step against float64, heddle's and PyTorch's in the same precision.

    peers/gradients_gpu.py [--heddle PROGRAM] [--model FILE] [--batches 1,7,64] [--precisions fp32,tf32]
                           [--kernels fused,naive] [--seeds N] [--json FILE]

`heddle bench train --gradients` writes the parameters, the batch and the gradients of the trainer's own first step;
PyTorch computes the same in float64 and in the precision that is compared. An error is the L2 norm of the difference
relative to that of the gradient, the median over the seeds. The gradient of a convolution's bias in front of a
batchnorm is zero but for rounding: its error is relative to the gradient of the same layer's weight.

One rounding that moves a relu or the winner of a pooling window over its edge moves a gradient far, and it is luck
which program that happens to. Where float32 is meant, float64 is therefore computed with the decisions that a program
took, heddle's and PyTorch's alike: those nearer to their edge than EDGE are candidates, and the gradient tells which of
them were taken the other way (edges.py). The errors without that are kept as errors_raw. Less precise types move too
many to tell which: there, only the median helps. gradients_judged.py has the rules of what is good enough.
"""

import argparse
import concurrent.futures
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is left in the source tree
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import clocks  # noqa: E402
import decisions  # noqa: E402
import gradients_judged  # noqa: E402
import model_file  # noqa: E402
import network_torch  # noqa: E402
import result_file  # noqa: E402
import safetensors_file  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PRECISIONS = ["fp32", "tf32x3", "tf32", "fp16", "bf16"]
PEER_OF = {"tf32x3": "fp32"}
# How near to its edge a decision must be to count as rounding's, in standard deviations of the values that decide: 64
# roundings of float32. A value is a sum of up to 3,136 products, and batchnorm's mean and deviation come on top.
EDGE = 64 * 2.0**-24


def step_of_heddle(options, kernels, precision, batch, seed):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "step.safetensors")
        done = subprocess.run([options.heddle, "bench", "train", "--device", options.heddle_device, "--kernels",
                               kernels, "--precision", precision, "--batch", str(batch), "--seed", str(seed), "--data",
                               options.data, "--model", options.path, "--gradients", path],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stdout.strip()[-300:])
        return {name: torch.from_numpy(array) for name, array in safetensors_file.read(path).items()}


def gradients_of_torch(model, step, precision, device):
    """{name: gradient in float64} of the batch in the file, computed in a precision of PyTorch, or in float64."""
    wide = precision == "fp64"
    dtype = torch.float64 if wide else torch.float32
    network_torch.set_precision("fp32" if wide else precision)
    torch.backends.cudnn.benchmark = False  # the same kernels every time
    values = {one.name: step["parameters/" + one.name].to(device, dtype).requires_grad_()
              for one in model.parameters() if one.trained}
    images = step["images"].to(device).to(dtype) / 255
    labels = step["labels"].to(device).long()
    scale = network_torch.loss_scale(precision)
    with network_torch.autocast(precision if not wide else "fp32", device):
        logits = network_torch.forward(model.layers, values, images)
    loss = F.cross_entropy(logits.to(dtype), labels)
    gradients = torch.autograd.grad(loss * scale, list(values.values()))
    return {name: gradient.double() / scale for name, gradient in zip(values, gradients)}


def errors(found, right, against):
    return {name: ((found[name] - right[name]).norm() / right[against.get(name, name)].norm()).item() for name in right}


class Errors:
    """One program's, over the seeds: as they are, and against float64 with the decisions that it took."""

    def __init__(self, against):
        self.against, self.raw, self.fitted, self.taken = against, [], [], []

    def add(self, found, right, edges, seed):
        self.raw.append(errors(found, right, self.against))
        if not edges:
            self.fitted.append(self.raw[-1])
            return
        fitted, taken = edges.fitted(found, gradients_judged.FLOOR)
        self.fitted.append(errors(found, fitted, self.against))
        self.taken += [dict(zip(("stage", "at", "place", "margin", "instead_of"), edges.near[i]), seed=seed)
                       for i in taken]

    def figures(self, prefix):
        median, over_seeds = statistics.median, gradients_judged.over_seeds
        return {prefix + "errors": over_seeds(self.fitted, median), prefix + "errors_max": over_seeds(self.fitted, max),
                prefix + "errors_raw": over_seeds(self.raw, median)}


KNOWN = {}  # edges by batch and seed: kernels and precisions begin from the same


def edges_of(model, step, right, options, precision, key):
    """None where a precision moves too many to tell which."""
    if precision not in gradients_judged.WITH_EDGES:
        return None
    if key not in KNOWN or not KNOWN[key].are_of(step):
        KNOWN[key] = decisions.Edges(model, step, options.device, EDGE)
    apart = max(errors(KNOWN[key].gradients, right, KNOWN[key].against).values())
    if not apart < 1e-9:
        raise RuntimeError("float64 with its decisions laid open is %.1e from float64" % apart)
    return KNOWN[key]


def compare(options, kernels, precision, batch):
    seeds = range(1, options.seeds + 1)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        steps = list(pool.map(lambda seed: step_of_heddle(options, kernels, precision, batch, seed), seeds))
    model = model_file.read(options.model, steps[0]["images"].shape[1:])  # for the images of the dataset
    against = decisions.compared_with(model)
    ours, theirs, near = Errors(against), Errors(against), []
    for seed, step in zip(seeds, steps):
        right = gradients_of_torch(model, step, "fp64", options.device)
        edges = edges_of(model, step, right, options, precision, (batch, seed))
        near.append(len(edges.near) if edges else 0)
        found = {name: step["gradients/" + name].to(options.device).double() for name in right}
        ours.add(found, right, edges, seed)
        peer = gradients_of_torch(model, step, PEER_OF.get(precision, precision), options.device)
        theirs.add(peer, right, edges, seed)
    row = {"kernels": kernels, "precision": precision, "batch": batch, "seeds": options.seeds,
           "peer_precision": PEER_OF.get(precision, precision), **ours.figures(""), **theirs.figures("peer_")}
    if precision in gradients_judged.WITH_EDGES:
        row["edges"] = {"bound": EDGE, "near": near, "taken": ours.taken, "peer_taken": theirs.taken}
    row = gradients_judged.judged(row)
    row["worst_by_seed"] = [one[row["worst"]] for one in ours.fitted]
    row["peer_by_seed"] = [one[row["worst"]] for one in theirs.fitted]
    return row


def told(row):
    """How many decisions each program took on the other side of an edge, of how many that it might have."""
    found = row.get("edges")
    return "%d and %d of %d over an edge " % (len(found["taken"]), len(found["peer_taken"]), sum(found["near"])) \
        if found and sum(found["near"]) else ""


def words(text):
    return [word for word in text.split(",") if word]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", default=os.path.join(ROOT, "build", "heddle"), metavar="PROGRAM")
    parser.add_argument("--model", default="cnn", metavar="FILE",
                        help="model file, or the name of one in examples/models (default: cnn)")
    parser.add_argument("--batches", type=lambda text: [int(one) for one in words(text)],
                        default=[1, 7, 64, 1000, 1024])
    parser.add_argument("--precisions", type=words, default=PRECISIONS)
    parser.add_argument("--kernels", type=words, default=["fused"],
                        help="parts of the ladders; other than fused only in fp32 (default: fused)")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=8,
                        help="runs of heddle at once: nothing is timed here (default: 8)")
    parser.add_argument("--data", default="synth:count=4096")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"], help="PyTorch's")
    parser.add_argument("--heddle-device", default="cuda", metavar="NAME")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    try:
        options.path, options.network = model_file.path_of(options.model), model_file.read(options.model)
    except result_file.Trouble as trouble:
        parser.error(str(trouble))
    return options


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
                    row = {"kernels": kernels, "precision": precision, "batch": batch,
                           "error": " ".join(str(error).split())[:300]}
                    row = gradients_judged.judged(row)
                rows.append(row)
                if "error" in row:
                    print("%-7s %-7s %6d  %s" % (kernels, precision, batch, row["error"]), flush=True)
                    continue
                worst = row["worst"]
                print("%-7s %-7s %6d  %-20s %10.2e %10.2e %8.2f %s%s" % (
                    kernels, precision, batch, worst, row["errors"][worst], row["peer_errors"][worst],
                    row["worst_ratio"], told(row), "; ".join(row["why"])), flush=True)
    if options.json:
        document = {"format": 1, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                    "version": "PyTorch %s" % torch.__version__, "model": options.network.name,
                    "seeds": options.seeds, "data": options.data,
                    **(clocks.card() if options.heddle_device.startswith("cuda") else {}), "results": rows}
        result_file.save(options.json, document)
    return 0 if rows and all(row["met"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

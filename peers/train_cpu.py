"""A model file's network in PyTorch on this CPU, training and predicting, in every configuration worth trying.

Prints one JSON object per line: {"job": "train", "batch": 64, "mode": "channels-last", "threads": 2, "rate": 1600}. A
step includes what heddle's does: a batch gathered from bytes in memory in shuffled order, forward, backward, update,
zero-grad. bench_cpu.py marks the fastest.
"""

import argparse
import json
import sys

import torch

import jobs_torch
import model_file
import timing

IMAGES = 8192  # resident, as bytes; enough that no batch repeats while measuring
MODES = {"train": ["eager", "channels-last", "compile", "compile channels-last"],
         "infer": ["eager", "channels-last", "compile", "compile channels-last", "folded", "folded channels-last",
                   "folded compile", "folded compile channels-last"]}


def job_of(arguments, model, batch, mode):
    """A function that runs some steps, or predicts some batches."""
    images, labels = arguments.data
    if arguments.job == "train":
        return jobs_torch.training(model, mode, "fp32", batch, (images, labels), arguments)[0]()
    host = images[:jobs_torch.SLOTS * batch].view((jobs_torch.SLOTS, batch) + model.input)
    return jobs_torch.prediction(model, mode, "fp32", host, "cpu")[0]()


def rate(run, batch, seconds):
    """Median images per second over blocks of at least a tenth of a second."""
    run(5)
    steps = max(2, round(0.1 / (timing.blocks(lambda: run(1), 0)[0] + 1e-9)))
    return steps * batch / timing.spread(timing.blocks(lambda: run(steps), seconds))[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--job", required=True, choices=["train", "infer"])
    parser.add_argument("--model", default="cnn", metavar="FILE",
                        help="model file, or the name of one in examples/models (default: cnn)")
    parser.add_argument("--batch", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--threads", type=int, nargs="+", help="thread counts to try (default: 1, half and all cores)")
    parser.add_argument("--mode", nargs="+", help="default: all; jobs_torch.py explains the words")
    parser.add_argument("--seconds", type=float, default=3.0, help="of timing per mode (default: 3)")
    parser.set_defaults(lr=0.05, momentum=0.0, weight_decay=0.0)
    arguments = parser.parse_args()
    model = model_file.read(arguments.model)
    arguments.data = jobs_torch.synthetic(IMAGES, model.input, model.classes, "cpu")
    cores = torch.get_num_threads()
    for batch in arguments.batch:
        for mode in arguments.mode or MODES[arguments.job]:
            for count in arguments.threads or sorted({1, max(1, cores // 2), cores}):
                torch.set_num_threads(count)
                torch.compiler.reset()
                try:
                    measured = rate(job_of(arguments, model, batch, mode), batch, arguments.seconds)
                except Exception as error:  # a mode this machine cannot run is no reason to lose the others
                    print(f"{arguments.job} batch {batch} {mode}: {str(error).splitlines()[0]}", file=sys.stderr)
                    continue
                print(json.dumps({"job": arguments.job, "batch": batch, "mode": mode, "threads": count,
                                  "rate": measured, "torch": torch.__version__}), flush=True)


if __name__ == "__main__":
    main()

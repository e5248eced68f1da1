#!/usr/bin/env python3
"""heddle and PyTorch train the same network on MNIST with the same settings: how good both get, and how long they need
from process start to 99 % with the checkpoint written.

    peers/accuracy_gpu.py --data FOLDER [--model FILE] [--heddle PROGRAM] [--precisions fp32,bf16] [--seeds 5] [--int8]
                          [--json FILE] [--skip quality|race]

Quality is the mean test accuracy over the seeds after --epochs, and once more with a large batch, a larger learning
rate and more epochs. The rungs that heddle trained with are recorded: a precision may use a more precise rung where
that one is faster.

The race is timed by the wall clock from outside: the median of several runs. First come runs with an empty cache of
rung choices, then runs with the cache as it is; whether that held choices from earlier runs is recorded. Every
checkpoint is then evaluated with `heddle eval` on the CPU, to check that it is as good as claimed.
"""

import argparse
import concurrent.futures
import glob
import gzip
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is left in the source tree
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import clocks  # noqa: E402
import model_file  # noqa: E402
import result_file  # noqa: E402

ROOT = os.path.dirname(HERE)
PRECISIONS = ["fp32", "tf32x3", "tf32", "fp16", "bf16"]
PEER_OF = {"tf32x3": "fp32"}
FILES = ["train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"]
WITHIN, AT_LEAST = 0.001, 0.99  # below PyTorch's mean accuracy at most; and in absolute terms
SECONDS = 1.0  # the race may take at most
ROUNDING = 0.0005  # of the accuracy: five images of 10,000 that another device may classify otherwise


def lines_of(command, environment=None):
    """The JSON objects that a command prints, its wall time and what it logs. Its failure is a RuntimeError."""
    begin = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise RuntimeError("%s: %s" % (os.path.basename(command[0]), (done.stderr or done.stdout).strip()[-300:]))
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")], seconds, done.stderr


def results(rows):
    return [row for row in rows if row.get("event") == "result"]


class Settings:
    """The settings of both."""

    def __init__(self, batch, lr, momentum, epochs):
        self.batch, self.lr, self.momentum, self.epochs = batch, lr, momentum, epochs

    def of_heddle(self):
        flags = ["--batch", str(self.batch), "--lr", str(self.lr), "--epochs", str(self.epochs), "--schedule", "linear"]
        return flags + (["--optimizer", "momentum", "--momentum", str(self.momentum)] if self.momentum else [])

    def of_torch(self):
        return ["--batch", str(self.batch), "--lr", str(self.lr), "--epochs", str(self.epochs), "--momentum",
                str(self.momentum)]

    def document(self):
        return dict(vars(self), schedule="linear")


def heddle_command(options, precision, seed, folder, settings):
    device = ["--device", options.heddle_device]
    return [options.heddle, "train", "--data", options.data, "--model", options.model, "--out", folder, "--overwrite",
            "--json", "--seed", str(seed), "--precision", precision] + device + settings.of_heddle()


def torch_command(options, precision, settings):
    return [sys.executable, os.path.join(HERE, "mnist_torch.py"), "--data", options.data, "--model", options.model,
            "--device", options.device, "--precision", precision] + settings.of_torch()


# --- quality ---------------------------------------------------------------------------------------------------------

def rungs_of(log):
    """The rungs of the whole steps that `heddle train --log info` names: those of the operators that are the step."""
    return sorted(set(re.findall(r"training step, batch \d+: cnn_(?:step|train) by (\w+)", log)))


def heddle_accuracy(options, precision, seed, scratch, settings):
    """And the rungs of its steps, and its accuracy with --precision int8."""
    folder = os.path.join(scratch, "%s-%d-%d" % (precision, settings.batch, seed))
    rows, _, log = lines_of(heddle_command(options, precision, seed, folder, settings) + ["--log", "info"])
    in_bytes = evaluated(options, os.path.join(folder, "last.safetensors"), "int8") if options.int8 else None
    return results(rows)[-1]["test_accuracy"], rungs_of(log), in_bytes


def evaluated(options, checkpoint, precision, device=None):
    """The accuracy that `heddle eval` finds."""
    done = subprocess.run([options.heddle, "eval", checkpoint, "--data", options.data, "--device",
                           device or options.heddle_device, "--precision", precision, "--json"],
                          stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)["accuracy"]


def torch_accuracies(options, precision, settings):
    seeds = ",".join(str(seed) for seed in range(1, options.seeds + 1))
    rows, _, _ = lines_of(torch_command(options, precision, settings) + ["--seeds", seeds])
    return [row["test_accuracy"] for row in results(rows)], results(rows)[-1]["torch"]


def quality(options, scratch, settings, at_least):
    """Nothing is timed here, so that several run at once."""
    rows, version = [], None
    pool = concurrent.futures.ThreadPoolExecutor(options.jobs)
    names = list(dict.fromkeys(PEER_OF.get(precision, precision) for precision in options.precisions))
    theirs = {name: pool.submit(torch_accuracies, options, name, settings) for name in names}
    own = {precision: [pool.submit(heddle_accuracy, options, precision, seed, scratch, settings)
                       for seed in range(1, options.seeds + 1)] for precision in options.precisions}
    for precision in options.precisions:
        row = {"precision": precision, "met": False}
        rows.append(row)
        try:
            found = [one.result() for one in own[precision]]
            ours, rungs = [one[0] for one in found], sorted({rung for one in found for rung in one[1]})
            peer, version = theirs[PEER_OF.get(precision, precision)].result()
        except (RuntimeError, IndexError, subprocess.CalledProcessError) as error:
            row["error"] = str(error)
            print("%-7s %s" % (precision, error), flush=True)
            continue
        mean, peer_mean = statistics.mean(ours), statistics.mean(peer)
        within = max(WITHIN, max(peer) - min(peer)) if options.spread else WITHIN
        row.update(heddle=ours, pytorch=peer, heddle_mean=mean, pytorch_mean=peer_mean, rungs=rungs,
                   met=mean >= peer_mean - within and mean >= at_least)
        if options.int8:
            row["int8"] = [one[2] for one in found]
            row["int8_mean"] = statistics.mean(row["int8"])
        print("%-7s batch %d: heddle %.3f %% (%.2f to %.2f), PyTorch %.3f %% (%.2f to %.2f)%s%s%s" % (
            precision, settings.batch, *(100 * one for all_of in (ours, peer) for one in (
                statistics.mean(all_of), min(all_of), max(all_of))),
            ", int8 %.3f %%" % (100 * row["int8_mean"]) if options.int8 else "",
            " by " + " ".join(rungs) if rungs else "", "" if row["met"] else "  NOT MET"), flush=True)
    pool.shutdown()
    return {"settings": settings.document(), "seeds": options.seeds, "torch": version, "results": rows}


# --- the race to 99 % ------------------------------------------------------------------------------------------------

def choices_kept():
    """Whether there is a file of rungs that earlier runs of heddle chose (src/nn/tune.c)."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    folder = cache if cache.startswith("/") else os.path.join(os.environ.get("HOME", ""), ".cache")
    return bool(glob.glob(os.path.join(glob.escape(folder), "heddle", "tune-*.json")))


def race_run(options, precision, seed, folder, environment=None):
    """Seconds, epochs, and the accuracy that `heddle eval` finds in the checkpoint."""
    rows, seconds, _ = lines_of(heddle_command(options, precision, seed, folder, options.race) +
                                ["--until", str(options.until)], environment)
    end = results(rows)[-1]
    if not end["reached"]:
        raise RuntimeError("seed %d ended at %.2f %%" % (seed, 100 * end["best_accuracy"]))
    return seconds, end["epochs"], evaluated(options, os.path.join(folder, "best.safetensors"), "fp32", "cpu")


def race_heddle(options, precision, scratch):
    folder, kept, cold = os.path.join(scratch, "race"), choices_kept(), []
    for run in range(options.cold_runs):
        empty = dict(os.environ, XDG_CACHE_HOME=tempfile.mkdtemp(dir=scratch))
        cold.append(race_run(options, precision, run + 1, folder, empty))
    runs = [race_run(options, precision, run + 1, folder) for run in range(options.runs)]
    times = [run[0] for run in runs]
    return {"seconds": statistics.median(times), "all": times, "epochs": [run[1] for run in runs], "choices_kept": kept,
            "without_choices": [run[0] for run in cold], "accuracy_on_cpu": min(run[2] for run in cold + runs)}


def race_torch(options, precision, scratch):
    times, epochs, version = [], [], None
    for run in range(options.peer_runs):
        rows, seconds, _ = lines_of(torch_command(options, precision, options.race) + [
            "--until", str(options.until), "--seeds", str(run + 1), "--save", os.path.join(scratch, "torch.pt")])
        end = results(rows)[-1]
        version = end["torch"]
        if end["reached"]:
            times.append(seconds)
            epochs.append(end["epochs"])
    if not times:
        raise RuntimeError("PyTorch did not reach %g with these settings" % options.until)
    return {"seconds": statistics.median(times), "all": times, "epochs": epochs, "torch": version,
            "reached": "%d of %d" % (len(times), options.peer_runs)}


def race(options, scratch):
    result = {"settings": options.race.document(), "until": options.until, "precision": options.race_precision,
              "runs": options.runs, "met": False}
    for name, run, precision in (("heddle", race_heddle, options.race_precision),
                                 ("pytorch", race_torch, PEER_OF.get(options.race_precision, options.race_precision))):
        try:
            result[name] = run(options, precision, scratch)
            print("to %g %%, %s: %-8s %.2f s (%s)" % (100 * options.until, precision, name, result[name]["seconds"],
                                                      " ".join("%.2f" % one for one in result[name]["all"])), flush=True)
        except (RuntimeError, IndexError, subprocess.CalledProcessError) as error:
            result[name] = {"error": str(error)}
            print("to %g %%: %s: %s" % (100 * options.until, name, error), flush=True)
    result["met"] = race_is_won(result["heddle"], options.until)
    return result


def race_is_won(ours, until):
    """Also by a first run, which finds no choices of rungs. A checkpoint is as good on the CPU but for its rounding."""
    if "error" in ours:
        return False
    times = [ours["seconds"]] + ([statistics.median(ours["without_choices"])] if ours["without_choices"] else [])
    return max(times) < SECONDS and ours["accuracy_on_cpu"] >= until - ROUNDING


# --- the command -----------------------------------------------------------------------------------------------------

def unpacked(folder, scratch):
    """The dataset without gzip: neither of the two is to be measured unpacking it."""
    to = os.path.join(scratch, "mnist")
    os.mkdir(to)
    for name in FILES:
        path = os.path.join(folder, name)
        with (open(path, "rb") if os.path.exists(path) else gzip.open(path + ".gz", "rb")) as source:
            with open(os.path.join(to, name), "wb") as copy:
                shutil.copyfileobj(source, copy)
    return to


def for_these_images(path, scratch):
    """The model without the size of its images where that is not MNIST's: the same layers for MNIST's."""
    document = result_file.load(path)
    if model_file.read(path).input == model_file.PIXELS:
        return path
    del document["input"]
    copy = os.path.join(scratch, os.path.basename(path))
    result_file.save(copy, document)
    return copy


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, metavar="FOLDER", help="MNIST, packed or not")
    parser.add_argument("--model", default="cnn", metavar="FILE",
                        help="model file, or the name of one in examples/models (default: cnn)")
    parser.add_argument("--heddle", default=os.path.join(ROOT, "build", "heddle"), metavar="PROGRAM")
    parser.add_argument("--precisions", type=lambda text: text.split(","), default=PRECISIONS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.03)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--large-batch", type=int, default=1024, metavar="N",
                        help="also compare at this batch, which uses other kernels (default: 1024; 0: do not)")
    parser.add_argument("--large-lr", type=float, default=0.06,
                        help="a larger one makes its seeds differ by a point (default: 0.06)")
    parser.add_argument("--large-epochs", type=int, default=10)
    parser.add_argument("--int8", action="store_true", help="quality: also the accuracy of predictions in int8")
    parser.add_argument("--spread", action="store_true",
                        help="quality: below PyTorch's mean by as much as its own seeds differ is as good; for any model")
    parser.add_argument("--until", type=float, default=0.99)
    parser.add_argument("--race-precision", default="bf16", choices=PRECISIONS)
    parser.add_argument("--race-batch", type=int, default=64)
    parser.add_argument("--race-lr", type=float, default=0.03)
    parser.add_argument("--race-momentum", type=float, default=0.9)
    parser.add_argument("--race-epochs", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5, help="of the race; the median counts (default: 5)")
    parser.add_argument("--cold-runs", type=int, default=3, help="before them, with an empty tuning cache (default: 3)")
    parser.add_argument("--peer-runs", type=int, default=3, help="of PyTorch's race (default: 3)")
    parser.add_argument("--jobs", type=int, default=4, help="runs at once where nothing is timed (default: 4)")
    parser.add_argument("--skip", choices=["quality", "race"])
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"], help="PyTorch's")
    parser.add_argument("--heddle-device", default="cuda", metavar="NAME")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    options.model = model_file.path_of(options.model)
    options.quality = Settings(options.batch, options.lr, options.momentum, options.epochs)
    options.large = Settings(options.large_batch, options.large_lr, options.momentum, options.large_epochs)
    options.race = Settings(options.race_batch, options.race_lr, options.race_momentum, options.race_epochs)
    return options


def main():
    options = parse()
    document = {"format": 1, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "model": os.path.splitext(os.path.basename(options.model))[0],
                **(clocks.card() if options.heddle_device.startswith("cuda") else {})}
    with tempfile.TemporaryDirectory() as scratch:
        options.data = unpacked(options.data, scratch)
        options.model = for_these_images(options.model, scratch)
        if options.skip != "race":
            document["race"] = race(options, scratch)
        if options.skip != "quality":
            document["quality"] = quality(options, scratch, options.quality, 0 if options.spread else AT_LEAST)
            if options.large_batch:
                document["quality_large"] = quality(options, scratch, options.large, 0)
    if options.json:
        result_file.save(options.json, document)
    good = document.get("race", {"met": True})["met"] and all(
        row["met"] for name in ("quality", "quality_large") for row in document.get(name, {"results": []})["results"])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

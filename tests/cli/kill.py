"""Kills `heddle train` with SIGKILL at random moments and resumes it, over and over. Whatever the moment, the checkpoint
must load, and in the end the files must be those of a run that was never killed, bit for bit.

    kill.py HEDDLE [--kills 50] [--seed 1]
"""

import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

# --save-every 0.001: a save after nearly every step, so that many kills fall into one.
TRAIN = ["train", "--data", "synth:count=640", "--model", "mlp", "--epochs", "8", "--batch", "16", "--save-every", "0.001",
         "--quiet", "--optimizer", "momentum", "--lr", "0.01"]


# A leak check at every exit of a sanitized build would take most of the time; other tests look for leaks.
os.environ["ASAN_OPTIONS"] = "detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", "")


def run(heddle, *arguments):
    return subprocess.run([heddle, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def must(done, what):
    if done.returncode != 0:
        sys.exit(f"{what}: exit code {done.returncode}\n{done.stdout}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("heddle")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    moments = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="heddle-kill-") as folder:
        whole, parts = pathlib.Path(folder, "whole"), pathlib.Path(folder, "parts")
        begin = time.monotonic()
        must(run(arguments.heddle, *TRAIN, "--out", str(whole)), "the run that is never killed")
        longest = time.monotonic() - begin
        finished = killed = 0
        while killed < arguments.kills:
            last = parts / "last.safetensors"
            command = [arguments.heddle, *TRAIN, "--out", str(parts)]
            if last.exists():
                command = [arguments.heddle, "train", "--out", str(parts), "--resume", "--quiet", "--save-every", "0.001"]
            training = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                # Long enough to get somewhere, short enough that 50 kills fall all over the run.
                _, said = training.communicate(timeout=moments.uniform(0, max(0.05, longest / 12)))
                if training.returncode != 0:
                    sys.exit(f"kill {killed}: training failed by itself:\n{said}")
                finished += 1
                compare(whole, parts)
                for file in parts.iterdir():  # finished before it was killed: begin again
                    file.unlink()
                continue
            except subprocess.TimeoutExpired:
                training.send_signal(signal.SIGKILL)
                training.communicate()
            killed += 1
            for name in ("last.safetensors", "best.safetensors"):
                if (parts / name).exists():
                    must(run(arguments.heddle, "predict", str(parts / name), "--index", "0"), f"kill {killed}: {name}")
        resume = ["train", "--out", str(parts), "--resume", "--quiet"]
        fresh = [*TRAIN, "--out", str(parts)]
        must(run(arguments.heddle, *(resume if (parts / "last.safetensors").exists() else fresh)), "the last resume")
        compare(whole, parts)
        left = [file.name for file in parts.iterdir() if file.suffix not in (".safetensors", ".jsonl")]
        if left:
            sys.exit(f"temporary files are left: {left}")
        print(f"{killed} kills, {finished} runs finished in between, all checkpoints readable, same bits")


def compare(whole, parts):
    for name in ("last.safetensors", "best.safetensors"):
        if (whole / name).read_bytes() != (parts / name).read_bytes():
            sys.exit(f"{name} differs from that of the run that was never killed")


if __name__ == "__main__":
    main()

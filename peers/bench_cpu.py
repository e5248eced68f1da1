"""heddle against PyTorch on this CPU: trains the course's CNN and predicts with it, rates side by side.

The two take turns, one job and batch size at a time, so that both see the same machine. PyTorch runs in every mode and
thread count of train_cpu.py, and its fastest counts.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

import result_file

HERE = pathlib.Path(__file__).parent


def lines_of(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def measure_heddle(heddle, job, batch, rounds):
    done = subprocess.run([heddle, "bench", job, "--device", "cpu", "--kernels", "fused", "--batch", str(batch),
                           "--rounds", str(rounds), "--json"], stdout=subprocess.PIPE, check=True, text=True)
    document = json.loads(done.stdout.splitlines()[-1])
    return dict(document["results"][0], version=document["version"], threads=document["threads"])


def measure_pytorch(job, batch, rounds):
    return lines_of([sys.executable, str(HERE / "train_cpu.py"), "--job", job, "--batch", str(batch),
                     "--seconds", str(rounds)])


def predict_milliseconds(heddle, folder):
    """Process start to answer, one image, median of 21."""
    subprocess.run([heddle, "train", "--data", "synth:count=512", "--epochs", "1", "--out", folder, "--overwrite",
                    "--device", "cpu", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([heddle, "data", "show", "synth", "--count", "1", "--png", folder + "/digit.png"], check=True,
                   stdout=subprocess.DEVNULL)
    times = []
    for _ in range(21):
        begin = time.perf_counter()
        subprocess.run([heddle, "predict", folder + "/best.safetensors", folder + "/digit.png", "--device", "cpu"],
                       check=True, stdout=subprocess.DEVNULL)
        times.append(1000 * (time.perf_counter() - begin))
    return sorted(times)[len(times) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heddle", default="build/heddle")
    parser.add_argument("--batch", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", help="also write all measurements to this file")
    arguments = parser.parse_args()
    results = []
    print(f"{'job':6} {'batch':>5} {'heddle img/s':>13} {'PyTorch img/s':>14} {'ratio':>6}  PyTorch's fastest mode",
          flush=True)
    for job in ("train", "infer"):
        for batch in arguments.batch:
            # Before and after PyTorch's many modes; the slower of the two counts.
            first = measure_heddle(arguments.heddle, job, batch, arguments.rounds)
            peers = measure_pytorch(job, batch, arguments.rounds)
            second = measure_heddle(arguments.heddle, job, batch, arguments.rounds)
            ours = min(first, second, key=lambda one: one["rate"])
            if not peers:
                sys.exit(f"bench_cpu.py: PyTorch ran {job} with batch {batch} in no mode; its errors stand above")
            best = max(peers, key=lambda one: one["rate"])
            results.append({"heddle": ours, "pytorch": peers, "fastest": best})
            print(f"{job:6} {batch:5} {ours['rate']:13.0f} {best['rate']:14.0f} {ours['rate'] / best['rate']:6.2f}  "
                  f"{best['mode']}, {best['threads']} thread(s), torch {best['torch']}", flush=True)
    milliseconds = predict_milliseconds(arguments.heddle, str(pathlib.Path(arguments.heddle).parent / "bench-run"))
    print(f"predict one PNG, process start included: {milliseconds:.1f} ms")
    if arguments.json:
        result_file.save(arguments.json, {"date": time.strftime("%Y-%m-%d"), "results": results,
                                          "predict_ms": milliseconds})


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares what the simulated GPU computes where C++ leaves the result open (arithmetic.cu) with a real GPU.

    arithmetic.py --nvcc nvcc --out results/arithmetic-h200.json         on a machine with a GPU: stores its results
    arithmetic.py --simcc build/simcc --stored results/arithmetic-h200.json      compares the simulated GPU with them
"""
import argparse
import datetime
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "peers"))
import result_file  # noqa: E402

SHOWN = 20


def output_of(command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as problem:
        raise result_file.Trouble(str(problem))


def results_of(compiler):
    """Pairs of a case and its result, in the program's order."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "arithmetic")
        output_of(compiler + [os.path.join(HERE, "arithmetic.cu"), "-o", program])
        return [line.rsplit(" = ", 1) for line in output_of([program]).splitlines()]


def store(nvcc, path):
    query = ["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"]
    gpu, driver, capability = output_of(query).splitlines()[0].split(", ")
    version = output_of([nvcc, "--version"]).strip().splitlines()[-1]
    results = results_of([nvcc, "-arch=sm_" + capability.replace(".", "")])
    result_file.save(path, {"gpu": gpu, "driver": driver, "cuda": version,
                            "date": datetime.date.today().isoformat(), "results": results})
    print("%s: %d results of %s" % (path, len(results), gpu))


def kept(case, result):
    """A byte has 8 bits; nvcc keeps more of them in a register where the result is undefined."""
    return "%#x" % (int(result, 16) & 0xff) if case.startswith("u8 /= ") else result


def compare(simcc, path):
    stored, computed = result_file.load(path)["results"], results_of([simcc])
    if [case for case, _ in stored] != [case for case, _ in computed]:
        raise result_file.Trouble("%s has other cases than arithmetic.cu: store them again on a GPU" % path)
    wrong = [(case, gpu, here) for (case, gpu), (_, here) in zip(stored, computed) if kept(case, gpu) != kept(case, here)]
    for case, gpu, here in wrong[:SHOWN]:
        print("%s: %s on the GPU, %s here" % (case, gpu, here))
    print("%d of %d results differ" % (len(wrong), len(stored)))
    return 1 if wrong or not stored else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", help="compiler for the real GPU")
    parser.add_argument("--out", help="file to store the GPU's results in")
    parser.add_argument("--simcc", help="compiler for the simulated GPU")
    parser.add_argument("--stored", help="file with a GPU's results")
    options = parser.parse_args()
    try:
        if options.nvcc and options.out:
            return store(options.nvcc, options.out)
        if options.simcc and options.stored:
            return compare(options.simcc, options.stored)
    except result_file.Trouble as problem:
        print("arithmetic.py: %s" % problem, file=sys.stderr)
        return 1
    parser.error("give --nvcc and --out, or --simcc and --stored")


if __name__ == "__main__":
    sys.exit(main())

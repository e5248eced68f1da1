#!/usr/bin/env python3
"""Holds the simulated GPU against a real one. Needs nvcc, ncu and an NVIDIA GPU; not part of the test suite.

    run_on_gpu.py --simcc build/simcc --out results/simulator-h200.json

1. Every program of the corpus that is said to be right is built with nvcc and run: it must end with 0 on hardware too.
2. Every kernel of counters/ runs under ncu, and its requests, sectors and wavefronts are held against the simulator's.

Writes what it saw as JSON, with the versions of everything and the date.
"""
import argparse
import concurrent.futures
import csv
import datetime
import io
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import run_corpus  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(HERE))), "peers"))
import result_file  # noqa: E402

# Faults that are the program's point need no hardware run; these need what the machine may lack.
METRICS = {
    ("load", "global", "requests"): "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    ("load", "global", "units"): "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    ("store", "global", "requests"): "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    ("store", "global", "units"): "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    ("load", "shared", "requests"): "smsp__inst_executed_op_shared_ld.sum",
    ("load", "shared", "units"): "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    ("store", "shared", "requests"): "smsp__inst_executed_op_shared_st.sum",
    ("store", "shared", "units"): "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}


def run(command, seconds=120, environment=None):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds,
                              env=dict(os.environ, **(environment or {})), text=True, errors="replace")
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return 124, "took longer than %d s" % seconds


def first_line(command):
    status, output = run(command)
    return output.strip().splitlines()[-1] if status == 0 and output.strip() else "unknown"


def right_programs():
    """Programs of the corpus without an `expect` comment."""
    for folder, _, names in sorted(os.walk(run_corpus.CORPUS)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".cu") and not re.search(r"//.*\bexpect:", open(path).read()):
                yield path


def flags_of(path):
    mark = run_corpus.FLAGS.search(open(path).readline())
    return mark.group(1).split() if mark else []


def build(path, folder, architecture):
    program = os.path.join(folder, os.path.relpath(path, os.path.dirname(HERE)).replace("/", "_")[:-3])
    flags = []
    for flag in flags_of(path):
        flags += ["-Xcompiler", flag] if flag.startswith("-fopenmp") else [flag]
    status, output = run(["nvcc", "-std=c++17", "-arch=" + architecture, "-rdc=true", path, "-o", program,
                          "-lcublas", "-lcurand", "-lcufft"] + flags)
    return program if status == 0 else None, output


def check_right(architecture, folder, jobs):
    paths = list(right_programs())
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        built = list(pool.map(lambda path: build(path, folder, architecture), paths))
    problems = []
    for path, (program, output) in zip(paths, built):
        name = os.path.relpath(path, run_corpus.CORPUS)
        if not program:
            problems.append({"program": name, "what": "nvcc: " + output.strip()[-300:]})
            continue
        status, output = run([program], 60)
        if status != 0:
            problems.append({"program": name, "what": "ends with %d: %s" % (status, output.strip()[-300:])})
    return {"programs": len(paths), "problems": problems}


def simulated(simcc, path, folder):
    """{kernel: {(kind, space, figure): sum}} of the simulator."""
    program, report = os.path.join(folder, "simulated"), os.path.join(folder, "report.json")
    status, output = run([simcc, path, "-o", program])
    if status != 0:
        raise SystemExit("%s does not build: %s" % (path, output))
    run([program], 120, {"SIM_REPORT": report})
    sums = {}
    for kernel in json.load(open(report))["kernels"]:
        totals = sums.setdefault(re.sub(r"[<(].*", "", kernel["kernel"]), {})
        for line in kernel["lines"]:
            for figure in ("requests", "units"):
                key = (line["kind"], line["space"], figure)
                totals[key] = totals.get(key, 0) + line[figure]
    return sums


def measured(path, folder, architecture):
    """The same from ncu, over all launches of a kernel."""
    program = os.path.join(folder, "measured")
    status, output = run(["nvcc", "-std=c++17", "-arch=" + architecture, path, "-o", program])
    if status != 0:
        raise SystemExit("%s: nvcc: %s" % (path, output))
    status, output = run(["ncu", "--csv", "--metrics", ",".join(METRICS.values()), program], 300)
    table = output[output.find('"ID"'):]
    if status != 0 or not table.startswith('"ID"'):
        raise SystemExit("ncu: " + output[-500:])
    names = {metric: key for key, metric in METRICS.items()}
    sums = {}
    for row in csv.DictReader(io.StringIO(table)):
        kernel = re.sub(r"^void\s+", "", row["Kernel Name"])
        totals = sums.setdefault(re.sub(r"[<(].*", "", kernel), {})
        key = names.get(row["Metric Name"])
        if key:
            totals[key] = totals.get(key, 0) + int(float(row["Metric Value"].replace(",", "")))
    return sums


def check_counters(simcc, architecture, folder):
    rows = []
    counters = os.path.join(os.path.dirname(HERE), "counters")
    for name in sorted(os.listdir(counters)):
        if not name.endswith(".cu") or name == "atomics.cu":
            continue
        path = os.path.join(counters, name)
        ours, theirs = simulated(simcc, path, folder), measured(path, folder, architecture)
        for kernel in sorted(ours):
            for (kind, space, figure), count in sorted(ours[kernel].items()):
                if (kind, space, figure) in METRICS and kernel in theirs:
                    rows.append({"file": name, "kernel": kernel, "access": "%s %s" % (space, kind), "figure": figure,
                                 "simulated": count, "ncu": theirs[kernel].get((kind, space, figure), 0)})
    return rows


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--simcc", required=True, help="the simulator's compiler driver")
    options.add_argument("--arch", default="sm_90")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--out", help="where to write the results as JSON")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="sim-gpu-") as folder:
        right = check_right(chosen.arch, folder, chosen.jobs)
        counters = check_counters(chosen.simcc, chosen.arch, folder)
    same = sum(row["simulated"] == row["ncu"] for row in counters)
    result = {
        "date": datetime.date.today().isoformat(),
        "gpu": first_line(["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm,clocks.mem", "--format=csv,noheader"]),
        "nvcc": first_line(["nvcc", "--version"]),
        "ncu": first_line(["ncu", "--version"]),
        "host compiler": first_line(["gcc", "-dumpfullversion"]),
        "right programs on hardware": right,
        "counters": {"figures": len(counters), "equal": same, "rows": counters},
    }
    for row in counters:
        mark = "" if row["simulated"] == row["ncu"] else "   differs"
        print("%-14s %-18s %-14s %-9s %9d %9d%s" % (row["file"], row["kernel"], row["access"], row["figure"],
                                                    row["simulated"], row["ncu"], mark))
    for problem in right["problems"]:
        print("%s: %s" % (problem["program"], problem["what"]))
    print("%d right programs, %d with problems on hardware; %d of %d counts equal ncu's"
          % (right["programs"], len(right["problems"]), same, len(counters)))
    if chosen.out:
        os.makedirs(os.path.dirname(chosen.out) or ".", exist_ok=True)
        result_file.save(chosen.out, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())

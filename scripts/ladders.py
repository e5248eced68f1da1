"""What ladder-docs, ladder-counters and ladder-limits share: the registry, result files, targets, and runs under ncu.
Standard library only."""
import csv
import io
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "peers"))
from result_file import Trouble, load, save  # noqa: E402,F401: who has this module has these

RESULTS = os.path.join(ROOT, "results", "ladders-h200.json")
COUNTERS = os.path.join(ROOT, "results", "ladder-counters-h200.json")
SWEEP = os.path.join(ROOT, "results", "sweep-h200.json")
TARGETS = os.path.join(ROOT, "docs", "ladders", "targets.json")


# tf32x3, float32 in and out with products in parts, is compared with float32.
RIVAL_TYPE = {"tf32x3": "f32"}
RIVAL_ARITHMETIC = {"tf32x3": "full", "bf16": "full", "fp16": "full"}  # the types of 16 bits are the operands' own


def run(command, seconds=300, environment=None):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds,
                              env=dict(os.environ, **(environment or {})), text=True, errors="replace")
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return 124, "took longer than %d s" % seconds
    except OSError as problem:
        return 127, str(problem)


def registry(heddle):
    """The operators, as `heddle ops --json` lists them."""
    try:
        done = subprocess.run([heddle, "ops", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as problem:
        raise Trouble("%s: %s" % (heddle, problem))
    if done.returncode != 0:
        raise Trouble("%s ops --json: %s" % (heddle, done.stderr.strip()))
    return json.loads(done.stdout)["operators"]


def source_of(op, rung):
    """A rung's file, from the root of the checkout; None where it has none of its own."""
    for suffix in (".cu", ".c"):
        path = "src/ops/%s/%s%s" % (op["ladder_name"], rung, suffix)
        if os.path.exists(os.path.join(ROOT, path)):
            return path
    return None


# --- shapes and results ----------------------------------------------------------------------------------------------

def fields_of(op, shape):
    """A shape as {field: number}, with the defaults it leaves out; `shape` is text or a dictionary."""
    if isinstance(shape, str):
        shape = dict(word.split("=", 1) for word in shape.split())
    full = {field["name"]: float(field["default"]) for field in op["fields"] if "default" in field}
    full.update({name: float(value) for name, value in shape.items()})
    return full


def same_shape(op, one, other):
    return fields_of(op, one) == fields_of(op, other)


def is_timed(row):
    return row.get("checked") and row.get("microseconds") is not None


def own(rows):
    return [row for row in rows if is_timed(row) and row["tier"] != "vendor"]


def fastest(rows):
    return min(rows, key=lambda row: row["microseconds"], default=None)


def rival_arithmetic(row):
    """The arithmetic of PyTorch's row that a row is compared with."""
    return RIVAL_ARITHMETIC.get(row["arithmetic"], row["arithmetic"])


def peer_of(op, results, shape, arithmetic):
    """PyTorch's row for an operator at a shape; None: it was not measured."""
    for row in results.get("peers", {}).get("results", []):
        if row["op"] == op["name"] and row["arithmetic"] == arithmetic and same_shape(op, row["shape"], shape):
            return row
    return None


# --- targets ---------------------------------------------------------------------------------------------------------

def judge(target, op, results):
    """Whether a target is met: {"rung": ..., "reached": number, "met": bool}; "reached" is None if not measured."""
    rows = [row for row in results["results"] if row["op"] == target["op"]
            and same_shape(op, row["shape"], target["shape"])]
    best = fastest(own([row for row in rows if row["dtype"] == target["dtype"]]))
    if not best:
        return {"rung": None, "shape": target["shape"], "reached": None, "met": False}
    reached = None
    if target["against"] == "copy":
        bandwidth = results.get("copy_bandwidth")
        reached = best["roofline"] if best.get("bound") == "memory" else \
            best["gbytes_per_second"] * 1e9 / bandwidth if bandwidth else None
    elif target["against"] == "pytorch":
        peer = peer_of(op, results, target["shape"], rival_arithmetic(best))
        reached = peer["microseconds"] / best["microseconds"] if peer else None
    elif target["against"] != "vendor":  # a rung
        rung = fastest([row for row in rows if is_timed(row) and row["rung"] == target["against"]])
        reached = rung["microseconds"] / best["microseconds"] if rung else None
    else:
        rival = RIVAL_TYPE.get(target["dtype"], target["dtype"])
        vendor = fastest([row for row in rows if is_timed(row) and row["tier"] == "vendor" and row["dtype"] == rival])
        reached = vendor["microseconds"] / best["microseconds"] if vendor else None
        # Measured in the same rounds, with the GPU equally warm for both.
        if vendor and best.get("vendor_rung") == vendor["rung"] and best.get("ratio"):
            reached = best["ratio"]
    return {"rung": best["rung"], "shape": best["shape"], "reached": reached,
            "met": reached is not None and reached >= target["at_least"]}


# --- ncu -------------------------------------------------------------------------------------------------------------

def base_name(kernel):
    """"void tile<(int)4>(const float *)" is `tile`."""
    return re.sub(r"[<(].*", "", re.sub(r"^void\s+", "", kernel), flags=re.DOTALL).split("::")[-1].strip()


def kernels_in(path, seen=None):
    """Names of the kernels that a source file and the project's own headers in it define."""
    seen = seen if seen is not None else set()
    if path in seen or not os.path.isfile(path):
        return set()
    seen.add(path)
    with open(path) as file:
        text = re.sub(r"__(launch_bounds|cluster_dims)__\s*\([^)]*\)", "", file.read())
    names = set(re.findall(r"__global__\s[^;{]*?(\w+)\s*\((?=[^;{]*\{)", text))
    for header in re.findall(r'^#include "(ops/[^"]+)"', text, re.MULTILINE):
        names |= kernels_in(os.path.join(ROOT, "src", header), seen)
    return names


def ncu(selection, kernels, launches, command):
    """The first `launches` launches of these kernels, each {"kernel", "grid", "block", metric: number}. `selection` are
    ncu's options that say what is measured."""
    pattern = "regex:^(%s)$" % "|".join(sorted(re.escape(name) for name in kernels))
    status, output = run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--kernel-name-base", "function",
                          "--kernel-name", pattern, "--launch-count", str(launches), "--kill", "yes"]
                         + list(selection) + list(command))
    start = output.find('"ID"')
    if start < 0:
        told = [line for line in output.splitlines() if "ERROR" in line or "No kernels" in line]
        raise Trouble("ncu: %s" % (" ".join(told) or output.strip()[-300:]))
    rows = []
    for row in csv.DictReader(io.StringIO(output[start:])):
        if not (row.get("ID") or "").strip().isdigit():
            continue  # the line of units, or what the program printed behind the table
        figures = {"kernel": base_name(row["Kernel Name"]), "grid": numbers(row["Grid Size"]),
                   "block": numbers(row["Block Size"])}
        for metric, text in row.items():
            text = (text or "").replace(",", "") if isinstance(text, str) else ""
            if metric and "__" in metric and re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?", text):
                figures[metric] = float(text)
        rows.append(figures)
    return rows


def numbers(text):
    return [int(number) for number in re.findall(r"\d+", text)]

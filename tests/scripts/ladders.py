#!/usr/bin/env python3
"""The pages of the ladders and the counters of their rungs: scripts/ladder-docs and ladder-limits on a small result
file, gpu-check's merging of runs, ladder-counters on the simulated GPU and beside an ncu that is played by a script.

    ladders.py docs
    ladders.py counters BUILD
"""
import argparse
import copy
import importlib
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is left in the source tree
from loading import ROOT, gpu_check, written_by  # noqa: E402

sys.path.insert(0, os.path.join(ROOT, "scripts"))
import ladders  # noqa: E402
import sweep  # noqa: E402

SHAPE = "rows=16384 cols=16384"

REGISTRY = [{
    "name": "transpose", "ladder_name": "transpose", "summary": "swap the rows and columns of a matrix",
    "fields": [{"name": "rows", "kind": "int"}, {"name": "cols", "kind": "int"},
               {"name": "times", "kind": "int", "default": 1}],
    "ladder": [{"name": name, "device": "cuda", "tier": tier, "note": note, "arithmetic": "full"}
               for name, tier, note in (("01_naive", "naive", "one thread per element"),
                                        ("02_tiles", "tuned", "shared | memory"),
                                        ("03_padded_tiles", "tuned", "one column of padding"),
                                        ("vendors", "vendor", "the library"))],
    "bench": [],
}, {
    "name": "scan", "ladder_name": "scan", "summary": "running sums", "fields": [{"name": "n", "kind": "int"}],
    "ladder": [{"name": "cpu_naive", "device": "cpu", "tier": "naive", "note": "a loop", "arithmetic": "full"},
               {"name": "01_hillis_steele", "device": "cuda", "tier": "naive", "note": "rounds", "arithmetic": "full"}],
    "bench": [],
}]


def result(rung, tier, microseconds, **more):
    row = {"op": "transpose", "rung": rung, "tier": tier, "arithmetic": "full", "note": "", "shape": SHAPE,
           "dtype": "f32", "microseconds": microseconds, "flops": 0, "bytes": 2147483648, "gflops": 0,
           "gbytes_per_second": 2147483.648 / microseconds, "roofline": 500 / microseconds, "bound": "memory",
           "ratio": 800 / microseconds, "vendor_rung": "vendors", "checked": True, "status": "right", "message": None}
    return dict(row, **more)


RESULTS = {
    "format": "heddle bench 1", "machine": "Linux x86_64", "device": "cuda", "device_name": "NVIDIA Test",
    "driver": "1.2", "runtime": "13.0", "version": "0.1", "date": "2001-02-03", "seed": "7", "seconds": 0.5,
    "clocks": {"processor_before": 1980, "processor_after": 1950, "memory_before": 3201, "memory_after": 3201},
    "copy_bandwidth": 4.2e12, "complete": True, "command": "scripts/gpu-check bench",
    "results": [result("01_naive", "naive", 4000.0), result("02_tiles", "tuned", 2000.0),
                result("03_padded_tiles", "tuned", 1000.0), result("vendors", "vendor", 800.0)],
    "peers": {"version": "PyTorch 9", "results": [
        {"op": "transpose", "rung": "pytorch", "arithmetic": "full", "shape": {"rows": 16384, "cols": 16384},
         "microseconds": 1850.0}]},
    "limits": [{"op": "transpose", "rung": "03_padded_tiles", "shape": SHAPE, "facts": ["Busiest: device memory."]}],
}
TARGETS = {"targets": [
    {"op": "transpose", "shape": SHAPE, "dtype": "f32", "against": "copy", "at_least": 0.9},
    {"op": "transpose", "shape": SHAPE, "dtype": "f32", "against": "pytorch", "at_least": 1.5},
    {"op": "transpose", "shape": SHAPE, "dtype": "f32", "against": "vendor", "at_least": 1.0},
    {"op": "transpose", "shape": "rows=1 cols=1", "dtype": "f32", "against": "vendor", "at_least": 1.0},
    {"op": "transpose", "shape": SHAPE, "dtype": "tf32x3", "against": "vendor", "at_least": 1.0},
    {"op": "transpose", "shape": SHAPE, "dtype": "tf32x3", "against": "pytorch", "at_least": 4.0},
]}


def expect(condition, message):
    if not condition:
        raise SystemExit(message)


def put(path, content, executable=False):
    with open(path, "w") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))
    if executable:
        os.chmod(path, 0o755)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# --- pages -----------------------------------------------------------------------------------------------------------

class Pages:
    def __init__(self, folder):
        self.folder, self.out = folder, os.path.join(folder, "pages")
        put(os.path.join(folder, "heddle"), "#!/bin/sh\ncat '%s/registry.json'\n" % folder, True)
        put(os.path.join(folder, "registry.json"), {"operators": REGISTRY})
        put(os.path.join(folder, "targets.json"), TARGETS)
        self.results(RESULTS)

    def results(self, document):
        put(os.path.join(self.folder, "results.json"), document)

    def make(self, *more):
        return subprocess.run(
            [sys.executable, os.path.join(ROOT, "scripts", "ladder-docs"), "--heddle",
             os.path.join(self.folder, "heddle"), "--results", os.path.join(self.folder, "results.json"), "--targets",
             os.path.join(self.folder, "targets.json"), "--counters", os.path.join(self.folder, "counters.json"),
             "--sweep", os.path.join(self.folder, "sweep.json"),
             "--out", self.out] + list(more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def page(self, name):
        return os.path.join(self.out, name)


def says(path, *texts):
    content = read(path)
    for text in texts:
        expect(text in content, "%s does not say '%s':\n%s" % (path, text, content))


def disagrees(pages, about):
    done = pages.make("--check")
    expect(done.returncode == 1, "%s: --check exits with %d: %s" % (about, done.returncode, done.stdout))
    expect(len(done.stdout.splitlines()) == 1, "%s: --check says more than one line: %s" % (about, done.stdout))
    return done.stdout


def test_pages(folder):
    pages = Pages(folder)
    done = pages.make()
    expect(done.returncode == 0, "ladder-docs: " + done.stdout)
    says(pages.page("transpose.md"),
         "| 02_tiles | f32 | 2.00 ms | 1.07 TB/s | 25 % | 2.00 × | 0.40 × | 0.93 × |",
         "| **03_padded_tiles** | f32 | 1.00 ms | 2.15 TB/s | 50 % | 2.00 × | 0.80 × | 1.85 × |",
         "| pytorch | f32 | 1.85 ms |",
         "| Shared \\| memory |",  # a bar in a note does not end its cell
         "(../../src/ops/transpose/03_padded_tiles.cu)",
         "Bank conflicts. A column of a tile",  # "Limited by" of 02_tiles.cu
         "0.90 × a copy within the device: **missed by 44 %**, 0.50 × by 03_padded_tiles. ncu: Busiest: device",
         "1.50 × PyTorch: met, 1.85 × by 03_padded_tiles.",
         "rows=1 cols=1, f32: 1.00 × the vendor's fastest rung: not measured.",
         "NVIDIA Test", "driver 1.2", "GPU 1980 MHz before and 1950 after", "2001-02-03", "seed 7",
         "`scripts/gpu-check bench`")
    says(pages.page("README.md"), "[transpose](transpose.md)", "03_padded_tiles", "50 %", "0.80 ×", "1.85 ×")
    says(pages.page("README.md"), "Not measured yet: [scan](scan.md).")
    says(pages.page("scan.md"), "[01_hillis_steele](../../src/ops/scan/01_hillis_steele.cu) | Rounds |", "Not measured yet.")
    expect("cpu_naive" not in read(pages.page("scan.md")), "a rung of the CPU is on a page of figures of a GPU")
    expect("NVIDIA Test" not in read(pages.page("scan.md")), "a page without figures names a machine")
    says(pages.page("transpose.svg"), "03_padded_tiles", "PyTorch", "prefers-color-scheme: dark")
    expect(pages.make("--check").returncode == 0, "fresh pages do not agree with their results")

    content = read(pages.page("transpose.md"))
    put(pages.page("transpose.md"), content.replace("1.00 ms", "0.90 ms"))
    expect("transpose.md" in disagrees(pages, "a figure written by hand"), "the page is not named")
    put(pages.page("transpose.md"), content)
    expect(pages.make("--check").returncode == 0, "the page as it was does not agree any more")

    faster = copy.deepcopy(RESULTS)
    faster["results"][2]["microseconds"] = 990.0
    pages.results(faster)
    disagrees(pages, "another result")
    pages.results(RESULTS)
    put(pages.page("gone.md"), "a ladder that is no more")
    expect("gone.md" in disagrees(pages, "a page too many"), "the page is not named")
    expect(pages.make().returncode == 0 and not os.path.exists(pages.page("gone.md")), "the page too many stays")
    os.remove(pages.page("transpose.svg"))
    disagrees(pages, "a plot is missing")


def test_fp32_class(folder):
    """Products in parts stand beside float32: they are held against its vendor and its peer, and are not its best."""
    pages = Pages(folder)
    expect(pages.make().returncode == 0, "ladder-docs fails")
    says(pages.page("transpose.md"), "tf32x3: 1.00 × the vendor's fastest rung: not measured.")
    more = copy.deepcopy(RESULTS)
    more["results"].append(result("04_parts", "tuned", 500.0, arithmetic="tf32x3", dtype="tf32x3", ratio=None))
    pages.results(more)
    expect(pages.make().returncode == 0, "ladder-docs fails")
    says(pages.page("transpose.md"), "| **03_padded_tiles** | f32 |",
         "| **04_parts** | tf32x3 | 500 µs | 4.29 TB/s | 100 % | – | – | 3.70 × |",
         "tf32x3: 1.00 × the vendor's fastest rung: met, 1.60 × by 04_parts.",
         "tf32x3: 4.00 × PyTorch: **missed by 7 %**, 3.70 × by 04_parts.",
         "f32: 1.00 × the vendor's fastest rung: **missed by 20 %**, 0.80 × by 03_padded_tiles.",
         "Type tf32x3 is float32 in and out with products split in three")
    expect(read(pages.page("transpose.md")).count("| pytorch |") == 1, "PyTorch's row stands twice")


def test_wrong_rung(folder):
    """A rung that was wrong has a line and no figure, and is not the best."""
    pages = Pages(folder)
    wrong = copy.deepcopy(RESULTS)
    wrong["results"][2].update(checked=False, status="wrong", message="element 3 is 0", microseconds=None, gflops=None,
                               gbytes_per_second=None, roofline=None, ratio=None)
    pages.results(wrong)
    done = pages.make()
    expect(done.returncode == 0, "ladder-docs: " + done.stdout)
    says(pages.page("transpose.md"), "| 03_padded_tiles | f32 | wrong | element 3 is 0 |", "| **02_tiles** |")


def test_sweep_page(folder):
    """Random shapes have a page of their own: what is slow first, with ncu's account."""
    pages = Pages(folder)
    small = "rows=3 cols=5"
    swept = dict(RESULTS, command="scripts/gpu-check sweep", results=RESULTS["results"] + [
        result("02_tiles", "tuned", 2.0, shape=small, ratio=1.5), result("vendors", "vendor", 3.0, shape=small)])
    put(os.path.join(folder, "sweep.json"), swept)
    expect(pages.make().returncode == 0, "ladder-docs fails")
    says(pages.page("sweep.md"), "1 of 2 rows reach 0.90 × the vendor's speed (50 %; goal: 95 %)",
         "| transpose | 2 | 1 | 1.10 × | 0.80 × |",
         "| transpose | %s | f32 | 03_padded_tiles | 0.80 × | Busiest: device memory. |" % SHAPE,
         "| transpose | rows=3 cols=5 | f32 | 02_tiles | 1.50 × |")
    says(pages.page("README.md"), "[sweep](sweep.md)")
    os.remove(os.path.join(folder, "sweep.json"))
    disagrees(pages, "a page of a sweep that has no results")


def test_drawn_shapes(build, _):
    """A sweep draws shapes for every operator that the vendor has, the same for the same seed, with the fields it needs."""
    operators = {op["name"]: op for op in ladders.registry(os.path.join(build, "heddle"))}
    theirs = {op["name"] for op in operators.values() if any(
        rung["tier"] == "vendor" and rung["device"] == "cuda" for rung in op["ladder"])}
    expect(theirs - {"matmul_host"} <= set(sweep.DRAW), "no shapes are drawn for %s" % (theirs - set(sweep.DRAW)))
    found = sweep.drawn(operators, 200, "1")
    expect(sum(map(len, found.values())) == 200, "not 200 shapes are drawn")
    expect(found == sweep.drawn(operators, 200, "1"), "the same seed draws other shapes")
    expect(found != sweep.drawn(operators, 200, "2"), "another seed draws the same shapes")
    expect(found["fft"] == sweep.drawn({"fft": operators["fft"]}, 200, "1")["fft"],
           "an operator's shapes depend on the other operators")
    for op, shapes in found.items():
        expect(len(set(shapes)) == len(shapes), "%s: a shape is drawn twice" % op)
        fields = {field["name"]: field for field in operators[op]["fields"]}
        needed = {name for name, field in fields.items() if "default" not in field}
        for shape in shapes:
            named = {word.split("=")[0] for word in shape.split()}
            expect(needed <= named <= set(fields), "%s takes no shape \"%s\"" % (op, shape))


def test_no_results(folder):
    pages = Pages(folder)
    os.remove(os.path.join(folder, "results.json"))
    done = pages.make("--check")
    expect(done.returncode == 1 and "results.json" in done.stdout, "a missing result file: %s" % done.stdout)


# --- limits ----------------------------------------------------------------------------------------------------------

PROFILE = {
    "gpu__time_duration.sum": "1,000,000", "sm__throughput.avg.pct_of_peak_sustained_elapsed": "31.5",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": "62.25",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "40",
    "l1tex__throughput.avg.pct_of_peak_sustained_active": "55",
    "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active": "20",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": "7.5",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": "1.5",
    "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio": "1",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "88", "launch__registers_per_thread": "32",
    "launch__occupancy_limit_registers": "8", "launch__occupancy_limit_shared_mem": "6",
}


def test_limits(folder):
    """What ncu says of a rung that misses its target comes into the result file, and from there onto the page."""
    pages = Pages(folder)
    results = copy.deepcopy(RESULTS)
    del results["limits"]
    pages.results(results)
    header = ["ID", "Kernel Name", "Block Size", "Grid Size"] + list(PROFILE)
    rows = [["0", "transpose_padded_tiles(int)", "(32, 8, 1)", "(64, 1, 1)"] + list(PROFILE.values()),
            ["1", "transpose_padded_tiles(int)", "(32, 8, 1)", "(64, 1, 1)"] + ["1"] * len(PROFILE)]
    put(os.path.join(folder, "table.csv"),
        "\n".join(",".join('"%s"' % cell for cell in row) for row in [header] + rows))
    put(os.path.join(folder, "ncu"), "#!/bin/sh\necho '==PROF=='; cat '%s/table.csv'\n" % folder, True)
    done = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "ladder-limits"), folder, "--results",
                           os.path.join(folder, "results.json"), "--targets", os.path.join(folder, "targets.json")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, PATH=folder + ":" + os.environ["PATH"]))
    expect(done.returncode == 0, "ladder-limits: " + done.stdout)
    expect(pages.make().returncode == 0, "no pages")
    says(pages.page("transpose.md"),
         "ncu: Busiest: device memory, at 62 % of peak (L1 cache and shared memory 55 %, the L2 cache 40 %, the "
         "multiprocessors 32 %); busiest pipe: lsu, at 20 %.",
         "per 10.0 cycles; it stalls for 7.5 on 'long scoreboard', 1.5 on 'barrier'.",
         "88 % of the warps that fit are resident, with 32 registers per thread; shared memory allows 6 blocks")


def test_kernels_are_found_whatever_stands_before_their_names(folder):
    """ncu is asked for kernels by name: one that is not found is missing from an account without a word."""
    put(os.path.join(folder, "rung.cu"), """
template <int Blocks> static __global__ void __cluster_dims__(1, 3 - Blocks, 1)
    __launch_bounds__(limits<Blocks>::THREADS, 1)
        in_clusters(int n)
{
}
__global__ void plain(float *to) { *to = 1; }
__global__ void __launch_bounds__(256) declared_only(float *to);
""")
    sys.path.insert(0, os.path.join(ROOT, "scripts"))
    found = importlib.import_module("ladders").kernels_in(os.path.join(folder, "rung.cu"))
    expect(found == {"in_clusters", "plain"}, "kernels: %s" % sorted(found))


# --- gpu-check's bench part -------------------------------------------------------------------------------------------

class Machine:
    """What gpu-check would run on a GPU, played: each operator takes a run, and PyTorch knows one of them."""

    def __init__(self):
        self.runs = 0

    def run(self, command, **_):
        self.runs += 1
        if "ops" in command and command[-2] != "ops":  # of one operator
            return 0, json.dumps({"operators": [dict(REGISTRY[0], name=command[-2],
                                                     bench=[{"shape": "rows=16384 cols=16384"}])]}), 0
        if "ops" in command:
            return 0, json.dumps({"operators": [dict(REGISTRY[0], name=name) for name in ("transpose", "scan")]}), 0
        path = written_by(command)
        if path is None:
            return 0, "", 0
        if any("bench_ops" in word for word in command):
            found = {"version": "PyTorch 9", "results": [{"op": "scan", "run": self.runs}] if "scan" in command else []}
        else:
            found = copy.deepcopy(RESULTS)
            shapes = [command[at + 1] for at, word in enumerate(command) if word == "--shape"] or ["rows=1", "rows=2"]
            found.update(results=[{"op": command[2], "shape": shape} for shape in shapes], date="date %d" % self.runs,
                         copy_bandwidth=self.runs)
            del found["peers"], found["command"], found["limits"]
        put(path, found)
        return 0, "", 0


def test_runs_are_merged(folder):
    """A second run for one operator replaces its rows and PyTorch's, and keeps the others."""
    module, machine = gpu_check(), Machine()
    module.run, module.TARGETS = machine.run, os.path.join(folder, "targets.json")
    put(module.TARGETS, {"targets": []})
    options = argparse.Namespace(build=folder, results=os.path.join(folder, "r.json"), merge=True, ops=None,
                                 quick=False, seconds="0.1", shape=None, skip_peers=False)
    module.bench(options, module.Table())
    first = json.loads(read(options.results))
    expect([row["op"] for row in first["results"]] == ["transpose"] * 2 + ["scan"] * 2, "rows: %s" % first["results"])
    expect(first["command"] == "scripts/gpu-check bench --seconds 0.1", "command: " + first["command"])
    options.ops = ["scan"]
    module.bench(options, module.Table())
    second = json.loads(read(options.results))
    expect(second["results"][:2] == first["results"][:2], "the other operator's rows changed")
    expect(second["results"][2]["date"] > first["results"][2]["date"], "the operator's row is the old one")
    expect(len(second["results"]) == 4 and len(second["peers"]["results"]) == 1, "rows: %s" % second)
    expect(second["peers"]["results"][0]["run"] > first["peers"]["results"][0]["run"], "PyTorch's row is the old one")
    options.ops = ["transpose"]
    module.bench(options, module.Table())
    third = json.loads(read(options.results))
    expect(third["peers"]["results"] == second["peers"]["results"], "PyTorch's row is gone")
    options.shape = ["rows=2"]
    module.bench(options, module.Table())
    fourth = json.loads(read(options.results))["results"]
    expect(len(fourth) == 4 and fourth[:3] == [row for row in third["results"] if row["op"] == "scan"
                                               or row["shape"] == "rows=1"], "other shapes' rows: %s" % fourth)
    expect(fourth[3]["shape"] == "rows=2" and fourth[3]["date"] > third["results"][3]["date"], "row: %s" % fourth[3])


def test_a_target_without_a_usual_shape_is_measured_too(folder):
    module, machine = gpu_check(), Machine()
    module.run = machine.run
    module.TARGETS = os.path.join(folder, "targets.json")
    put(module.TARGETS, {"targets": [{"op": "conv2d_forward", "shape": "n=1 c=1 h=2048 w=2048"}] + TARGETS["targets"]})
    options = argparse.Namespace(build=folder)
    expect(module.further_shapes(options, "conv2d_forward") == ["n=1 c=1 h=2048 w=2048"], "a target's shape is left out")
    expect(SHAPE not in module.further_shapes(options, "transpose"), "a usual shape is measured twice")


# --- counters --------------------------------------------------------------------------------------------------------

NCU = r'''#!/usr/bin/env python3
import re, sys
kernel = re.search(r"\^\((\w+)\)\$", " ".join(sys.argv)).group(1)
metrics = sys.argv[sys.argv.index("--metrics") + 1].split(",")
print("==PROF== Connected")
print(",".join('"%s"' % name for name in ["ID", "Kernel Name", "Block Size", "Grid Size"] + metrics))
print(",".join('""' for _ in range(4 + len(metrics))))
blocks = {"transpose_naive": ("(256, 1, 1)", "(256, 1, 1)")}
block, grid = blocks.get(kernel, ("(32, 8, 1)", "(64, 1, 1)"))
def value(name):
    load = "ld" in name.split("_op_")[1]
    if "bank_conflicts" in name:
        return 63488 if load and kernel == "transpose_tiles" else 0
    if "t_sectors" in name and not load and kernel == "transpose_naive":
        return "65,536"
    if "shared" in name and kernel == "transpose_naive":
        return 0
    return 8192 if "t_sectors" in name else 2048
print(",".join('"%s"' % cell for cell in ["0", "void %s<(bool)1>(int, const float *)" % kernel, block, grid]
               + [value(name) for name in metrics]))
print("transpose  rows=256 cols=256")
'''


def counters(build, folder, *more, path=None):
    file = os.path.join(folder, "counters.json")
    done = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "ladder-counters"), build, "--ops",
                           "transpose", "--json", file] + list(more), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=dict(os.environ, PATH=path or os.environ["PATH"]))
    return done, json.loads(read(file))["rows"] if os.path.exists(file) else []


def one(rows, rung, access):
    found = [row for row in rows if row["rung"] == rung and row["access"] == access]
    expect(len(found) == 1, "%s of %s: %d rows" % (access, rung, len(found)))
    return found[0]


def test_simulator(build, folder):
    done, rows = counters(build, folder, "--simulator-only")
    expect(done.returncode == 0, "ladder-counters: " + done.stdout)
    for rung, access, value in (("01_naive", "global store", 32), ("02_tiles", "global store", 4),
                                ("02_tiles", "shared load", 63488), ("03_padded_tiles", "shared load", 0)):
        row = one(rows, rung, access)
        expect(row["simulator"] == value, "%s %s: %s, not %s" % (rung, access, row["simulator"], value))
        expect(row["ncu"] is None and row["equal"] is None, "%s: a figure of ncu's from nowhere" % rung)
    expect(one(rows, "04_vectorised", "global load")["kernel"] == "transpose_vectorised", "a template's name is lost")


def test_beside_ncu(build, folder):
    """Equal figures are told so; a difference that has no reason is no success."""
    put(os.path.join(folder, "ncu"), NCU, True)
    put(os.path.join(folder, "nvidia-smi"), "#!/bin/sh\necho 'Test GPU, 1.0'\n", True)
    put(os.path.join(folder, "cuobjdump"), "#!/bin/sh\nexit 1\n", True)
    done, rows = counters(build, folder, path=folder + ":" + os.environ["PATH"])
    row = one(rows, "01_naive", "global store")
    expect(row["ncu"] == 32 and row["equal"], "01_naive: %s" % row)
    row = one(rows, "02_tiles", "shared load")
    expect(row["ncu"] == 63488 and row["equal"], "02_tiles: %s" % row)
    row = one(rows, "04_vectorised", "global load")
    expect(row["ncu"] == 4 and row["equal"] is False and not row["reason"], "04_vectorised: %s" % row)
    expect(done.returncode == 1, "a difference without a reason passes: " + done.stdout)


def main():
    tests = {"docs": [test_pages, test_fp32_class, test_wrong_rung, test_sweep_page, test_no_results, test_limits,
                      test_kernels_are_found_whatever_stands_before_their_names,
                      test_runs_are_merged, test_a_target_without_a_usual_shape_is_measured_too],
             "counters": [test_simulator, test_beside_ncu, test_drawn_shapes]}[sys.argv[1]]
    for test in tests:
        with tempfile.TemporaryDirectory(prefix="ladders-") as folder:
            test(*sys.argv[2:], folder)
    print("%d tests" % len(tests))


if __name__ == "__main__":
    main()

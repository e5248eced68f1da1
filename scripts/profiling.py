"""What profiles cost, and `scripts/gpu-check profile`: profiles of training steps on a GPU, and whether they hold what
they should."""
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

# Options of train, for about half a second of steps; where images are streamed, their copies must run under kernels.
CASES = [
    ("cnn-fused", "--model cnn --kernels fused --precision bf16 --batch 256 --epochs 120", False),
    ("cnn-streamed", "--model cnn --kernels fused --precision bf16 --batch 256 --data-place streamed --epochs 120", True),
    ("resnet", "--model resnet --kernels fused --precision bf16 --batch 256 --epochs 5", False),
    ("cnn-tuned", "--model cnn --kernels tuned --batch 256 --epochs 15", False),
]
DATA = "--data synth:count=20480 --device cuda"
LEAST_MATCHED = 0.9  # of the kernels' time, which calls must account for
LEAST_COVERED = 0.5  # of the copies' time, in which a kernel must run
MOST_OVERHEAD = 3  # per cent


# --- what it costs ---------------------------------------------------------------------------------------------------

def train(heddle, words, folder, *more):
    """The result of one run."""
    out = os.path.join(folder, "run")
    done = subprocess.run([heddle, "train", *words, "--json", "--overwrite", "--out", out, *more],
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def overhead(heddle, words, rounds):
    """{"off": rates, "on": rates, "overhead": per cent, "overhead_of_medians": per cent}, in images per second."""
    rates = {"off": [], "on": []}
    with tempfile.TemporaryDirectory() as folder:
        train(heddle, words, folder)  # warms up
        for i in range(rounds):
            for name in ("off", "on") if i % 2 == 0 else ("on", "off"):
                more = ["--profile"] if name == "on" else []
                rates[name].append(train(heddle, words, folder, *more)["images_per_second"])
    best = {name: max(values) for name, values in rates.items()}
    middle = {name: statistics.median(values) for name, values in rates.items()}
    return dict(rates, overhead=100 * (best["off"] / best["on"] - 1),
                overhead_of_medians=100 * (middle["off"] / middle["on"] - 1))


# --- on a GPU --------------------------------------------------------------------------------------------------------

def faults_of(profile, streamed):
    """What a profile lacks, as texts."""
    found = []
    rows = [row for row in profile["rows"] if not row["host"] and "rung" in row]
    matched = sum(row["seconds"] for row in rows)
    if profile["note"]:
        found.append(profile["note"])
    if not profile["steps"] or not rows:
        found.append("no steps")
    if matched < LEAST_MATCHED * (matched + profile["other_seconds"] - profile["copy_seconds"]):
        found.append("operator calls account for %.0f of %.0f µs" % (1e6 * matched, 1e6 * profile["other_seconds"]))
    ranges = set(profile.get("nvtx_ranges", []))
    missing = {(row["layer"] + " " + row["operator"]).strip() for row in rows} - ranges
    if missing:
        found.append("no NVTX range: %s" % ", ".join(sorted(missing)[:4]))
    copied = profile["copy_seconds"]
    if streamed and (not copied or profile["copy_seconds_under_kernels"] < LEAST_COVERED * copied):
        covered = profile["copy_seconds_under_kernels"]
        found.append("copies under kernels: %.1f of %.1f µs" % (1e6 * covered, 1e6 * copied))
    return found


def examine(heddle, name, words, streamed, kept, rounds):
    """One case: its profile, its files beside the result file, what is wrong with it."""
    words = DATA.split() + words.split()
    row = {"case": name, "train": " ".join(words)}
    try:
        with tempfile.TemporaryDirectory() as folder:
            row["profile"] = train(heddle, words, folder, "--profile")["profile"]
            for ending in ("svg", "pftrace"):
                shutil.copy(os.path.join(folder, "run", "profile." + ending), "%s-%s.%s" % (kept, name, ending))
        row["faults"] = faults_of(row["profile"], streamed)
        row["cost"] = overhead(heddle, words, rounds)
        if row["cost"]["overhead"] > MOST_OVERHEAD:
            row["faults"].append("costs %.1f %%" % row["cost"]["overhead"])
    except (subprocess.CalledProcessError, OSError, KeyError, ValueError) as trouble:
        row["faults"] = row.get("faults", []) + ["%s: %s" % (type(trouble).__name__, trouble)]
    return row


def kernel(heddle):
    """ncu's report of one kernel of ours, or why there is none."""
    done = subprocess.run([heddle, "profile", "--kernel", ".*saxpy.*", "--json", "--", heddle, "bench", "saxpy",
                           "--device", "cuda", "--quick"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {
        "exit": done.returncode, "said": done.stderr.strip().splitlines()[-1:]}


def watch(heddle):
    """One sample of the devices."""
    done = subprocess.run([heddle, "devices", "--watch", "--count", "1", "--json"], stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[0]) if done.returncode == 0 else None


def check(heddle, path, table, save, facts, rounds=5):
    """All cases, into one result file with a trace and a picture of each beside it."""
    kept = os.path.splitext(path)[0]
    whole = dict(facts, format=1, cases=[])
    for name, words, streamed in CASES:
        began = time.monotonic()
        row = examine(heddle, name, words, streamed, kept, rounds)
        whole["cases"].append(row)
        save(path, whole)
        cost = "%+.1f %%" % row["cost"]["overhead"] if "cost" in row else ""
        table.add("profile", name, not row["faults"], "; ".join(row["faults"]) or cost, time.monotonic() - began)
    began = time.monotonic()
    whole["kernel"], whole["watch"] = kernel(heddle), watch(heddle)
    save(path, whole)
    said = whole["kernel"].get("limited_by") or str(whole["kernel"].get("said"))
    # Without ncu, or the permission to use it, one line says what to do, with exit code 3.
    table.add("profile", "one kernel by ncu", "limited_by" in whole["kernel"] or whole["kernel"].get("exit") == 3, said,
              time.monotonic() - began)
    gpus = [one for one in (whole["watch"] or {}).get("devices", []) if one["device"] != "cpu"]
    table.add("profile", "devices --watch", bool(gpus) and "watts" in gpus[0], json.dumps(gpus[:1]), 0)

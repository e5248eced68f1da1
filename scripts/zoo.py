"""The zoo: several networks, trained and predicting, beside PyTorch and JAX. What gpu-check and zoo-docs share: which
figures there are, how they are measured and merged into one result file, and what heddle is compared with. Standard
library only."""
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import training
from training import ROOT, Trouble, load, save
import model_file

RESULTS = os.path.join(ROOT, "results", "zoo-h200.json")
FORMAT = "heddle zoo 1"
BUILT_IN = ["cnn", "mlp"]
MODELS = ["lenet5", "wide-cnn", "mlp3", "vgg", "resnet"] + BUILT_IN  # all of them are in examples/models
JOBS = ["train", "infer"]
BATCHES = {"train": "64,1024", "infer": "1,64,1024,10000"}
PRECISIONS = ["fp32", "tf32", "bf16"]
IN_BYTES = "int8"  # predictions, in heddle alone; compared with its own bf16
STANDS_FOR = {"fp32": ["fp32", "tf32x3"]}  # tf32x3 has the accuracy of fp32, and the faster of the two counts
# What comes first says most for its time: where that is short, the later modes are left out.
STAGES = [
    {"train": "graph,graph channels-last,compile graph channels-last,compile graph",
     "infer": "graph,graph channels-last,folded compile graph channels-last,folded compile graph"},
    {"train": "whole-step compile graph,whole-step compile graph channels-last,scan,scan nchw",
     "infer": "pipelined folded compile graph channels-last,step,step nchw,pipelined step"},
]
ON_CPU = {"train": "eager,channels-last,step", "infer": "eager,channels-last,step"}
KEYS = ("job", "model", "framework", "precision", "batch", "mode")
START_KEYS = ("model", "mode")
QUALITY_KEYS = ("data", "model", "precision")
LIMIT_KEYS = ("model", "precision", "batch")
GRADIENT_KEYS = ("model", "precision", "batch")
GRADIENT_MODELS = [name for name in MODELS if name not in BUILT_IN]  # docs/training-measured.md has the course's CNN
GRADIENT_SEEDS = 5
# Of a row of gradients_gpu.py. It has every parameter's errors too, which would make the file ten times as long.
GRADIENT_FACTS = ("kernels", "seeds", "peer_precision", "worst", "worst_ratio", "largest", "largest_ratio", "allowed",
                  "error", "why", "met", "worst_by_seed", "peer_by_seed")
LIMIT_IMAGES = 20480  # of a profiled run: about half a second of steps
LIMIT_SECONDS = 0.5
QUALITY_MODELS = ["lenet5", "vgg", "resnet"]
QUALITY_PRECISIONS = {"cuda": "fp32,tf32x3,tf32,bf16", "cpu": "fp32"}
FACTS = training.FACTS + ("clocks",)
NOT_RUN = ("no time left", "OutOfTime", "the process ended")  # beginnings of errors that say nothing about a mode
OWN = "heddle"

# At least this many times as fast as the fastest peer.
MEAN = {"train": 2.0}
EACH = {"train": 1.2, "infer": 1.5}
OF_MODEL = {"train": {"lenet5": 3.0, "wide-cnn": 3.0, "mlp3": 1.8}, "infer": {"cnn": 3.0}}
OF_TENSOR_CORES = {"train": {"vgg": 1.5, "resnet": 1.5}}  # in tf32 and bf16
OF_ROW = {("train", "cnn", "bf16", 1024): 10.0}
MOST_ALONE = 25.0  # microseconds for the prediction of a single image
START_SECONDS = {"cold": 10.0, "warm": 1.0}


def wanted(job, model, precision, batch):
    """How many times as fast as the fastest peer a row should be."""
    if (job, model, precision, batch) in OF_ROW:
        return OF_ROW[job, model, precision, batch]
    if precision != "fp32" and model in OF_TENSOR_CORES.get(job, {}):
        return OF_TENSOR_CORES[job][model]
    return OF_MODEL[job].get(model, EACH[job])


# --- options --------------------------------------------------------------------------------------------------------

def names(text):
    return [name for name in text.split(",") if name]


def add_options(parser):
    parser.add_argument("--zoo", metavar="FILE", help="result file of zoo (default: results/zoo-h200.json)")
    parser.add_argument("--models", type=names, default=MODELS, metavar="NAME,NAME",
                        help="zoo: of examples/models (default: %s)" % ",".join(MODELS))
    parser.add_argument("--precisions", type=names, default=PRECISIONS, metavar="TYPE,TYPE",
                        help="zoo: default: %s" % ",".join(PRECISIONS))
    parser.add_argument("--jobs", type=names, default=JOBS, metavar="JOB,JOB",
                        help="zoo: default: %s" % ",".join(JOBS))
    parser.add_argument("--quality", type=names, default=[], metavar="FOLDER,FOLDER",
                        help="zoo: only train %s with five seeds, in heddle and in PyTorch, on datasets in MNIST's format"
                             % ", ".join(QUALITY_MODELS))
    parser.add_argument("--gradients", action="store_true",
                        help="zoo: only compare the first step's gradients with float64, beside PyTorch's")
    parser.add_argument("--limits", action="store_true",
                        help="zoo: only profile the training steps that miss what is wanted of them, and measure the link")
    parser.add_argument("--skip-peers", action="store_true", help="bench, zoo: heddle alone")
    parser.add_argument("--only-peers", action="store_true", help="zoo: PyTorch and JAX alone")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"],
                        help="zoo, sweep: cpu tries it without a GPU (default: cuda)")


def check_options(parser, options):
    for option, known in (("models", MODELS), ("precisions", PRECISIONS), ("jobs", JOBS)):
        for name in getattr(options, option):
            if name not in known:
                parser.error("--%s: there is no '%s'; there are %s" % (option, name, ", ".join(known)))
    options.jobs = [job for job in JOBS if job in options.jobs]  # a cold start has to come first
    for folder in options.quality:
        if not os.path.isdir(folder):
            parser.error("--quality: %s is not a folder" % folder)
    if options.skip_peers and options.only_peers:
        parser.error("--skip-peers and --only-peers leave nothing to measure")
    if options.device == "cpu" and "zoo" in options.parts and not options.zoo:
        parser.error("--device cpu: name a result file with --zoo, apart from that of the GPU")
    options.zoo = os.path.abspath(options.zoo or RESULTS)
    options.zoo_batches, options.zoo_anew = options.batches, not options.merge


# --- the result file -------------------------------------------------------------------------------------------------

def is_timed(row):
    return training.is_timed(row)


def says_nothing(row):
    return row.get("error", "").startswith(NOT_RUN)


def chosen(before, row):
    """Of our own rows the last counts, of a peer's mode the fastest with one version of its framework."""
    return row if row["framework"] == OWN else training.faster(before, row)


def order_of(row):
    places = [names.index(name) if name in names else len(names) for names, name in (
        (JOBS, row["job"]), (MODELS, row["model"]), (PRECISIONS + [IN_BYTES], row["precision"]))]
    return places + [row["batch"], row["framework"] != OWN, row["framework"], row["precision"], row["mode"]]


def merged(whole, found, rows, starts=()):
    """`whole` with a run's rows: those that were measured again anew. A mode that was not run keeps the figure that it
    has. `found` is the document that the rows are from: its date and facts are kept."""
    whole = whole or {"format": FORMAT, "results": [], "starts": []}
    if whole["format"] != FORMAT:
        raise Trouble("the result file has another format: %s" % whole["format"])
    if found.get("device") != "cpu":
        training.check_card(whole, "peers" if "versions" in found else None, found)
    whole.update({fact: found[fact] for fact in FACTS if fact in found and "versions" not in found})
    versions = found.get("versions", {})
    whole["versions"] = {**whole.get("versions", {}), **versions}
    known = {tuple(row[key] for key in KEYS) for row in whole["results"] if is_timed(row)}
    rows = [dict(row, **({"version": versions[row["framework"]]} if row["framework"] in versions else {}))
            for row in rows if not says_nothing(row) or tuple(row[key] for key in KEYS) not in known]
    whole["results"] = sorted(training.rows_with(whole["results"], {"results": rows, "date": found["date"]}, KEYS,
                                                 chosen), key=order_of)
    whole["starts"] = training.rows_with(whole["starts"], {"results": list(starts), "date": found["date"]}, START_KEYS)
    whole["date"] = found["date"]
    return whole


def keep(options, found, rows, starts=()):
    """Into the file at once: a run that is cut off leaves what it had. Without --merge the first rows replace all."""
    whole = load(options.zoo) if os.path.exists(options.zoo) and not options.zoo_anew else None
    options.zoo_anew = False
    save(options.zoo, merged(whole, found, rows, starts))


# --- measuring -------------------------------------------------------------------------------------------------------

def path_of(model):
    return model_file.path_of(model)


def own_rows(document, model):
    """heddle's rows as those of the zoo."""
    rows = []
    for row in map(training.by_asked_precision, document["results"]):
        made = {"job": document["job"], "model": model, "framework": OWN, "precision": row["precision"],
                "batch": row["batch"], "mode": row["kernels"], "version": document["version"]}
        names = ("microseconds", "low", "high", "steps", "loss") if is_timed(row) else ()
        made.update({name: row[name] for name in names if name in row})
        rows.append(dict(made, **({} if is_timed(row) else {"error": row.get("message", "failed")})))
    return rows


def start_rows(document, model, mode):
    """How long the first row took to begin."""
    return [{"model": model, "mode": mode, "seconds": row["start_seconds"], "precision": row["precision"],
             "batch": row["batch"]} for row in document["results"] if "start_seconds" in row]


def own_precisions(options):
    names = [own for name in options.precisions for own in STANDS_FOR.get(name, [name])]
    return [name for name in names if options.device == "cuda" or name == "fp32"]


def of_job(precisions, job):
    """heddle predicts in bytes as well."""
    return precisions + [IN_BYTES] if job == "infer" and "bf16" in precisions else precisions


def own_command(options, model, job):
    """`heddle bench`, without the batches and precisions."""
    name = model if model in BUILT_IN else path_of(model)
    how = ["--rounds", "3", "--seconds", "0.02"] if options.quick else ["--seconds", "0.1"]
    return [os.path.join(options.build, "heddle"), "bench", job, "--device", options.device, "--peers", "no",
            "--kernels", "fused", "--model", name] + how


def run_own(options, table, run, what, command, environment):
    """heddle's document; None: it left none."""
    part = options.zoo + ".part"
    remove(part)
    code, seconds = run(command + ["--json=" + part], env=environment)
    found = taken(part)
    table.add("zoo", what, code == 0 and found is not None, "", seconds)
    return found


def measure_own(options, table, run, model, caches):
    """heddle's rows of a model. Its first command finds empty caches: a cold start. A short one after it is a warm
    start."""
    folder = os.path.join(caches, model)
    os.mkdir(folder)
    environment = dict(os.environ, XDG_CACHE_HOME=folder, CUDA_CACHE_PATH=os.path.join(folder, "cuda"))
    precisions = own_precisions(options)
    for job in options.jobs:
        batches, command = options.zoo_batches or BATCHES[job], own_command(options, model, job)
        found = run_own(options, table, run, "%s, %s" % (model, job), command + [
            "--batch", batches, "--precision", ",".join(of_job(precisions, job))], environment)
        if found:
            keep(options, found, own_rows(found, model), start_rows(found, model, "cold") if job == "train" else ())
        if not found or job != "train":
            continue
        found = run_own(options, table, run, "%s, warm start" % model, command + [
            "--batch", batches.split(",")[0], "--precision", precisions[0], "--rounds", "3", "--seconds", "0.01"],
            environment)
        if found:
            keep(options, found, (), start_rows(found, model, "warm"))


def remove(path):
    """What an interrupted run may have left."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)


def taken(path):
    """A document, whose file is removed; None: there is none."""
    if not os.path.exists(path):
        return None
    found = load(path)
    os.remove(path)
    return found


def peer_stages(options):
    """[(job, modes)], what says most first."""
    if options.peer_modes:
        return [(job, options.peer_modes) for job in options.jobs]
    if options.device == "cpu":
        return [(job, ON_CPU[job]) for job in options.jobs]
    return [(job, stage[job]) for stage in STAGES for job in options.jobs]


def measure_peers(options, table, run):
    """PyTorch and JAX in stages; each may take all the time that is left, and what it does not suffice for is in the
    file as not run."""
    deadline, part = time.monotonic() + options.peer_seconds, options.zoo + ".part"
    workers = options.peer_jobs or max(1, (os.cpu_count() or 1) * 3 // 2)
    for job, modes in peer_stages(options):
        remove(part)
        _, seconds = run([
            sys.executable, os.path.join(ROOT, "peers", "train_gpu.py"), "--job", job, "--model",
            ",".join(path_of(model) for model in options.models), "--batches", options.zoo_batches or BATCHES[job],
            "--precisions", ",".join(options.precisions), "--modes", modes, "--device", options.device, "--jobs",
            str(workers), "--total-seconds", "%.0f" % max(0, deadline - time.monotonic()), "--seconds",
            "0.05" if options.quick else "0.3", "--block-seconds", "0.05" if options.quick else "0.1", "--json", part,
            "--log", os.path.join(options.build, "zoo-peers.log")] +
            (["--alone", str(options.peer_alone)] if options.peer_alone else []))
        found = taken(part)
        rows = [dict(row, job=job) for row in found["results"]] if found else []
        if found:
            keep(options, found, [{name: value for name, value in row.items() if name not in (
                "fastest", "images_per_second", "steps_a_block")} for row in rows])
        without = sum(not is_timed(row) for row in rows)
        table.add("zoo", "%s: %s" % (job, modes), found is not None, "%d figures%s" % (
            len(rows) - without, ", %d without" % without if without else ""), seconds)


def so_far(options):
    """The result file, or an empty one: parts of zoo may be measured into a file of their own."""
    return load(options.zoo) if os.path.exists(options.zoo) else {"format": FORMAT}


def measure_quality(options, table, run):
    """The accuracy after training, beside PyTorch's with the same settings, and that of predictions in bytes."""
    for folder in options.quality:
        for model in [name for name in options.models if name in QUALITY_MODELS]:
            part, data = options.zoo + ".part", os.path.basename(os.path.normpath(folder))
            remove(part)
            code, seconds = run([
                sys.executable, os.path.join(ROOT, "peers", "accuracy_gpu.py"), "--heddle",
                os.path.join(options.build, "heddle"), "--data", folder, "--model", path_of(model), "--skip", "race",
                "--spread", "--int8", "--large-batch", "0", "--epochs", "3", "--jobs", "6", "--seeds",
                "5", "--precisions", QUALITY_PRECISIONS[options.device], "--device", options.device,
                "--heddle-device", options.device, "--json", part])
            found = taken(part)
            table.add("zoo", "quality of %s on %s" % (model, data), code == 0 and found is not None, "", seconds)
            if found:
                quality = found["quality"]
                rows = [dict(row, model=model, data=data, torch=quality["torch"], **quality["settings"])
                        for row in quality["results"]]
                whole = so_far(options)
                whole["quality"] = training.rows_with(whole.get("quality", []), {"results": rows, "date": found["date"]},
                                                      QUALITY_KEYS)
                save(options.zoo, whole)


def shortened(row, model):
    """A row of gradients_gpu.py without the errors of parameters that are not the worst."""
    kept = {name: row[name] for name in GRADIENT_KEYS + GRADIENT_FACTS if name in row}
    if "worst" in row:
        kept.update(worst_error=row["errors"][row["worst"]], peer_error=row["peer_errors"][row["worst"]])
    return dict(kept, model=model)


def measure_gradients(options, table, run):
    """The gradients of every network's first step against float64, by the rules of docs/training-measured.md."""
    for model in [name for name in options.models if name in GRADIENT_MODELS]:
        part = options.zoo + ".part"
        remove(part)
        _, seconds = run([sys.executable, os.path.join(ROOT, "peers", "gradients_gpu.py"), "--heddle",
                          os.path.join(options.build, "heddle"), "--model", path_of(model), "--batches", "7,64",
                          "--seeds", str(GRADIENT_SEEDS), "--device", options.device, "--heddle-device", options.device,
                          "--json", part])
        found = taken(part)
        rows = [shortened(row, model) for row in found["results"]] if found else []
        missed = sum(not row["met"] for row in rows)
        table.add("zoo", "gradients of %s" % model, bool(rows), "%d of %d rows within their bounds" % (
            len(rows) - missed, len(rows)), seconds)
        if rows:
            whole = so_far(options)
            whole["gradients"] = training.rows_with(whole.get("gradients", []), {"results": rows, "date": found["date"]},
                                                    GRADIENT_KEYS)
            save(options.zoo, whole)


def profiled(options, pair, folder):
    """The profile of a row's training step."""
    own = pair["own"]
    epochs = max(1, int(LIMIT_SECONDS * 1e6 / (own["microseconds"] * max(1, LIMIT_IMAGES // own["batch"]))))
    done = subprocess.run([
        os.path.join(options.build, "heddle"), "train", "--model", path_of(pair["model"]), "--data",
        "synth:count=%d" % LIMIT_IMAGES, "--device", options.device, "--kernels", "fused", "--precision",
        own["precision"], "--batch", str(own["batch"]), "--epochs", str(epochs), "--profile", "--json", "--overwrite",
        "--out", os.path.join(folder, "run")], stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])["profile"]
    return {name: found[name] for name in ("steps", "seconds", "gap_seconds", "other_seconds", "rows")}


def measure_limits(options, table):
    """What the steps that miss their goal are made of, and how fast the link is that predictions come over."""
    began, whole = time.monotonic(), load(options.zoo)
    missed = [pair for pair in compared(whole, "train") if pair["ratio"] and misses("train", pair)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for pair in missed:
            try:
                rows.append(dict({name: pair[name] for name in LIMIT_KEYS}, own_precision=pair["own"]["precision"],
                                 profile=profiled(options, pair, folder)))
            except (subprocess.CalledProcessError, ValueError, KeyError) as trouble:
                table.add("zoo", "profile of %s" % pair["model"], False, str(trouble)[:80], 0)
    done = subprocess.run([os.path.join(options.build, "heddle"), "devices", options.device, "--measure", "--json"],
                          stdout=subprocess.PIPE, text=True)
    link = json.loads(done.stdout.splitlines()[-1])["devices"][0]["measured"] if done.returncode == 0 else {}
    # Rows that have come to reach their goal leave; those that could not be profiled this time stay.
    wanted_now = {tuple(pair[name] for name in LIMIT_KEYS) for pair in missed}
    kept = [row for row in whole.get("limits", {"rows": []})["rows"]
            if tuple(row[name] for name in LIMIT_KEYS) in wanted_now]
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    whole["limits"] = {"rows": training.rows_with(kept, {"results": rows, "date": date}, LIMIT_KEYS), "link": link,
                       "date": date}
    save(options.zoo, whole)
    table.add("zoo", "limits", len(rows) == len(missed) and bool(link), "%d steps profiled" % len(rows),
              time.monotonic() - began)


def measure(options, table, run):
    """The part of gpu-check: heddle first, which takes a second per figure."""
    for name in options.models:
        if not os.path.exists(path_of(name)):
            raise Trouble("there is no model %s in examples/models; there are %s" % (name, ", ".join(MODELS)))
    if options.quality:
        measure_quality(options, table, run)
        return
    if options.gradients:
        measure_gradients(options, table, run)
        return
    if options.limits:
        measure_limits(options, table)
        return
    if not options.only_peers:
        with tempfile.TemporaryDirectory() as caches:
            for model in options.models:
                measure_own(options, table, run, model, caches)
    if not options.skip_peers:
        measure_peers(options, table, run)
    if os.path.exists(options.zoo):
        print_ratios(load(options.zoo))
    print("results: %s" % options.zoo)


# --- comparing -------------------------------------------------------------------------------------------------------

def fastest(rows):
    return min((row for row in rows if is_timed(row)), key=lambda row: row["microseconds"], default=None)


def is_like(row):
    """Whether a peer's row measures what heddle's does: a single image is predicted alone, with no other under way."""
    return row["batch"] > 1 or "pipelined" not in row["mode"].split()


def compared(results, job, stands_for=STANDS_FOR):
    """[{"model", "batch", "precision", "own", "peer", "ratio", "wanted"}]: rows are None where there is no figure."""
    rows = [row for row in results["results"] if row["job"] == job]
    made = []
    for model in MODELS:
        of_model = [row for row in rows if row["model"] == model]
        for batch in sorted({row["batch"] for row in of_model}):
            for precision in PRECISIONS:
                at = [row for row in of_model if row["batch"] == batch]
                own = fastest(row for row in at if row["framework"] == OWN
                              and row["precision"] in stands_for.get(precision, [precision]))
                peer = fastest(row for row in at if row["framework"] != OWN and row["precision"] == precision
                               and is_like(row))
                if any(row["precision"] == precision for row in at):
                    made.append({"model": model, "batch": batch, "precision": precision, "own": own, "peer": peer,
                                 "ratio": peer["microseconds"] / own["microseconds"] if own and peer else None,
                                 "wanted": wanted(job, model, precision, batch)})
    return made


def misses(job, pair):
    """What a row with both figures lacks, in words; "": nothing."""
    lacks = [] if pair["ratio"] >= pair["wanted"] else ["missed"]
    if job == "infer" and pair["batch"] == 1 and pair["own"]["microseconds"] > MOST_ALONE:
        lacks.append("over %g µs" % MOST_ALONE)
    return ", ".join(lacks)


def modes_of(results, job, pair):
    """(how many of the modes that a row should have have a figure, how many these are)"""
    named = [mode for stage in STAGES for mode in stage[job].split(",")]
    if not model_file.read(pair["model"]).has_layouts():
        named = {" ".join(word for word in mode.split() if word not in model_file.LAYOUTS) for mode in named}
    if job == "infer" and pair["batch"] == 1:
        named = [mode for mode in named if not mode.startswith("pipelined")]
    timed = {mode for _, mode in modes_run(results, job, pair)[0]}
    return sum(mode in timed for mode in named), len(named)


def in_bytes(results):
    """[(row in int8, row in bf16)] of heddle's predictions."""
    rows = {(row["model"], row["batch"], row["precision"]): row for row in results["results"]
            if row["job"] == "infer" and row["framework"] == OWN and is_timed(row)}
    return [(row, rows[model, batch, "bf16"]) for (model, batch, precision), row in rows.items()
            if precision == IN_BYTES and (model, batch, "bf16") in rows]


def image_bytes(model):
    """Of one image, as it comes over the link."""
    return math.prod(model_file.read(model).input[:3])


def mean(pairs):
    """The geometric mean of the ratios; None: there are none."""
    ratios = [pair["ratio"] for pair in pairs if pair["ratio"]]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def modes_run(results, job, pair):
    """Of the peers' modes at a row's place: [(framework, mode)] that have a figure, and [(framework, mode, why)] that
    have none."""
    at = [row for row in results["results"] if row["job"] == job and row["framework"] != OWN
          and all(row[name] == pair[name] for name in ("model", "batch", "precision"))]
    return ([(row["framework"], row["mode"]) for row in at if is_timed(row)],
            [(row["framework"], row["mode"], row.get("error", "failed")) for row in at if not is_timed(row)])


def print_ratios(results):
    for job in JOBS:
        pairs = [pair for pair in compared(results, job) if pair["ratio"]]
        for pair in pairs:
            print("%-6s %-9s %6d %-5s %9.1f µs %-7s %9.1f µs %-50s %6.2f × %s" % (
                job, pair["model"], pair["batch"], pair["precision"], pair["own"]["microseconds"],
                pair["own"]["precision"], pair["peer"]["microseconds"],
                "%s %s" % (pair["peer"]["framework"], pair["peer"]["mode"]), pair["ratio"],
                "" if pair["ratio"] >= pair["wanted"] else "(wanted: %g)" % pair["wanted"]))
        if pairs:
            print("%s: geometric mean %.2f over %d rows" % (job, mean(pairs), len(pairs)))

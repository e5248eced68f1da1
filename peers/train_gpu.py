#!/usr/bin/env python3
"""A model file's network trained by PyTorch and JAX on a GPU, or its predictions, in every way worth trying:
microseconds per step or batch, the fastest marked.

    peers/train_gpu.py [--job train|infer] [--model FILE,FILE] [--input C,H,W] [--classes N] [--batches 64,1024]
                       [--precisions fp32,tf32] [--frameworks torch,jax] [--modes MODE,MODE | --quick] [--seconds S]
                       [--total-seconds S] [--jobs N] [--go FILE] [--alone K] [--clocks] [--json FILE] [--device cpu]

A training step is what heddle's is: a batch gathered in shuffled order from bytes that are on the GPU, forward,
backward, update, zero-grad; SGD, batch statistics. A prediction is a batch of bytes in pinned host memory copied to the
GPU, forward, softmax, and the probabilities copied back. They are timed in blocks of 100, of which the median counts; a
prediction that is not pipelined ends before the next begins. A mode that fails is listed with its reason.

Each model, framework and precision has a process of its own; with --jobs several of them compile at once, and then
measure one after the other; what was not compiled in time comes last, each mode compiled and measured alone. With
--go FILE none measures before that file exists: they compile beside other work, and the file says that the GPU is free.
If it does not exist within --total-seconds, nothing is measured. The file of --json is complete after every process.

PyTorch lets cuDNN choose kernels and captures graphs when its turn to measure has come, alone. Compilers choose by
timing while they compile, and with --jobs and --go others share the GPU then. With --alone K the K fastest modes of
each model, batch and precision are prepared and measured once more, each in a process of its own with nothing else on
the GPU, and without the choices made before: PyTorch gets an empty TORCHINDUCTOR_CACHE_DIR, where compiled graphs and
autotuning results are kept, and finds only Triton's compiled kernels again (TRITON_CACHE_DIR); JAX's compilation cache,
whose programs have their kernels chosen, is off, and XLA loads no autotuning results. The faster of the two figures
stays: `alone` is true in a row whose figure is the second, and `twice` has both.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is left in the source tree
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import clocks  # noqa: E402
import model_file  # noqa: E402
import peer_worker  # noqa: E402
import result_file  # noqa: E402

# Resident, as bytes: a multiple of all usual batch sizes, on a GPU about as many as MNIST has.
IMAGES = {"cuda": 61440, "cpu": 8192}
FRAMEWORKS = ["jax", "torch"]  # the one that compiles quickly first
# Fastest first, as a rule: where time is short the slow ones are left out. jobs_torch.py and jobs_jax.py say what the
# words mean. Neighbours compile the same functions, and the second of them in a process finds the first one's kernels.
MODES = {
    "jax": ["scan", "step", "scan nchw", "scan reduce-window"],
    "torch": ["compile graph channels-last", "reduce-overhead channels-last", "graph channels-last", "compile graph",
              "reduce-overhead", "compile", "whole-step compile graph", "graph", "channels-last", "eager",
              "max-autotune graph channels-last", "max-autotune", "whole-step max-autotune graph",
              "whole-step compile graph channels-last", "whole-step max-autotune graph channels-last"],
}
INFER_MODES = {
    "jax": ["step", "step nchw", "pipelined step", "pipelined step nchw"],
    "torch": ["folded compile graph channels-last", "pipelined folded compile graph channels-last",
              "compile graph channels-last", "folded compile graph", "pipelined folded compile graph", "compile graph",
              "folded graph channels-last", "graph channels-last", "graph", "compile channels-last", "compile",
              "channels-last", "eager", "folded max-autotune graph channels-last", "folded max-autotune graph"],
}
# Of them, those that are usually fastest and compile within seconds.
QUICK = ["scan", "step", "graph channels-last", "compile graph channels-last", "whole-step compile graph",
         "folded compile graph channels-last", "eager", "channels-last"]
NEED_GPU = {"graph", "reduce-overhead", "max-autotune", "pipelined", "scan"}  # words; XLA's loops crawl on a CPU
PRECISIONS = ["tf32", "bf16", "fp32", "fp16", "bf16-pure", "fp16-pure"]
START_SECONDS = 20  # to import a framework while others do
# Per mode, beyond those of --seconds: warm-up, and the fewest blocks that are measured.
MEASURING_SECONDS, MEASURING_SECONDS_OF_BLOCKS = 1.5, 0.8
PREPARING_SHARE = 0.5  # of a round's time, at least, where time is too short to measure everything
# Through these XLA would find what an earlier process chose by timing.
XLA_KEPT_CHOICES = ("--xla_gpu_per_fusion_autotune_cache_dir", "--xla_gpu_load_autotune_results_from")
# Options that a worker gets as they are.
PASSED_ON = ("job", "seconds", "block_seconds", "device", "images", "steps", "lr", "momentum", "weight_decay",
             "input_type", "prepare_seconds", "prepare_total", "threads")


# --- workers, one by one or several that compile at once -------------------------------------------------------------

def environment(options, alone):
    """A worker's: compiler threads for its share of the cores, because several processes with all of them each would
    all be slower; `alone` is an empty folder, given where nothing chosen before may be found."""
    made = {"TORCHINDUCTOR_COMPILE_THREADS": str(max(1, (os.cpu_count() or 1) // options.jobs))}
    if options.kernels:
        made["TRITON_CACHE_DIR"] = options.kernels
    made.update(os.environ)
    if alone:
        flags = made.get("XLA_FLAGS", "").split()
        made.update({
            "TORCHINDUCTOR_CACHE_DIR": alone, "TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE": "0",
            "TORCHINDUCTOR_AUTOTUNE_REMOTE_CACHE": "0", "TORCHINDUCTOR_BUNDLED_AUTOTUNE_REMOTE_CACHE": "0",
            "JAX_ENABLE_COMPILATION_CACHE": "false",
            "XLA_FLAGS": " ".join(flag for flag in flags if not flag.startswith(XLA_KEPT_CHOICES))})
    return made


class Paused(Exception):
    """A worker was not ready in time, and is stopped so that it does not disturb those that are."""


class Worker:
    def __init__(self, options, job, turns, alone=None):
        command = [sys.executable, os.path.abspath(__file__), "--worker", job.framework, "--precision", job.precision,
                   "--batches", ",".join(map(str, job.batches)), "--modes", ",".join(job.modes), "--model", job.model]
        for name in PASSED_ON:
            command += ["--" + name.replace("_", "-"), str(getattr(options, name))]
        if options.input:
            command += ["--input", ",".join(map(str, options.input))]
        command += (["--classes", str(options.classes)] if options.classes else []) + (
            ["--turns"] if turns else []) + (["--clocks"] if options.clocks else [])
        self.job, self.turns, self.ready, self.paused, self.left = job, turns, not turns, False, 0
        self.rows, self.facts, self.why_killed = [], {}, "no time left"
        self.log = open(os.devnull if not options.log else options.log, "a")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        env=environment(options, alone), text=True, bufsize=1)

    def next(self):
        """Reads a line; False at the end."""
        line = self.process.stdout.readline()
        if not line:
            return False
        try:
            row = json.loads(line) if line.startswith("{") else {}
        except ValueError:  # what a framework prints is no row, and no reason to lose those that follow
            row = {}
        if not row:
            return True
        if "ready" in row:
            self.ready = True
        elif "left" in row:
            self.left = row["left"]
        elif "version" in row:
            self.facts = row
        else:
            self.rows.append(row)
            show(row)
        return True

    def give_up(self, why):
        self.why_killed = why
        self.process.kill()

    def until(self, deadline, call, late=None):
        """Calls it; at the deadline `late` is called, without which the process ends."""
        signal.signal(signal.SIGALRM, lambda *_: (late or self.process.kill)())
        signal.setitimer(signal.ITIMER_REAL, max(0.1, deadline - time.monotonic()))
        try:
            call()
        except (BrokenPipeError, ValueError, Paused):
            pass
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def pause(self):
        self.paused = True
        self.process.send_signal(signal.SIGSTOP)
        raise Paused

    def wait_ready(self):
        while not self.ready and self.next():
            pass

    def go(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def take_turn(self):
        self.wait_ready()
        if self.ready:
            self.go()
        while not self.left and self.next():
            pass

    def measure(self, deadline):
        """What it has prepared. Without turns it measures without being told."""
        if self.turns and not self.paused:
            self.until(deadline, self.take_turn)

    def finish(self, deadline):
        """Everything it still has to say, but not beyond the deadline."""
        def call():
            if self.paused:
                self.process.send_signal(signal.SIGCONT)
                self.take_turn()
            if self.left:
                self.go()
            while self.next():
                pass
        self.until(deadline, call)
        code = self.process.wait()
        for file in (self.process.stdin, self.process.stdout, self.log):
            with contextlib.suppress(BrokenPipeError):  # it ended before it was told to go
                file.close()
        if code != 0:
            told = {(row["mode"], row["batch"]) for row in self.rows}
            why = self.why_killed if code == -signal.SIGKILL else "the process ended with %d" % code
            for row in self.job.rows(why):
                if (row["mode"], row["batch"]) not in told:
                    self.rows.append(row)
                    show(row)


def show(row):
    name = "%-9s %-6s %-9s %6d  %-34s" % (row["model"], row["framework"], row["precision"], row["batch"], row["mode"])
    if "error" in row:
        print("%s %s" % (name, row["error"][:100]), flush=True)
    else:
        checked = "loss %.3f" % row["loss"] if "loss" in row else "off by %.1e" % row["difference"]
        print("%s %9.1f µs  %9.0f images/s  (%.1f to %.1f, %s, ready after %.0f s)" % (
            name, row["microseconds"], row["images_per_second"], row["low"], row["high"], checked,
            row["prepare_seconds"]), flush=True)


def modes_of(job):
    return MODES if job == "train" else INFER_MODES


def mode_words(job, framework):
    return {word for mode in modes_of(job)[framework] for word in mode.split()}


class Job:
    """What one process does: every mode at every batch."""

    def __init__(self, model, name, framework, precision, batches, modes):
        self.model, self.name, self.framework, self.precision = model, name, framework, precision
        self.batches, self.modes = batches, modes

    def rows(self, why):
        """One for each figure that there will not be."""
        return [{"model": self.name, "framework": self.framework, "precision": self.precision, "batch": batch,
                 "mode": mode, "error": why} for mode in self.modes for batch in self.batches]


def modes_for(options, framework, network):
    """Those that were asked for and that this framework has, on this device, for this network."""
    known = mode_words(options.job, framework)
    asked = options.modes or [mode for mode in modes_of(options.job)[framework] if not options.quick or mode in QUICK]
    return [mode for mode in asked if set(mode.split()) <= known
            and (options.device == "cuda" or NEED_GPU.isdisjoint(mode.split()))
            and (network.has_layouts() or model_file.LAYOUTS.isdisjoint(mode.split()))]


def jobs(options):
    for path, network in zip(options.model, options.networks):
        for precision in options.precisions:
            for framework in options.frameworks:
                modes = modes_for(options, framework, network)
                each = options.split or max(len(modes), 1)
                for begin in range(0, len(modes), each):
                    yield Job(path, network.name, framework, precision, options.batches, modes[begin:begin + each])


def run_all(options, keep=lambda rows, facts: None):
    """(rows, facts); `keep` is called with those that there are after every process."""
    deadline = time.monotonic() + options.total_seconds
    options.kernels = None
    if not options.alone:
        return run_once(options, deadline, keep)
    # A compiler of a process that ran out of time may still write there.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options.kernels = os.path.join(folder, "triton")
        rows, facts = run_once(options, deadline, keep)
        run_alone(options, rows, folder, deadline)
    return rows, facts


def run_once(options, deadline, keep):
    waiting, done, facts = list(jobs(options)), [], {}
    turns = options.jobs > 1 or options.go is not None  # a worker measures only when told to
    while waiting:
        # A round of workers is prepared at once and measured in turn; the next round only begins when no other process
        # is left that could disturb a measurement.
        now, all_left = time.monotonic(), len(waiting)
        round_of, waiting = waiting[:options.jobs], waiting[options.jobs:]
        if now > deadline - 5:
            done += [row for job in round_of for row in job.rows("no time left")]
            continue
        share = (deadline - now) * len(round_of) / all_left
        ready_by = now + max(share - measuring_seconds(options, round_of), PREPARING_SHARE * share)
        made = argparse.Namespace(**vars(options))
        if turns:  # a mode that takes too long must not cost those that are ready
            made.prepare_total = min(options.prepare_total, max(1, ready_by - now - START_SECONDS))
        workers = [Worker(made, job, turns) for job in round_of]
        try:
            for one in workers if turns else []:  # from then on none compiles
                one.until(ready_by, one.wait_ready, one.pause)
            if options.go is not None:
                wait_for_go(options.go, workers, deadline)
            for one in workers:
                one.measure(deadline)
            for one in workers:
                one.finish(deadline if one.ready and not one.left else now + share)
                done += one.rows
                if one.facts:
                    facts[one.job.framework] = one.facts
                keep(done, facts)
        finally:
            for one in workers:  # all have ended, unless this program is being stopped
                one.process.kill()
    return done, facts


def run_alone(options, rows, folder, deadline):
    """The fastest of each batch and precision once more, one process after the other; `rows` has the faster figures."""
    for count, row in enumerate(fastest_of_each(rows, options.alone)):
        left = deadline - time.monotonic() - START_SECONDS
        path = next(path for path, network in zip(options.model, options.networks) if network.name == row["model"])
        one = Job(path, row["model"], row["framework"], row["precision"], [row["batch"]], [row["mode"]])
        if left <= measuring_seconds(options, [one]):
            print("no time left to measure more of them alone", flush=True)
            return
        print("alone: ", end="", flush=True)
        choices = os.path.join(folder, "choices-%d" % count)
        os.mkdir(choices)
        unshared = argparse.Namespace(**dict(vars(options), jobs=1, prepare_total=left))
        worker_alone = Worker(unshared, one, False, choices)
        worker_alone.finish(deadline)
        for second in worker_alone.rows:
            keep_faster(row, second)


def fastest_of_each(rows, count):
    """The fastest of every model, batch and precision, then all that are second, and so on: time may be short."""
    groups = {}
    for row in sorted((row for row in rows if "microseconds" in row), key=lambda row: row["microseconds"]):
        groups.setdefault((row["model"], row["batch"], row["precision"]), []).append(row)
    return [group[place] for place in range(count) for group in groups.values() if place < len(group)]


def keep_faster(row, second):
    if "error" in second:
        row["alone_error"] = second["error"]
        return
    twice = [row["microseconds"], second["microseconds"]]
    if twice[1] < twice[0]:
        row.clear()
        row.update(second, alone=True)
    row["twice"] = twice


def measuring_seconds(options, round_of):
    each = MEASURING_SECONDS_OF_BLOCKS if options.block_seconds else MEASURING_SECONDS
    each += options.seconds + (2 * peer_worker.CLOCK_SECONDS if options.clocks else 0)
    return sum(len(job.modes) * len(job.batches) for job in round_of) * each


def wait_for_go(path, workers, deadline):
    """Until the file is there; workers that are ready to measure end where it is not by the deadline."""
    while any(one.ready for one in workers) and not os.path.exists(path):
        if time.monotonic() >= deadline:
            for one in workers:
                one.give_up("%s was not there in time" % path)
            return
        time.sleep(0.1)


def mark_fastest(rows):
    """"fastest" on the fastest of all frameworks and modes of a model, batch and precision; -pure is bf16 or fp16
    too."""
    best = {}
    for row in rows:
        if "microseconds" in row:
            key = (row["model"], row["batch"], row["precision"].split("-")[0])
            if key not in best or row["microseconds"] < best[key]["microseconds"]:
                best[key] = row
    for row in best.values():
        row["fastest"] = True
    return [best[key] for key in sorted(best)]


def words(text):
    return [word for word in text.split(",") if word]


def numbers(text):
    return [int(one) for one in words(text)]


def add_network_options(parser):
    parser.add_argument("--job", default="train", choices=["train", "infer"])
    parser.add_argument("--model", type=words, default=["cnn"], metavar="FILE,FILE",
                        help="model files (docs/models.md), or names of some in examples/models (default: cnn)")
    parser.add_argument("--input", type=numbers, metavar="C,H,W",
                        help="size of an image (default: the model file's, or 1,28,28)")
    parser.add_argument("--classes", type=int, metavar="N", help="default: the model file's, or 10")
    parser.add_argument("--lr", type=float, default=0.05, help="train: learning rate (default: 0.05)")
    parser.add_argument("--momentum", type=float, default=0.0, help="train: of SGD (default: 0)")
    parser.add_argument("--weight-decay", type=float, default=0.0, help="train: of SGD (default: 0)")
    parser.add_argument("--input-type", default="uint8", choices=["uint8", "float32"],
                        help="infer: what is copied to the GPU (default: uint8)")


def add_measuring_options(parser):
    parser.add_argument("--seconds", type=float, default=1.0, help="of timing per mode (default: 1)")
    parser.add_argument("--steps", type=int, default=100, help="between two waits for the device (default: 100)")
    parser.add_argument("--block-seconds", type=float, default=0.0, metavar="S",
                        help="between two waits for the device: fewer steps where they take longer (default: as many "
                             "as --steps says)")
    parser.add_argument("--prepare-seconds", type=float, default=120,
                        help="at most, to compile one mode (default: 120)")
    parser.add_argument("--prepare-total", type=float, default=3600,
                        help="at most, to compile all modes of a process (default: 3600)")
    parser.add_argument("--total-seconds", type=float, default=3600,
                        help="what is not measured by then is left out (default: 3600)")
    parser.add_argument("--jobs", type=int, default=1, help="processes that compile at once (default: 1)")
    parser.add_argument("--split", type=int, default=0, help="modes per process (default: all of a framework)")
    parser.add_argument("--alone", type=int, default=0, metavar="K",
                        help="then measure the K fastest modes of each batch and precision again, each compiled anew "
                             "and alone on the GPU, in what is left of --total-seconds")
    parser.add_argument("--go", metavar="FILE", help="measure only once this file exists; until then only compile")
    parser.add_argument("--clocks", action="store_true", help="after each timing, record the GPU's clock and power")
    parser.add_argument("--images", type=int,
                        help="train: resident on the device, to draw batches from (default: %s)" % " or ".join(
                            "%d on %s" % (count, device) for device, count in IMAGES.items()))
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"], help="default: cuda")
    parser.add_argument("--threads", type=int, default=0, help="of the host (default: one per core)")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_network_options(parser)
    parser.add_argument("--batches", type=numbers, default=[1024, 64], help="default: 1024,64")
    parser.add_argument("--precisions", type=words, default=PRECISIONS, help="default: all")
    parser.add_argument("--frameworks", type=words, default=FRAMEWORKS, help="default: all")
    parser.add_argument("--modes", type=words, default=None, help="of either framework (default: all)")
    parser.add_argument("--quick", action="store_true", help="only modes that are usually fastest and soon compiled")
    add_measuring_options(parser)
    parser.add_argument("--json", metavar="FILE", help="write everything to this file")
    parser.add_argument("--log", metavar="FILE", help="append the frameworks' own output to this file")
    parser.add_argument("--worker", choices=FRAMEWORKS, help=argparse.SUPPRESS)
    parser.add_argument("--precision", default="tf32", help=argparse.SUPPRESS)
    parser.add_argument("--turns", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for what, asked, known in (("precision", options.precisions, PRECISIONS),
                               ("framework", options.frameworks, FRAMEWORKS)):
        for name in asked:
            if name not in known:
                parser.error("there is no %s '%s'; there are %s" % (what, name, ", ".join(known)))
    for mode in options.modes or []:
        if not any(set(mode.split()) <= mode_words(options.job, framework) for framework in FRAMEWORKS):
            parser.error("no framework has the mode '%s'; their words are %s" % (
                mode, ", ".join(sorted(set().union(*(mode_words(options.job, one) for one in FRAMEWORKS))))))
    if options.jobs < 1:
        parser.error("--jobs %d: at least one process is needed" % options.jobs)
    options.images = options.images or IMAGES[options.device]
    try:
        options.networks = [model_file.read(name, options.input, options.classes) for name in options.model]
    except result_file.Trouble as trouble:
        parser.error(str(trouble))
    names = [network.name for network in options.networks]
    for name in names:
        if names.count(name) > 1:
            parser.error("two model files are called '%s'" % name)
    return options


def document_of(options, rows, facts):
    return {"format": 1, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "job": options.job,
            "inputs": {network.name: [*network.input, network.classes] for network in options.networks},
            "versions": {name: fact["version"] for name, fact in facts.items()},
            "device": next((fact["device"] for fact in facts.values()), None), "images": options.images,
            **({"missing": options.missing} if options.missing else {}),
            **({"driver": clocks.card().get("driver")} if options.device == "cuda" else {}),
            "command": shlex.join(["peers/train_gpu.py"] + sys.argv[1:]), "results": rows}


def main():
    options = parse()
    if options.worker:
        peer_worker.work(options)
        return 0

    def keep(rows, facts):
        if options.json:
            result_file.save(options.json, document_of(options, rows, facts))

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # and end the workers
    options.missing = [name for name in options.frameworks if not importlib.util.find_spec(name)]
    options.frameworks = [name for name in options.frameworks if name not in options.missing]
    if options.missing and not options.json:  # else the file says so
        print("not installed for %s: %s; install with pip, or use a Python that has them" % (
            sys.executable, ", ".join(options.missing)))
    rows, facts = run_all(options, keep)
    best = mark_fastest(rows)
    if best:
        print("\nfastest of all:")
    for row in best:
        show(row)
    keep(rows, facts)
    return 0 if best else 1


if __name__ == "__main__":
    sys.exit(main())

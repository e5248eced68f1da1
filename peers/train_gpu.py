#!/usr/bin/env python3
"""The course's CNN trained by PyTorch and JAX on a GPU, in every way worth trying: microseconds a step, the fastest
marked.

    peers/train_gpu.py [--batches 64,1024] [--precisions fp32,tf32] [--frameworks torch,jax] [--modes MODE,MODE]
                       [--seconds S] [--total-seconds S] [--jobs N] [--go FILE] [--alone K] [--clocks] [--json FILE]

A step is what heddle's is: a batch gathered in shuffled order from bytes that are on the GPU, forward, backward,
update, zero-grad; plain SGD, batch statistics. Blocks of 100 or more steps between two waits for the device; the median
block counts. A mode that fails is listed with its reason. Each framework, precision and batch has a process of its own;
with --jobs several of them compile at once, and then measure one after the other. With --go FILE, however many there
are, none measures before that file is there: they compile beside other work, and the file says that the card is free.
Where it is not there when --total-seconds are over, nothing is measured.

Frameworks choose kernels by timing them while they prepare, and with --jobs and --go others share the card then. With
--alone K the K fastest modes of each batch and precision are prepared and measured once more, each in a process of its
own with nothing else on the card, and without the choices made before: PyTorch has an empty TORCHINDUCTOR_CACHE_DIR,
the place of compiled graphs and of what autotuning chose, and finds only Triton's compiled kernels again
(TRITON_CACHE_DIR); JAX's compilation cache, whose programs have their kernels chosen, is off, and XLA loads no results
of autotuning. The faster of the two figures stays: `alone` is true in a row whose figure is the second, and `twice` has
both.
"""

import argparse
import contextlib
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
import result_file  # noqa: E402

IMAGES = 61440  # resident, as bytes: a multiple of all usual batch sizes, about as many as MNIST has
LEAST_BLOCKS, MOST_BLOCKS = 5, 200
FRAMEWORKS = ["jax", "torch"]  # the one that compiles quickly first
# Fastest first, as a rule: where time is short the slow ones are left out. What the words mean stands in
# cnn_torch_steps.py and cnn_jax_steps.py.
# Neighbours compile the same functions, and the second of them in a process finds the first one's kernels.
MODES = {
    "jax": ["scan", "step", "scan nchw", "scan reduce-window"],
    "torch": ["compile graph channels-last", "reduce-overhead channels-last", "graph channels-last", "compile graph",
              "reduce-overhead", "compile", "whole-step compile graph", "graph", "channels-last", "eager",
              "max-autotune graph channels-last", "max-autotune", "whole-step max-autotune graph",
              "whole-step compile graph channels-last", "whole-step max-autotune graph channels-last"],
}
PRECISIONS = ["tf32", "bf16", "fp32", "fp16", "bf16-pure", "fp16-pure"]
START_SECONDS = 20  # for importing a framework, beside others
CLOCK_SECONDS = 0.6  # of steps beside which the clock is looked at; nvidia-smi needs half of that to begin
MEASURING_SECONDS = 1.5  # a mode, beyond those of --seconds: warm-up, and the blocks that are measured at least
# Through these XLA would find what an earlier process chose by timing.
XLA_KEPT_CHOICES = ("--xla_gpu_per_fusion_autotune_cache_dir", "--xla_gpu_load_autotune_results_from")
LEARNED = 1.5  # a loss that a network which learns is below after the timing; guessing has 2.3


# --- a worker: one framework, precision and batch --------------------------------------------------------------------

class OutOfTime(Exception):
    pass


def within(seconds, call):
    """The call's result; OutOfTime where it takes longer."""
    def ring(*_):
        raise OutOfTime("not ready after %d s" % seconds)
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def blocks(run_block, seconds):
    """Seconds a block of each block, warmed up by the first ones."""
    run_block()
    times, began = [], time.perf_counter()
    while len(times) < LEAST_BLOCKS or (time.perf_counter() - began < seconds and len(times) < MOST_BLOCKS):
        begin = time.perf_counter()
        run_block()
        times.append(time.perf_counter() - begin)
    return sorted(times)


class Torch:
    def __init__(self, options):
        import torch
        import cnn_torch
        import cnn_torch_steps
        self.torch, self.steps = torch, cnn_torch_steps
        self.version = "PyTorch %s, CUDA %s, cuDNN %s" % (torch.__version__, torch.version.cuda,
                                                          torch.backends.cudnn.version())
        self.device, self.block_steps = options.device, options.steps
        cnn_torch.set_precision(options.precision)
        for name in ("recompile_limit", "cache_size_limit"):  # many modes compile the same functions
            if hasattr(torch._dynamo.config, name):
                setattr(torch._dynamo.config, name, 256)
        self.images, self.labels = cnn_torch.synthetic(options.images, options.device)

    def device_name(self):
        return self.torch.cuda.get_device_name() if self.device == "cuda" else "cpu"

    def wait(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def prepare(self, mode, precision, batch):
        step, batches = self.steps.make(mode, precision, batch, self.images, self.labels)
        words = mode.split()  # a compiler that captures graphs itself is told where a step begins
        trees = "reduce-overhead" in words or ("max-autotune" in words and "graph" not in words)
        state = {"loss": None, "done": 0}

        def block():
            for _ in range(self.block_steps):
                if state["done"] % batches.steps == 0:
                    batches.restart()
                if trees:
                    self.torch.compiler.cudagraph_mark_step_begin()
                state["loss"] = step()
                state["done"] += 1
            self.wait()

        block()  # compiles, and lets cuDNN choose
        return block, self.block_steps, lambda: float(state["loss"])


class Jax:
    def __init__(self, options):
        import jax
        import cnn_jax_steps
        self.jax, self.steps = jax, cnn_jax_steps
        if options.device == "cuda" and jax.default_backend() != "gpu":
            raise RuntimeError("JAX has no GPU here, only %s" % jax.default_backend())
        self.version = "JAX %s" % jax.__version__
        self.block_steps = options.steps
        cnn_jax_steps.set_precision(options.precision)
        self.images, self.labels = cnn_jax_steps.synthetic(options.images)

    def device_name(self):
        return self.jax.devices()[0].device_kind

    def prepare(self, mode, precision, batch):
        run = self.steps.make(mode, precision, batch, self.images, self.labels)
        calls = max(1, self.block_steps // run.steps)

        def block():
            for _ in range(calls):
                run()
            run.wait()

        block()
        return block, calls * run.steps, run.loss


def say(row):
    print(json.dumps(row), flush=True)


def measure(block, steps, loss_of, seconds, batch):
    times = blocks(block, seconds)
    loss = loss_of()
    if not loss < LEARNED:  # NaN is not below anything
        raise ArithmeticError("the loss is %g after the timing: it has not learnt" % loss)
    microseconds = [1e6 * one / steps for one in times]
    middle = microseconds[len(times) // 2]
    return {"microseconds": middle, "low": microseconds[len(times) // 10],
            "high": microseconds[len(times) - 1 - len(times) // 10], "images_per_second": 1e6 * batch / middle,
            "blocks": len(times), "steps_a_block": steps, "loss": loss}


def with_clock(row, block, seconds=CLOCK_SECONDS):
    """The row and what the card's clock does in such steps, looked at when the timing is over."""
    def steps():
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            block()
    return dict(row, clock=clocks.while_running(steps))


def reason(error):
    text = " ".join(str(error).split())
    return "%s: %s" % (type(error).__name__, text[:300]) if text else type(error).__name__


def worker(options):
    """Prepares and measures the modes; with --turns all are prepared first, and nothing is measured until "go" comes on
    stdin."""
    about = {"framework": options.worker, "precision": options.precision, "batch": options.batch}
    try:
        framework = {"torch": Torch, "jax": Jax}[options.worker](options)
    except Exception as error:  # whatever keeps a framework from starting is what is reported
        for mode in options.modes:
            say(dict(about, mode=mode, error=reason(error)))
        return
    say({"version": framework.version, "device": framework.device_name()})
    modes = options.modes
    prepared, started = {}, time.perf_counter()
    for turn in ([modes] if options.turns else [[mode] for mode in modes]):
        for mode in turn:
            begin = time.perf_counter()
            left = min(options.prepare_seconds, options.prepare_total - (begin - started))
            try:
                if left <= 0:
                    raise OutOfTime("no time left to prepare it")
                prepared[mode] = within(left, lambda: framework.prepare(mode, options.precision, options.batch))
                prepared[mode] += (time.perf_counter() - begin,)
            except Exception as error:  # a mode that cannot run is no reason to lose the others
                say(dict(about, mode=mode, error=reason(error)))
        if options.turns:
            say({"ready": len(prepared)})
            if not sys.stdin.readline():  # who would have said so is gone
                return
        for mode in turn:
            if mode not in prepared:
                continue
            block, steps, loss_of, spent = prepared.pop(mode)
            try:
                row = dict(about, mode=mode, prepare_seconds=round(spent, 1),
                           **measure(block, steps, loss_of, options.seconds, options.batch))
                say(with_clock(row, block) if options.clocks else row)
            except Exception as error:
                say(dict(about, mode=mode, error=reason(error)))


# --- the parent: workers one by one, or several that compile at once -------------------------------------------------

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


class Worker:
    def __init__(self, options, framework, precision, batch, modes, turns, alone=None):
        command = [sys.executable, os.path.abspath(__file__), "--worker", framework, "--precision", precision,
                   "--batch", str(batch), "--seconds", str(options.seconds), "--device", options.device,
                   "--images", str(options.images), "--steps", str(options.steps),
                   "--prepare-seconds", str(options.prepare_seconds),
                   "--prepare-total", str(options.prepare_total)]
        command += ["--modes", ",".join(modes)] + (["--turns"] if turns else []) + (
            ["--clocks"] if options.clocks else [])
        self.about = {"framework": framework, "precision": precision, "batch": batch}
        self.modes = modes
        self.ready, self.turns, self.rows, self.facts = not turns, turns, [], {}
        self.why_killed = "no time left"
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
        elif "version" in row:
            self.facts = row
        else:
            self.rows.append(row)
            show(row)
        return True

    def give_up(self, why):
        self.why_killed = why
        self.process.kill()

    def finish(self, deadline):
        """Everything it still has to say, but not beyond the deadline."""
        signal.signal(signal.SIGALRM, lambda *_: self.process.kill())
        signal.setitimer(signal.ITIMER_REAL, max(0.1, deadline - time.monotonic()))
        try:
            while not self.ready and self.next():
                pass
            if self.turns and self.ready:
                self.process.stdin.write("go\n")
                self.process.stdin.flush()
            while self.next():
                pass
        except (BrokenPipeError, ValueError):
            pass
        code = self.process.wait()
        signal.setitimer(signal.ITIMER_REAL, 0)
        for file in (self.process.stdin, self.process.stdout, self.log):
            with contextlib.suppress(BrokenPipeError):  # it ended before it was told to go
                file.close()
        if code != 0:
            told = {row["mode"] for row in self.rows}
            for mode in self.modes:
                if mode not in told:
                    self.rows.append(dict(self.about, mode=mode, error=self.why_killed if code == -signal.SIGKILL
                                          else "the process ended with %d" % code))
                    show(self.rows[-1])


def show(row):
    name = "%-6s %-9s %6d  %-34s" % (row["framework"], row["precision"], row["batch"], row["mode"])
    if "error" in row:
        print("%s %s" % (name, row["error"][:100]), flush=True)
    else:
        print("%s %9.1f µs  %9.0f images/s  (%.1f to %.1f, loss %.3f, ready after %.0f s)" % (
            name, row["microseconds"], row["images_per_second"], row["low"], row["high"], row["loss"],
            row["prepare_seconds"]), flush=True)


def mode_words(framework):
    return {word for mode in MODES[framework] for word in mode.split()}


def jobs(options):
    for batch in options.batches:
        for precision in options.precisions:
            for framework in options.frameworks:
                known = mode_words(framework)
                modes = [mode for mode in options.modes or MODES[framework] if set(mode.split()) <= known]
                each = options.split or len(modes)
                for begin in range(0, len(modes), max(each, 1)):
                    yield framework, precision, batch, modes[begin:begin + each]


def run_all(options):
    deadline = time.monotonic() + options.total_seconds
    options.kernels = None
    if not options.alone:
        return run_once(options, deadline)
    # A compiler of a process that ran out of time may still write there.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options.kernels = os.path.join(folder, "triton")
        rows, facts = run_once(options, deadline)
        run_alone(options, rows, folder, deadline)
    return rows, facts


def run_once(options, deadline):
    waiting, done, facts = list(jobs(options)), [], {}
    turns = options.jobs > 1 or options.go is not None  # nobody measures before being told to
    while waiting:
        # A round of workers is prepared at once and measured in turn; the next round only begins when no other process
        # is left that could disturb a measurement.
        round_of, waiting = waiting[:options.jobs], waiting[options.jobs:]
        if time.monotonic() > deadline - 5:
            for framework, precision, batch, modes in round_of:
                done += [{"framework": framework, "precision": precision, "batch": batch, "mode": mode,
                          "error": "no time left"} for mode in modes]
            continue
        ready_by = deadline - measuring_seconds(options, round_of)
        if turns:  # a mode that takes too long must not cost those that are ready
            options.prepare_total = min(options.prepare_total, max(1, ready_by - time.monotonic() - START_SECONDS))
        workers = [Worker(options, *job, turns) for job in round_of]
        if turns:
            wait_ready(workers, ready_by)
        if options.go is not None:
            wait_for_go(options.go, workers, deadline)
        for one in workers:
            one.finish(deadline)
            done += one.rows
            if one.facts:
                facts[one.about["framework"]] = one.facts
    return done, facts


def run_alone(options, rows, folder, deadline):
    """The fastest of each batch and precision once more, one process after the other; `rows` has the faster figures."""
    for count, row in enumerate(fastest_of_each(rows, options.alone)):
        left = deadline - time.monotonic() - START_SECONDS
        one = [row["framework"], row["precision"], row["batch"], [row["mode"]]]
        if left <= measuring_seconds(options, [one]):
            print("no time left to measure more of them alone", flush=True)
            return
        print("alone: ", end="", flush=True)
        choices = os.path.join(folder, "choices-%d" % count)
        os.mkdir(choices)
        unshared = argparse.Namespace(**dict(vars(options), jobs=1, prepare_total=left))
        worker_alone = Worker(unshared, *one, False, choices)
        worker_alone.finish(deadline)
        for second in worker_alone.rows:
            keep_faster(row, second)


def fastest_of_each(rows, count):
    """The fastest of every batch and precision, then all that are second, and so on: time may be short."""
    groups = {}
    for row in sorted((row for row in rows if "microseconds" in row), key=lambda row: row["microseconds"]):
        groups.setdefault((row["batch"], row["precision"]), []).append(row)
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
    each = options.seconds + MEASURING_SECONDS + (2 * CLOCK_SECONDS if options.clocks else 0)
    return sum(len(modes) for _, _, _, modes in round_of) * each


def wait_ready(workers, deadline):
    """Until every worker has prepared its modes or ended: from then on nobody compiles."""
    for one in workers:
        signal.signal(signal.SIGALRM, lambda *_, process=one.process: process.kill())
        signal.setitimer(signal.ITIMER_REAL, max(0.1, deadline - time.monotonic()))
        while not one.ready and one.next():
            pass
        signal.setitimer(signal.ITIMER_REAL, 0)


def wait_for_go(path, workers, deadline):
    """Until the file is there; workers that are ready to measure end where it is not by the deadline."""
    while any(one.ready for one in workers) and not os.path.exists(path):
        if time.monotonic() >= deadline:
            for one in workers:
                one.give_up("%s was not there in time" % path)
            return
        time.sleep(0.1)


def mark_fastest(rows):
    """"fastest" on the fastest of all frameworks and modes of a batch and precision; -pure is bf16 or fp16 too."""
    best = {}
    for row in rows:
        if "microseconds" in row:
            key = (row["batch"], row["precision"].split("-")[0])
            if key not in best or row["microseconds"] < best[key]["microseconds"]:
                best[key] = row
    for row in best.values():
        row["fastest"] = True
    return [best[key] for key in sorted(best)]


def words(text):
    return [word for word in text.split(",") if word]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=lambda text: [int(one) for one in words(text)], default=[1024, 64])
    parser.add_argument("--precisions", type=words, default=PRECISIONS)
    parser.add_argument("--frameworks", type=words, default=FRAMEWORKS)
    parser.add_argument("--modes", type=words, default=None, help="all unless told; those of either framework")
    parser.add_argument("--seconds", type=float, default=1.0, help="of timing, a mode")
    parser.add_argument("--steps", type=int, default=100, help="between two waits for the device")
    parser.add_argument("--prepare-seconds", type=float, default=120, help="for compiling, a mode at most")
    parser.add_argument("--prepare-total", type=float, default=3600, help="for all modes of a process at most")
    parser.add_argument("--total-seconds", type=float, default=3600, help="what is not measured by then is left out")
    parser.add_argument("--jobs", type=int, default=1, help="processes that compile at once")
    parser.add_argument("--alone", type=int, default=0, metavar="K",
                        help="then measure the K fastest of each batch and precision once more, each prepared anew and "
                             "alone on the card, in what is left of --total-seconds")
    parser.add_argument("--go", metavar="FILE", help="measure only once this file is there: compiles beside other work")
    parser.add_argument("--split", type=int, default=0, help="modes of a process at most; 0: all of a framework's")
    parser.add_argument("--clocks", action="store_true",
                        help="look at the card's clock and power, too, after each timing")
    parser.add_argument("--images", type=int, default=IMAGES, help="resident, to draw batches from")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"],
                        help="cpu: to try this program, not to measure")
    parser.add_argument("--json", help="write everything there")
    parser.add_argument("--log", help="append what the frameworks say there")
    parser.add_argument("--worker", choices=FRAMEWORKS, help=argparse.SUPPRESS)
    parser.add_argument("--precision", default="tf32", help=argparse.SUPPRESS)
    parser.add_argument("--batch", type=int, default=64, help=argparse.SUPPRESS)
    parser.add_argument("--turns", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for what, asked, known in (("precision", options.precisions, PRECISIONS),
                               ("framework", options.frameworks, FRAMEWORKS)):
        for name in asked:
            if name not in known:
                parser.error("there is no %s '%s'; there are %s" % (what, name, ", ".join(known)))
    for mode in options.modes or []:
        if not any(set(mode.split()) <= mode_words(framework) for framework in FRAMEWORKS):
            parser.error("no framework has the mode '%s'; their words are %s" % (
                mode, ", ".join(sorted(set().union(*map(mode_words, FRAMEWORKS))))))
    if options.jobs < 1:
        parser.error("--jobs %d: it takes one process at least" % options.jobs)
    return options


def main():
    options = parse()
    if options.worker:
        worker(options)
        return 0
    rows, facts = run_all(options)
    best = mark_fastest(rows)
    print("\nfastest of all:")
    for row in best:
        show(row)
    if options.json:
        document = {"format": 1, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                    "versions": {name: fact["version"] for name, fact in facts.items()},
                    "device": next((fact["device"] for fact in facts.values()), None), "images": options.images,
                    **({"driver": clocks.card().get("driver")} if options.device == "cuda" else {}),
                    "command": shlex.join(["peers/train_gpu.py"] + sys.argv[1:]), "results": rows}
        result_file.save(options.json, document)
    return 0 if best else 1


if __name__ == "__main__":
    sys.exit(main())

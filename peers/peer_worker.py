"""One framework, precision and batch in a process of its own: train_gpu.py starts it, and reads a JSON object per line.
Not a program."""
import gc
import json
import math
import os
import sys
import time

import clocks
import model_file
import timing
from timing import OutOfTime

CLOCK_SECONDS = 0.6  # of steps while the clock is sampled; nvidia-smi needs half of that to start
MOST_IMAGES = 500000  # of a block of predictions
CHECKED = 64  # images of a batch whose probabilities are compared
FEW = 5  # steps that show how long one takes, and the fewest of a block
LEARNED = 0.65  # a network that learns is below this share of the loss of guessing after the timing
PATIENCE = 20  # times 50 steps, untimed, for a network that has not learnt yet after the timing
# How far probabilities may be from those of the same network computed in fp32, by the norm of both, without what they
# have in common: one part per class.
APART = {"fp32": 1e-4, "tf32": 1e-2, "fp16": 1e-2, "bf16": 5e-2}


class Framework:
    """`known`: expected probabilities by how many there are. The first images of a batch do not depend on its size."""

    def known_probabilities(self, batch):
        count = min(batch, CHECKED)
        if count not in self.known:
            self.known[count] = self.expected(count)
        return self.known[count]


class Torch(Framework):
    def __init__(self, options, model):
        import jobs_torch
        import network_torch
        import torch
        self.torch, self.jobs, self.model, self.options, self.known = torch, jobs_torch, model, options, {}
        self.version = "PyTorch %s, CUDA %s, cuDNN %s" % (torch.__version__, torch.version.cuda,
                                                          torch.backends.cudnn.version())
        network_torch.set_precision(options.precision)
        for name in ("recompile_limit", "cache_size_limit"):  # many modes compile the same functions
            if hasattr(torch._dynamo.config, name):
                setattr(torch._dynamo.config, name, 256)
        count = options.images if options.job == "train" else jobs_torch.SLOTS * max(options.batches)
        place = options.device if options.job == "train" else "cpu"
        self.data = jobs_torch.synthetic(count, model.input, model.classes, place)

    def device_name(self):
        return self.torch.cuda.get_device_name() if self.options.device == "cuda" else "cpu"

    def train(self, mode, batch):
        return self.jobs.training(self.model, mode, self.options.precision, batch, self.data, self.options)

    def host_batches(self, batch):
        images = self.data[0][:self.jobs.SLOTS * batch].view((self.jobs.SLOTS, batch) + self.model.input)
        return images if self.options.input_type == "uint8" else images.float() / 255

    def infer(self, mode, batch):
        return self.jobs.prediction(self.model, mode, self.options.precision, self.host_batches(batch),
                                    self.options.device)

    def expected(self, batch):
        """Computed on the CPU in fp32."""
        begin, probabilities = self.jobs.prediction(self.model, "eager", "fp32", self.host_batches(batch), "cpu")
        begin()
        return probabilities()

    def release(self):
        """Gives back to the GPU what finished work has left, which another process may need."""
        gc.collect()
        if self.options.device == "cuda":
            self.torch.cuda.empty_cache()


class Jax(Framework):
    def __init__(self, options, model):
        if options.device == "cpu":
            os.environ["JAX_PLATFORMS"] = "cpu"
        import jax
        import jobs_jax
        import network_jax
        self.jax, self.jobs, self.model, self.options, self.known = jax, jobs_jax, model, options, {}
        if options.device == "cuda" and jax.default_backend() != "gpu":
            raise RuntimeError("JAX has no GPU here, only %s" % jax.default_backend())
        self.version = "JAX %s" % jax.__version__
        network_jax.set_precision(options.precision)
        count = options.images if options.job == "train" else jobs_jax.SLOTS * max(options.batches)
        self.data = jobs_jax.synthetic(count, model.input, model.classes)

    def device_name(self):
        return self.jax.devices()[0].device_kind

    def train(self, mode, batch):
        return self.jobs.training(self.model, mode, self.options.precision, batch, self.data, self.options)

    def host_batches(self, batch):
        images = self.jax.numpy.moveaxis(self.data[0][:self.jobs.SLOTS * batch], -1, 1)
        images = images.reshape((self.jobs.SLOTS, batch) + self.model.input)
        return images if self.options.input_type == "uint8" else images.astype("float32") / 255

    def infer(self, mode, batch):
        return self.jobs.prediction(self.model, mode, self.options.precision, self.host_batches(batch))

    def expected(self, batch):
        with self.jax.default_matmul_precision("highest"):
            return self.jobs.prediction(self.model, "step", "fp32", self.host_batches(batch))[1]()

    def release(self):
        gc.collect()


FRAMEWORKS = {"jax": Jax, "torch": Torch}


# --- checks ----------------------------------------------------------------------------------------------------------

def has_learnt(loss, classes):
    """{"loss"}; an ArithmeticError where the network has not learnt."""
    if not loss < LEARNED * math.log(classes):  # NaN is not below anything
        raise ArithmeticError("the loss is %g after the timing: it has not learnt" % loss)
    return {"loss": loss}


def learns(run, loss_of, classes):
    """has_learnt of the last step, or of one soon after: a slow network has few steps in its blocks."""
    for _ in range(PATIENCE):
        if loss_of() < LEARNED * math.log(classes):
            break
        run(50)
    return has_learnt(loss_of(), classes)


def is_right(found, expected, precision, classes):
    """{"difference"} between two arrays of probabilities; an ArithmeticError where it is too large."""
    import numpy as np
    found, expected = np.asarray(found[:CHECKED], np.float64), np.asarray(expected, np.float64)
    difference = float(np.linalg.norm(found - expected) / np.linalg.norm(expected - 1 / classes))
    allowed = APART[precision.split("-")[0]]
    if not difference <= allowed:
        raise ArithmeticError("the probabilities are off by %.2g of their norm, allowed %.2g" % (difference, allowed))
    return {"difference": difference}


# --- one mode at one batch -------------------------------------------------------------------------------------------

class Task:
    """Made, it is compiled; several processes may do that at once. `measured` has to be alone on the device."""

    def __init__(self, framework, options, model, mode, batch):
        began = time.perf_counter()
        self.options, self.batch, self.each, self.most = options, batch, 1, options.steps
        if options.job == "train":
            self.begin, loss, *each = framework.train(mode, batch)
            self.each = each[0] if each else 1
            self.check = lambda run: learns(run, loss, model.classes)
        else:
            self.begin, probabilities = framework.infer(mode, batch)
            self.most = max(2, min(options.steps, MOST_IMAGES // batch))
            expected = framework.known_probabilities(batch)
            self.check = lambda _: is_right(probabilities(), expected, options.precision, model.classes)
        self.seconds = time.perf_counter() - began

    def whole(self, steps):
        """A multiple of the steps that one call has."""
        return max(1, int(steps) // self.each) * self.each

    def steps(self, run):
        """Of a block: as many as fit into --block-seconds, where that is given."""
        if not self.options.block_seconds:
            return self.whole(self.most)
        few, began = self.whole(min(FEW, self.most)), time.perf_counter()
        run(few)
        one = (time.perf_counter() - began) / few
        return self.whole(min(self.most, max(few, self.options.block_seconds / one)))

    def measured(self):
        began = time.perf_counter()
        run = self.begin()
        run(self.whole(FEW))  # cuDNN chooses, where no graph was captured
        ready = time.perf_counter()
        steps = self.steps(run)
        row = {"prepare_seconds": round(self.seconds + ready - began, 1),
               **measure(lambda: run(steps), steps, lambda: self.check(run), self.options.seconds, self.batch)}
        return with_clock(row, lambda: run(steps)) if self.options.clocks else row


# --- the worker ------------------------------------------------------------------------------------------------------

def say(row):
    print(json.dumps(row), flush=True)


def measure(block, steps, check, seconds, batch):
    times = timing.blocks(block, seconds)
    facts = check()
    middle, low, high = (1e6 * one / steps for one in timing.spread(times))
    return {"microseconds": middle, "low": low, "high": high, "images_per_second": 1e6 * batch / middle,
            "blocks": len(times), "steps_a_block": steps, **facts}


def with_clock(row, block):
    """The row with the GPU's clock during such steps, sampled after the timing."""
    return dict(row, clock=clocks.while_running(lambda: timing.repeat_for(CLOCK_SECONDS, block)))


def reason(error):
    text = " ".join(str(error).split())
    return "%s: %s" % (type(error).__name__, text[:300]) if text else type(error).__name__


class Work:
    """The modes at their batches, in order; each is told of once, with a figure or the reason why there is none."""

    def __init__(self, framework, options, model, began):
        self.framework, self.options, self.model, self.began = framework, options, model, began
        self.left = [(mode, batch) for mode in options.modes for batch in options.batches]
        self.ready = {}

    def tell(self, mode, batch, row):
        say(dict(about(self.options, self.model, batch), mode=mode, **row))

    def prepare(self, mode, batch, seconds):
        """None, or why there was no time or memory for it now, which there may be later."""
        try:
            task = timing.within(seconds, lambda: Task(self.framework, self.options, self.model, mode, batch))
            self.ready[mode, batch] = task
        except OutOfTime as problem:
            return reason(problem)
        except Exception as error:  # a mode that cannot run is no reason to lose the others
            if "memory" in str(error).lower() or "RESOURCE_EXHAUSTED" in str(error):
                return reason(error)
            self.tell(mode, batch, {"error": reason(error)})
        finally:
            self.framework.release()
        return None

    def prepare_all(self):
        """In the time that there is; what remains is prepared alone, when the others have been measured."""
        left = []
        for mode, batch in self.left:
            seconds = min(self.options.prepare_seconds,
                          self.options.prepare_total - (time.perf_counter() - self.began))
            if seconds <= 0 or self.prepare(mode, batch, seconds):
                left.append((mode, batch))
        self.left = left

    def measure_ready(self):
        for mode, batch in list(self.ready):
            try:
                row = self.ready.pop((mode, batch)).measured()
            except Exception as error:
                row = {"error": reason(error)}
            self.framework.release()
            self.tell(mode, batch, row)

    def measure_left(self):
        """One by one, each prepared and then measured."""
        for mode, batch in self.left:
            why = self.prepare(mode, batch, self.options.prepare_seconds)
            if why:
                self.tell(mode, batch, {"error": why})
            self.measure_ready()
        self.left = []


def about(options, model, batch):
    return {"model": model.name, "framework": options.worker, "precision": options.precision, "batch": batch}


def told_to_go():
    return bool(sys.stdin.readline())  # nothing: who would have said so is gone


def work(options):
    """Prepares and measures the modes. With --turns all are prepared first, as far as the time goes; they are measured
    when "go" comes on stdin, and with a second one those that were not ready."""
    began = time.perf_counter()
    model = model_file.read(options.model[0], options.input, options.classes)
    if options.threads:  # PyTorch and JAX have a thread for each core they may run on
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
    try:
        framework = FRAMEWORKS[options.worker](options, model)
    except Exception as error:  # whatever keeps a framework from starting is what is reported
        for mode in options.modes:
            for batch in options.batches:
                say(dict(about(options, model, batch), mode=mode, error=reason(error)))
        return
    say({"version": framework.version, "device": framework.device_name()})
    tasks = Work(framework, options, model, began)
    if options.turns:
        tasks.prepare_all()
        say({"ready": len(tasks.ready)})
        if not told_to_go():
            return
        tasks.measure_ready()
        say({"left": len(tasks.left)})
        if not tasks.left or not told_to_go():
            return
    tasks.measure_left()

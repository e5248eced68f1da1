"""One framework, precision and batch in a process of its own: train_gpu.py starts it, and reads a JSON object per line.
Not a program."""
import json
import math
import sys
import time

import clocks
import model_file
import timing
from timing import OutOfTime

CLOCK_SECONDS = 0.6  # of steps while the clock is sampled; nvidia-smi needs half of that to start
MOST_IMAGES = 500000  # of a block of predictions
LEARNED = 0.65  # a network that learns is below this share of the loss of guessing after the timing
# How far probabilities may be from those of the same network computed in fp32, by the norm of both, without what they
# have in common: one part per class.
APART = {"fp32": 1e-4, "tf32": 1e-2, "fp16": 1e-2, "bf16": 5e-2}


class Torch:
    def __init__(self, options, model):
        import jobs_torch
        import network_torch
        import torch
        self.torch, self.jobs, self.model, self.options = torch, jobs_torch, model, options
        self.version = "PyTorch %s, CUDA %s, cuDNN %s" % (torch.__version__, torch.version.cuda,
                                                          torch.backends.cudnn.version())
        network_torch.set_precision(options.precision)
        for name in ("recompile_limit", "cache_size_limit"):  # many modes compile the same functions
            if hasattr(torch._dynamo.config, name):
                setattr(torch._dynamo.config, name, 256)
        count = options.images if options.job == "train" else jobs_torch.SLOTS * options.batch
        place = options.device if options.job == "train" else "cpu"
        self.data = jobs_torch.synthetic(count, model.input, model.classes, place)

    def device_name(self):
        return self.torch.cuda.get_device_name() if self.options.device == "cuda" else "cpu"

    def train(self, mode):
        return self.jobs.training(self.model, mode, self.options.precision, self.options.batch, self.data, self.options)

    def host_batches(self):
        images = self.data[0].view((self.jobs.SLOTS, self.options.batch) + self.model.input)
        return images if self.options.input_type == "uint8" else images.float() / 255

    def infer(self, mode):
        return self.jobs.prediction(self.model, mode, self.options.precision, self.host_batches(), self.options.device)

    def expected(self):
        """On the CPU, in fp32."""
        return self.jobs.prediction(self.model, "eager", "fp32", self.host_batches(), "cpu")[1]()


class Jax:
    def __init__(self, options, model):
        import jax
        import jobs_jax
        import network_jax
        self.jax, self.jobs, self.model, self.options = jax, jobs_jax, model, options
        if options.device == "cuda" and jax.default_backend() != "gpu":
            raise RuntimeError("JAX has no GPU here, only %s" % jax.default_backend())
        self.version = "JAX %s" % jax.__version__
        network_jax.set_precision(options.precision)
        count = options.images if options.job == "train" else jobs_jax.SLOTS * options.batch
        self.data = jobs_jax.synthetic(count, model.input, model.classes)

    def device_name(self):
        return self.jax.devices()[0].device_kind

    def train(self, mode):
        return self.jobs.training(self.model, mode, self.options.precision, self.options.batch, self.data, self.options)

    def host_batches(self):
        images = self.jax.numpy.moveaxis(self.data[0], -1, 1)
        images = images.reshape((self.jobs.SLOTS, self.options.batch) + self.model.input)
        return images if self.options.input_type == "uint8" else images.astype("float32") / 255

    def infer(self, mode):
        return self.jobs.prediction(self.model, mode, self.options.precision, self.host_batches())

    def expected(self):
        with self.jax.default_matmul_precision("highest"):
            return self.jobs.prediction(self.model, "step", "fp32", self.host_batches())[1]()


FRAMEWORKS = {"jax": Jax, "torch": Torch}


# --- checks ----------------------------------------------------------------------------------------------------------

def has_learnt(loss, classes):
    """{"loss"}; an ArithmeticError where the network has not learnt."""
    if not loss < LEARNED * math.log(classes):  # NaN is not below anything
        raise ArithmeticError("the loss is %g after the timing: it has not learnt" % loss)
    return {"loss": loss}


def is_right(found, expected, precision, classes):
    """{"difference"} between two arrays of probabilities; an ArithmeticError where it is too large."""
    import numpy as np
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    difference = float(np.linalg.norm(found - expected) / np.linalg.norm(expected - 1 / classes))
    allowed = APART[precision.split("-")[0]]
    if not difference <= allowed:
        raise ArithmeticError("the probabilities are off by %.2g of their norm, allowed %.2g" % (difference, allowed))
    return {"difference": difference}


def prepare(framework, options, model, mode):
    """(block, steps of a block, check): the block runs them and waits; the check gives facts for the row, or raises."""
    if options.job == "train":
        run, loss_of, *each = framework.train(mode)
        steps = max(1, options.steps // each[0]) * each[0] if each else options.steps
        run(steps)  # compiles, and lets cuDNN choose
        return lambda: run(steps), steps, lambda: has_learnt(loss_of(), model.classes)
    run, probabilities = framework.infer(mode)
    steps = max(2, min(options.steps, MOST_IMAGES // options.batch))
    return lambda: run(steps), steps, lambda: is_right(probabilities(), framework.expected(), options.precision,
                                                       model.classes)


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


def work(options):
    """Prepares and measures the modes; with --turns all are prepared first, and nothing is measured until "go" comes on
    stdin."""
    about = {"framework": options.worker, "precision": options.precision, "batch": options.batch}
    model = model_file.read(options.model, options.input, options.classes)
    try:
        framework = FRAMEWORKS[options.worker](options, model)
    except Exception as error:  # whatever keeps a framework from starting is what is reported
        for mode in options.modes:
            say(dict(about, mode=mode, error=reason(error)))
        return
    say({"version": framework.version, "device": framework.device_name()})
    prepared, started = {}, time.perf_counter()
    for turn in ([options.modes] if options.turns else [[mode] for mode in options.modes]):
        for mode in turn:
            begin = time.perf_counter()
            left = min(options.prepare_seconds, options.prepare_total - (begin - started))
            try:
                if left <= 0:
                    raise OutOfTime("no time left to prepare it")
                prepared[mode] = timing.within(left, lambda: prepare(framework, options, model, mode))
                prepared[mode] += (time.perf_counter() - begin,)
            except Exception as error:  # a mode that cannot run is no reason to lose the others
                say(dict(about, mode=mode, error=reason(error)))
        if options.turns:
            say({"ready": len(prepared)})
            if not sys.stdin.readline():  # who would have said so is gone
                return
        for mode in turn:
            if mode in prepared:
                say(measured(about, mode, prepared.pop(mode), options))


def measured(about, mode, ready, options):
    block, steps, check, spent = ready
    try:
        row = dict(about, mode=mode, prepare_seconds=round(spent, 1),
                   **measure(block, steps, check, options.seconds, options.batch))
        return with_clock(row, block) if options.clocks else row
    except Exception as error:
        return dict(about, mode=mode, error=reason(error))

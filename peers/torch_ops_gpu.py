"""heddle_torch's operators beside PyTorch's own operators on one GPU, eager and compiled, and Liger's loss where it is
installed: python3 peers/torch_ops_gpu.py --json FILE. Every result is compared with float64 before it is timed. All
that is compared with each other is timed in turns, in one run."""
import argparse
import math
import os
import sys
import time

import torch
import torch.nn.functional as F

import heddle_torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clocks  # noqa: E402
from result_file import save  # noqa: E402
from timing import spread  # noqa: E402

ROUNDS, QUICK_ROUNDS = 25, 5
WARM_UP = 3
BLOCK = 5  # milliseconds at least that are timed at a time: a single call after a pause shows the host's latency
GRAPH = ", graph"
TOLERANCE = 1e-4  # of the largest expected value, in float32
TF32_TOLERANCE = 2e-2  # PyTorch's convolutions round to tf32 by default, and so do ours
POLYNOMIAL = 1 << 26
VOCABULARY, TOKENS = 50257, (4096, 8192)
BLOCKS = [dict(n=256, c=32, h=14, w=14, k=64), dict(n=32, c=64, h=56, w=56, k=64), dict(n=256, c=1, h=28, w=28, k=32)]
# Operator, what it is compared with, and how many times as fast it should be.
TARGETS = [("polynomial", "eager", 3.0), ("polynomial", "compiled", 1.0), ("conv_bn_relu_pool, training", "eager", 3.0),
           ("conv_bn_relu_pool, inference", "eager", 3.0), ("softmax_cross_entropy", "eager", 1.0),
           ("softmax_cross_entropy", "compiled", 1.0), ("softmax_cross_entropy", "liger", 1.0)]


class Mode:
    """`run()` gives tensors, which are compared with the expected ones before they are timed. Without `run`, it is the
    graph of the mode `captured`."""

    def __init__(self, name, run, captured=None):
        self.name, self.run, self.captured = name, run, captured


def graphed(mode):
    """The same as one CUDA graph: what the GPU needs, without the host's work for each launch."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(WARM_UP):
            mode.run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = mode.run()

    def run():
        graph.replay()
        return results
    return run


def nearly(got, expected, tolerance):
    for one, other in zip(got, expected):
        largest = max(other.abs().max().item(), 1e-30)
        error = (one.detach().double() - other).abs().max().item()
        if not error <= tolerance * largest:
            return "off by %.3g of %.3g" % (error, largest)
    return None


def milliseconds(run, count):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(count):
        run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / count


def compare(op, shape, modes, expected, tolerance, options, rows):
    """Times the modes whose results are right, in turns."""
    ready, first = [], len(rows)
    modes = [mode for mode in modes if op.split(",")[0] + ":" + mode.name not in options.skip]
    modes = modes + [Mode(mode.name + GRAPH, None, mode) for mode in modes
                     if mode.name.split(",")[0] in ("heddle", "eager") and "compiled" not in mode.name]
    for mode in modes:
        try:
            mode.run = mode.run or graphed(mode.captured)
            wrong = nearly(mode.run(), expected, tolerance)
            for _ in range(WARM_UP):
                mode.run()
        except Exception as problem:  # one mode that fails leaves the others
            wrong = str(problem).splitlines()[0][:200]
        row = {"op": op, "shape": shape, "mode": mode.name, "passed": wrong is None}
        if wrong:
            row["problem"] = wrong
        else:
            ready.append((row, mode, [], max(1, math.ceil(BLOCK / milliseconds(mode.run, 3)))))
        rows.append(row)
    del expected
    for _ in range(QUICK_ROUNDS if options.quick else ROUNDS):
        for _, mode, times, count in ready:
            times.append(milliseconds(mode.run, count))
    for row, _, times, _ in ready:
        row["milliseconds"], row["low"], row["high"] = (round(one, 5) for one in spread(sorted(times)))
    for row in rows[first:]:
        print("%-32s %-34s %-24s %s" % (op, shape, row["mode"], "%.4f ms" % row["milliseconds"]
                                        if row["passed"] else row["problem"]), flush=True)


# --- polynomial ------------------------------------------------------------------------------------------------------

def polynomial(options, rows):
    x, above = torch.randn(POLYNOMIAL, device="cuda", requires_grad=True), torch.randn(POLYNOMIAL, device="cuda")

    def mode(name, function):
        def run():
            y = function(x)
            return y, torch.autograd.grad(y, x, above)[0]
        return Mode(name, run)

    def eager(t):
        return t * t + t + 1
    wide = x.detach().double()
    expected = [wide * wide + wide + 1, (2 * wide + 1) * above]
    compare("polynomial", "n=%d" % POLYNOMIAL, [
        mode("heddle", heddle_torch.polynomial), mode("heddle, compiled", torch.compile(
            lambda t: heddle_torch.polynomial(t), fullgraph=True)),
        mode("eager", eager), mode("compiled", torch.compile(eager))], expected, TOLERANCE, options, rows)


# --- softmax_cross_entropy -------------------------------------------------------------------------------------------

def liger():
    """Liger's cross-entropy; None: not installed."""
    try:
        from liger_kernel.ops.cross_entropy import LigerCrossEntropyFunction
    except ImportError:
        return None

    def loss(logits, target):
        given = LigerCrossEntropyFunction.apply(logits, target, None)  # weight
        return given[0] if isinstance(given, tuple) else given
    return loss


def cross_entropy(options, rows):
    for tokens in TOKENS[:1] if options.quick else TOKENS:
        logits = torch.randn(tokens, VOCABULARY, device="cuda", requires_grad=True)
        target = torch.randint(0, VOCABULARY, (tokens,), device="cuda")
        target[::17] = -100
        # In float64, of some rows: all of it would take four times the memory.
        some = slice(0, 64)
        counted = (target != -100).sum()
        wide = logits.detach()[some].double()
        gradient = F.softmax(wide, 1)
        kept = target[some] != -100
        gradient[torch.arange(64, device="cuda")[kept], target[some][kept]] -= 1
        gradient[~kept] = 0
        total = torch.stack([F.cross_entropy(logits.detach()[i:i + 256].double(), target[i:i + 256], reduction="sum")
                             for i in range(0, tokens, 256)]).sum()
        expected = [total / counted, gradient / counted]

        def mode(name, function, first=logits, target=target):
            own = first.detach().clone().requires_grad_() if name == "liger" else first  # Liger writes over its input

            def run():
                loss = function(own, target)
                return loss, torch.autograd.grad(loss, own)[0][:64]
            return Mode(name, run)
        modes = [mode("heddle", heddle_torch.softmax_cross_entropy),
                 mode("eager", F.cross_entropy),
                 mode("compiled", torch.compile(lambda x, t: F.cross_entropy(x, t)))]
        modes += [mode("liger", liger())] if liger() else []
        compare("softmax_cross_entropy", "rows=%d cols=%d" % (tokens, VOCABULARY), modes, expected, TOLERANCE, options,
                rows)


# --- conv_bn_relu_pool -----------------------------------------------------------------------------------------------

def eager_block(x, weight, bias, gamma, beta, mean, var, training):
    z = F.batch_norm(F.conv2d(x, weight, bias, padding=1), mean, var, gamma, beta, training)
    return F.max_pool2d(F.relu(z), 2)


def blocks(options, rows):
    torch.backends.cudnn.benchmark = True
    for sizes in BLOCKS[:1] if options.quick else BLOCKS:
        shape = " ".join("%s=%d" % one for one in sizes.items())
        n, c, h, w, k = sizes.values()
        x = torch.randn(n, c, h, w, device="cuda", requires_grad=c > 4)  # a first layer's input needs no gradient
        parts = [torch.randn(k, c, 3, 3, device="cuda") / (3 * c ** 0.5), torch.randn(k, device="cuda"),
                 torch.rand(k, device="cuda") + 0.5, torch.randn(k, device="cuda")]
        for one in parts:
            one.requires_grad_()
        statistics = [torch.zeros(k, device="cuda"), torch.ones(k, device="cuda")]
        for training in (True, False):
            def mode(name, function, last, training=training, x=x, parts=parts, statistics=statistics):
                own = x.detach().contiguous(memory_format=torch.channels_last) if last else x.detach()
                own.requires_grad_(x.requires_grad)
                wanted = ([own] if own.requires_grad else []) + parts
                above = torch.ones(n, k, h // 2, w // 2, device="cuda")
                running = [one.clone() for one in statistics]
                if last:
                    above = above.contiguous(memory_format=torch.channels_last)

                def run():
                    if training:
                        y = function(own, *parts, *running, True)
                        return (y, torch.autograd.grad(y, wanted, above)[-4])
                    with torch.no_grad():
                        return (function(own, *parts, *running, False),)
                return Mode(name, run)
            wide = [one.detach().double().requires_grad_() for one in (x, *parts)]
            result = eager_block(*wide, *[one.double() for one in statistics], training)
            expected = [result.detach()]
            if training:
                expected.append(torch.autograd.grad(result.sum(), wide[1])[0])
            ours = heddle_torch.conv_bn_relu_pool
            compare("conv_bn_relu_pool, " + ("training" if training else "inference"), shape, [
                mode("heddle", ours, False), mode("heddle, channels last", ours, True),
                mode("eager", eager_block, False), mode("eager, channels last", eager_block, True),
                mode("compiled", torch.compile(eager_block), False)], expected, TF32_TOLERANCE, options, rows)


# --- the whole -------------------------------------------------------------------------------------------------------

def fastest(rows, op, shape, name, graph):
    """Of a mode in either layout; in a graph or launched by the host."""
    names = [name + layout + graph for layout in ("", ", channels last")]
    return min((row["milliseconds"] for row in rows if row["op"] == op and row["shape"] == shape and row["passed"] and
                row["mode"] in names), default=None)


def judged(rows):
    """Each target at each shape: how many times as fast we are, and whether that is enough."""
    verdicts = []
    for op, against, wanted in TARGETS:
        for shape in dict.fromkeys(row["shape"] for row in rows if row["op"] == op):
            for graph in ("", GRAPH):
                own, theirs = (fastest(rows, op, shape, name, graph) for name in ("heddle", against))
                if own and theirs:
                    verdicts.append({"op": op, "shape": shape, "against": against + graph, "wanted": wanted,
                                     "times": round(theirs / own, 3), "met": theirs / own >= wanted})
    return verdicts


def versions():
    found = {"torch": torch.__version__, "cuda": torch.version.cuda}
    for name in ("triton", "liger_kernel"):
        try:
            found[name] = getattr(__import__(name), "__version__", "installed")
        except ImportError:
            found[name] = None
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", required=True, metavar="FILE")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--skip", action="append", default=[], metavar="OP:MODE",
                        help="leave a mode out, such as conv_bn_relu_pool:compiled, which compiles for a minute")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("torch_ops_gpu: PyTorch finds no GPU here")
    rows = []

    def measure():
        for part in (polynomial, cross_entropy, blocks):
            part(options, rows)
            torch.cuda.empty_cache()
    sampled = clocks.while_running(measure)
    targets = judged(rows)
    save(options.json, {"format": 1, **clocks.card(), "versions": versions(), "clocks": sampled,
                        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "rounds": QUICK_ROUNDS
                        if options.quick else ROUNDS, "results": rows, "targets": targets})
    for one in targets:
        print("%-32s %-34s %6.2f × %-16s wanted %.1f: %s" % (one["op"], one["shape"], one["times"], one["against"],
                                                             one["wanted"], "met" if one["met"] else "missed"))
    # A missed target is told and does not fail the run; a result of ours that is wrong does.
    return 1 if any(not row["passed"] and row["mode"].startswith("heddle") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

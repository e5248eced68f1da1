#!/usr/bin/env python3
"""PyTorch's own kernels on the shapes of heddle's ladders, timed as `heddle bench` times a rung: one by one, with a
cold L2 cache, the median of many.

    peers/bench_ops.py [--json FILE] [OP...]

Needs PyTorch and a GPU. Every result is checked against float64 before it is timed.
"""
import argparse
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import result_file

FLUSH_BYTES = 256 << 20  # several times the L2 cache
WARM_UP, TIMES = 5, 30


def elapsed(call):
    """Median microseconds of a call on a cold cache; the flush before it hides the launch."""
    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    for _ in range(WARM_UP):
        call()
    marks = []
    for _ in range(TIMES):
        flush.fill_(1)
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        marks.append((begin, end))
    torch.cuda.synchronize()
    times = sorted(begin.elapsed_time(end) * 1000 for begin, end in marks)
    return times[TIMES // 2], times[TIMES // 10], times[TIMES - 1 - TIMES // 10]


def normal(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda").to(dtype)


def add(n):
    a, b = normal(n), normal(n)
    return lambda: a + b, lambda: a.double() + b.double()


def transpose(rows, cols):
    x = normal(rows, cols)
    return lambda: x.t().contiguous(), lambda: x.double().t()


def total(n):
    x = normal(n)
    return lambda: x.sum(), lambda: x.double().sum()


def dot(n):
    x, y = normal(n), normal(n)
    return lambda: torch.dot(x, y), lambda: torch.dot(x.double(), y.double())


def gemv(m, n, transpose=0):
    a, x = normal(m, n), normal(m if transpose else n)
    matrix = a.t() if transpose else a
    return lambda: matrix @ x, lambda: matrix[:64].double() @ x.double()


def scan(n):
    x = normal(n)
    return lambda: torch.cumsum(x, 0), lambda: torch.cumsum(x.double(), 0)


def select(n, threshold=0.0):
    x = normal(n)
    return lambda: torch.masked_select(x, x > threshold), lambda: x.double()[x > threshold]


def sort(n):
    keys, values = normal(n), torch.randint(n, (n,), device="cuda", dtype=torch.int32)

    def run():
        sorted_keys, places = torch.sort(keys, stable=True)
        return sorted_keys, values[places]
    return run, lambda: keys.double().sort().values, lambda got: got[0]


def softmax(rows, cols):
    x = normal(rows, cols)
    return lambda: torch.softmax(x, 1), lambda: torch.softmax(x[:64].double(), 1)


def layernorm(rows, cols, epsilon=1e-5):
    x, gamma, beta = normal(rows, cols), normal(cols), normal(cols)
    return (lambda: F.layer_norm(x, (cols,), gamma, beta, epsilon),
            lambda: F.layer_norm(x[:64].double(), (cols,), gamma.double(), beta.double(), epsilon))


def rmsnorm(rows, cols, epsilon=1e-5):
    x, weight = normal(rows, cols), normal(cols)
    return (lambda: F.rms_norm(x, (cols,), weight, epsilon),
            lambda: F.rms_norm(x[:64].double(), (cols,), weight.double(), epsilon))


def embedding(n, vocabulary, cols):
    table, tokens = normal(vocabulary, cols), torch.randint(vocabulary, (n,), device="cuda")
    return lambda: F.embedding(tokens, table), lambda: table.double()[tokens]


def topk(rows, cols, k):
    x = normal(rows, cols)
    return lambda: torch.topk(x, k).values, lambda: torch.topk(x[:64].double(), k).values


def attention(dtype, backend, backward=False):
    """scaled_dot_product_attention by one of its backends; `backward`: the gradients of q, k and v alone."""
    def run(q, k, v, causal):
        return F.scaled_dot_product_attention(q, k, v, is_causal=bool(causal))

    def make(heads, queries, keys, size, batch=1, causal=0):
        q, above = normal(batch, heads, queries, size, dtype=dtype), normal(batch, heads, queries, size, dtype=dtype)
        k, v = normal(batch, heads, keys, size, dtype=dtype), normal(batch, heads, keys, size, dtype=dtype)
        wide = [one[:1, :2].double() for one in (q, k, v)]
        if not backward:
            def forward():
                with sdpa_kernel(backend):
                    return run(q, k, v, causal)
            return forward, lambda: run(*wide, causal), lambda got: got[:1, :2]
        operands = [one.requires_grad_() for one in (q, k, v)]
        with sdpa_kernel(backend):
            output = run(*operands, causal)

        def expected():
            leaves = [one.detach().requires_grad_() for one in wide]
            return torch.autograd.grad(run(*leaves, causal), leaves, above[:1, :2].double())[0]
        return (lambda: torch.autograd.grad(output, operands, above, retain_graph=True)[0], expected,
                lambda got: got[:1, :2])
    return make


def of_one(function, *sizes):
    """A function of as many tensors as sizes are given, each a lambda of the shape's fields."""
    def make(**shape):
        tensors = [normal(*size(shape)) for size in sizes]
        return lambda: function(*tensors), lambda: function(*[one.double() for one in tensors])
    return make


def gradient(function, *sizes):
    """The gradients of all tensors of such a function; the first of them is checked."""
    def make(**shape):
        tensors = [normal(*size(shape)).requires_grad_() for size in sizes]
        output = function(*tensors)
        above = torch.randn_like(output)

        def expected():
            wide = [one.detach().double().requires_grad_() for one in tensors]
            return torch.autograd.grad(function(*wide), wide, above.double())[0]
        return lambda: torch.autograd.grad(output, tensors, above, retain_graph=True)[0], expected
    return make


def cross_entropy(backward):
    def make(rows, cols):
        x, labels = normal(rows, cols).requires_grad_(backward), torch.randint(cols, (rows,), device="cuda")
        if not backward:
            return lambda: F.cross_entropy(x, labels), lambda: F.cross_entropy(x.double(), labels)
        loss = F.cross_entropy(x, labels)

        def expected():
            wide = x.detach()[:64].double().requires_grad_()
            return torch.autograd.grad(F.cross_entropy(wide, labels[:64], reduction="sum") / rows, wide)[0]
        return lambda: torch.autograd.grad(loss, x, retain_graph=True)[0], expected
    return make


def histogram(n):
    values = torch.randint(256, (n,), device="cuda", dtype=torch.uint8)
    return (lambda: torch.bincount(values, minlength=256),
            lambda: torch.stack([(values == i).sum() for i in range(256)]).double())


def fft2d(batch, h, w):
    x = torch.randn(batch, h, w, 2, device="cuda")
    return (lambda: torch.view_as_real(torch.fft.fft2(torch.view_as_complex(x))),
            lambda: torch.view_as_real(torch.fft.fft2(torch.view_as_complex(x[:4].double()))))


def update(kind):
    """A step of an optimizer over one tensor, by PyTorch's fused kernel."""
    def make(n):
        parameter = normal(n).requires_grad_()
        parameter.grad = normal(n)
        before = parameter.detach().clone()
        step = kind([parameter])

        def run():
            step.step()
            return parameter.detach()

        def first():
            wide = before.double().requires_grad_()
            wide.grad = parameter.grad.double()
            kind([wide]).step()
            return wide.detach()
        return run, first
    return make


def conv2d_backward(which, tf32):
    def make(n, c, h, w, k, r=3, s=3, stride=1, padding=1, groups=1):
        torch.backends.cudnn.allow_tf32 = tf32
        torch.backends.cudnn.benchmark = True
        x, weight = normal(n, c, h, w), normal(k, c // groups, r, s)
        above = torch.randn_like(F.conv2d(x, weight, None, stride, padding, 1, groups))
        mask = [which == "data", which == "weight", False]

        def run(of):
            return torch.ops.aten.convolution_backward(
                *of, [k], [stride] * 2, [padding] * 2, [1] * 2, False, [0] * 2, groups, mask)[mask.index(True)]
        few = slice(None) if which == "weight" else slice(16)
        return (lambda: run((above, x, weight)),
                lambda: run((above[few].double(), x[few].double(), weight.double())))
    return make


def matmul(dtype, tf32):
    def make(m, n, k):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        a, b = normal(m, k, dtype=dtype), normal(k, n, dtype=dtype)
        return lambda: a @ b, lambda: a[:64].double() @ b.double()
    return make


def conv2d(tf32, layout=torch.contiguous_format):
    def make(n, c, h, w, k, r=3, s=3, stride=1, padding=1, groups=1):
        torch.backends.cudnn.allow_tf32 = tf32
        torch.backends.cudnn.benchmark = True
        x, weight = normal(n, c, h, w).to(memory_format=layout), normal(k, c // groups, r, s).to(memory_format=layout)
        bias = normal(k)
        return (lambda: F.conv2d(x, weight, bias, stride, padding, 1, groups),
                lambda: F.conv2d(x[:16].double(), weight.double(), bias.double(), stride, padding, 1, groups))
    return make


LAYER1 = dict(n=1024, c=1, h=28, w=28, k=32, r=3, s=3, padding=1)
LAYER2 = dict(n=1024, c=32, h=14, w=14, k=64, r=3, s=3, padding=1)
CUBES = [dict(m=size, n=size, k=size) for size in (1024, 2048, 4096, 8192)]
GIB = 1 << 28  # floats
HEADS = [dict(batch=4, heads=16, queries=2048, keys=2048, size=64, causal=1),
         dict(batch=4, heads=16, queries=2048, keys=2048, size=128, causal=1),
         dict(batch=4, heads=16, queries=2048, keys=2048, size=128),
         dict(batch=8, heads=16, queries=4096, keys=4096, size=128)]
FEWER_HEADS = [dict(heads=8, queries=1024, keys=1024, size=64, causal=1),
               dict(heads=16, queries=2048, keys=2048, size=64, causal=1),
               dict(heads=16, queries=2048, keys=2048, size=128, causal=1), HEADS[-1]]
SHORT = {torch.bfloat16: "attention_bf16", torch.float16: "attention_fp16"}

DEPTHWISE = dict(n=64, c=128, h=56, w=56, k=128, groups=128)
POOLED = dict(n=1024, c=32, h=28, w=28)
SMALL = dict(n=1024, c=128, h=8, w=8)
ACTIVATIONS = {"tanh": torch.tanh, "sigmoid": torch.sigmoid, "elu": F.elu, "gelu": F.gelu, "softplus": F.softplus,
               "swish": F.silu, "relu": F.relu}
ROWS, FEWER_ROWS = dict(rows=65536, cols=4096), dict(rows=8192, cols=4096)
TOKENS = [dict(rows=4096, cols=50257), dict(rows=1024, cols=50257)]


def vector(shape):
    return (shape["n"],)


def images(shape):
    return tuple(shape[name] for name in "nchw")


def matrix(shape):
    return shape["rows"], shape["cols"]


def columns(shape):
    return (shape["cols"],)


def channels(shape):
    return (shape["c"],)


def layer_norm(x, gamma, beta):
    return F.layer_norm(x, gamma.shape, gamma, beta)


def rms_norm(x, weight):
    return F.rms_norm(x, weight.shape, weight, 1e-5)


# operator, arithmetic, how it is made, shapes, relative error that is allowed; of several ways the fastest counts
JOBS = [
    ("add_forward", "full", add, [dict(n=GIB)], 1e-6),
    ("transpose", "full", transpose, [dict(rows=16384, cols=16384)], 0),
    ("sum_forward", "full", total, [dict(n=GIB)], 1e-3),
    ("dot", "full", dot, [dict(n=GIB)], 1e-3),
    ("gemv", "full", gemv, [dict(m=16384, n=16384), dict(m=16384, n=16384, transpose=1), dict(m=4096, n=4096)], 1e-4),
    ("scan", "full", scan, [dict(n=GIB)], 1e-3),
    ("select", "full", select, [dict(n=GIB), dict(n=GIB, threshold=1.5)], 0),
    ("sort", "full", sort, [dict(n=100000000), dict(n=1 << 20)], 0),
    ("softmax_forward", "full", softmax, [dict(rows=65536, cols=4096), dict(rows=16384, cols=16384)], 1e-5),
    ("layernorm_forward", "full", layernorm, [dict(rows=65536, cols=4096), dict(rows=16384, cols=16384)], 1e-5),
    ("rmsnorm_forward", "full", rmsnorm, [dict(rows=65536, cols=4096), dict(rows=16384, cols=16384)], 1e-5),
    ("embedding_forward", "full", embedding, [dict(n=8192, vocabulary=50257, cols=768)], 0),
    ("topk", "full", topk, [dict(rows=8192, cols=50257, k=50), dict(rows=262144, cols=256, k=8)], 0),
    ("matmul_forward", "full", matmul(torch.float32, False), CUBES, 1e-4),
    ("matmul_forward", "tf32", matmul(torch.float32, True), CUBES[2:], 1e-2),
    ("matmul_bf16_forward", "full", matmul(torch.bfloat16, False), CUBES[2:], 2e-2),
    ("conv2d_forward", "full", conv2d(False), [LAYER1, LAYER2], 1e-4),
    ("conv2d_forward", "full", conv2d(False, torch.channels_last), [LAYER1, LAYER2], 1e-4),
    ("conv2d_forward", "tf32", conv2d(True), [LAYER1, LAYER2], 1e-2),
    ("conv2d_forward", "tf32", conv2d(True, torch.channels_last), [LAYER1, LAYER2], 1e-2),
    ("multiply_forward", "full", of_one(torch.mul, vector, vector), [dict(n=GIB)], 1e-6),
    ("multiply_backward", "full", gradient(torch.mul, vector, vector), [dict(n=GIB)], 1e-6),
    ("saxpy", "full", of_one(lambda x, y: torch.add(y, x, alpha=2), vector, vector), [dict(n=GIB)], 1e-6),
    ("mean_forward", "full", of_one(torch.mean, vector), [dict(n=GIB), dict(n=6422528)], 1e-3),
    ("polynomial_activation_forward", "full", of_one(lambda x: x * x + x + 1, vector), [dict(n=GIB // 4)], 1e-6),
    ("histogram", "full", histogram, [dict(n=GIB)], 0),
    ("fft2d", "full", fft2d, [dict(batch=64, h=512, w=512)], 1e-5),
    ("batchnorm2d_relu", "full", of_one(lambda x, gamma, beta: F.relu(F.batch_norm(x, None, None, gamma, beta, True)),
                                        images, channels, channels), [dict(n=1024, c=64, h=64, w=64)], 1e-5),
    ("maxpool2d_backward", "full", gradient(lambda x: F.max_pool2d(x, 2), images), [POOLED], 1e-6),
    ("avgpool2d_forward", "full", of_one(lambda x: F.avg_pool2d(x, 2), images), [POOLED], 1e-6),
    ("avgpool2d_backward", "full", gradient(lambda x: F.avg_pool2d(x, 2), images), [POOLED], 1e-6),
    ("globalavgpool_forward", "full", of_one(lambda x: x.mean((2, 3)), images), [SMALL], 1e-5),
    ("globalavgpool_backward", "full", gradient(lambda x: x.mean((2, 3)), images), [SMALL], 1e-6),
    ("softmax_backward", "full", gradient(lambda x: F.softmax(x, 1), matrix), [ROWS], 1e-5),
    ("log_softmax_forward", "full", of_one(lambda x: F.log_softmax(x, 1), matrix), [ROWS, FEWER_ROWS], 1e-5),
    ("log_softmax_backward", "full", gradient(lambda x: F.log_softmax(x, 1), matrix), [ROWS, FEWER_ROWS], 1e-5),
    ("layernorm_backward", "full", gradient(layer_norm, matrix, columns, columns), [ROWS], 1e-5),
    ("rmsnorm_backward", "full", gradient(rms_norm, matrix, columns), [ROWS, FEWER_ROWS], 1e-5),
    ("cross_entropy_forward", "full", cross_entropy(False), [ROWS], 1e-5),
    ("cross_entropy_backward", "full", cross_entropy(True), [ROWS], 1e-5),
    ("token_loss_forward", "full", cross_entropy(False), TOKENS, 1e-5),
    ("token_loss_backward", "full", cross_entropy(True), TOKENS, 1e-5),
    ("conv2d_grouped_forward", "full", conv2d(False), [DEPTHWISE], 1e-4),
    ("conv2d_grouped_backward_data", "full", conv2d_backward("data", False), [DEPTHWISE], 1e-4),
    ("conv2d_grouped_backward_weight", "full", conv2d_backward("weight", False), [DEPTHWISE], 1e-4),
    ("conv2d_backward_data", "full", conv2d_backward("data", False), [LAYER2], 1e-4),
    ("conv2d_backward_weight", "full", conv2d_backward("weight", False), [LAYER2], 1e-4),
    ("conv2d_backward_data", "tf32", conv2d_backward("data", True), [LAYER2], 1e-2),
    ("conv2d_backward_weight", "tf32", conv2d_backward("weight", True), [LAYER2], 1e-2),
    ("sgd_update", "full", update(lambda of: torch.optim.SGD(of, 0.01, fused=True)), [dict(n=421834)], 1e-5),
    ("momentum_update", "full", update(lambda of: torch.optim.SGD(of, 0.01, 0.9, fused=True)), [dict(n=421834)], 1e-5),
    ("adamw_update", "full", update(lambda of: torch.optim.AdamW(of, 0.01, fused=True)), [dict(n=421834)], 1e-5),
    ("attention_forward", "full", attention(torch.float32, SDPBackend.EFFICIENT_ATTENTION), HEADS, 1e-2),
    ("attention_backward", "full", attention(torch.float32, SDPBackend.EFFICIENT_ATTENTION, True), FEWER_HEADS, 1e-2),
] + [
    (name + ending, "full", of(function, vector), [dict(n=GIB // 4)], 1e-5)
    for name, function in ACTIVATIONS.items() for ending, of in (("_forward", of_one), ("_backward", gradient))
] + [
    (SHORT[dtype] + ("_backward" if backward else "_forward"), "full", attention(dtype, backend, backward),
     FEWER_HEADS if backward else HEADS, 2e-2)
    for dtype in SHORT for backward in (False, True)
    for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION)
]


def first_rows(got, expected):
    return got[:expected.shape[0]] if expected.dim() > 0 else got


def measure(op, arithmetic, make, shape, allowed):
    call, reference, *part = make(**shape)
    expected = reference()
    got = (part[0](call()) if part else first_rows(call(), expected)).double()
    error = float((got - expected).norm() / (expected.norm() + 1e-300))
    if not error <= allowed:
        raise ValueError("relative error %g is above %g" % (error, allowed))
    del expected, got
    middle, low, high = elapsed(call)
    return {"op": op, "rung": "pytorch", "arithmetic": arithmetic, "shape": shape, "microseconds": middle, "low": low,
            "high": high, "max_error": error}


def fastest(rows):
    """One row for each operator, arithmetic and shape."""
    best = {}
    for row in rows:
        key = (row["op"], row["arithmetic"], tuple(sorted(row["shape"].items())))
        if key not in best or row["microseconds"] < best[key]["microseconds"]:
            best[key] = row
    return list(best.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ops", nargs="*", metavar="OP", help="default: all")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("PyTorch sees no GPU here")
    rows, failed = [], 0
    for op, arithmetic, make, shapes, allowed in JOBS:
        for shape in shapes if not options.ops or op in options.ops else []:
            try:
                rows.append(measure(op, arithmetic, make, shape, allowed))
                outcome = "%10.1f us" % rows[-1]["microseconds"]
            except Exception as problem:  # it concerns this row only
                failed, outcome = failed + 1, "FAILED: %s" % problem
            print("%-20s %-5s %-40s %s" % (op, arithmetic, " ".join("%s=%s" % item for item in shape.items()), outcome),
                  flush=True)
            torch.cuda.empty_cache()
    if options.json:
        result_file.save(options.json, {"version": "PyTorch " + torch.__version__, "results": fastest(rows)})
    return 0 if rows and not failed else 1


if __name__ == "__main__":
    sys.exit(main())

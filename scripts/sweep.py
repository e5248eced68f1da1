"""Random shapes for every operator that a vendor's library has, too, and what became of them. Standard library only.

Shapes are drawn evenly over the logarithm of their sizes. A quarter are multiples of 64, a quarter multiples of 8, the
rest are as they come: a ladder has to serve the shapes that nobody tuned it for."""
import math
import random

import ladders

AT_LEAST = 0.9  # of the speed of the vendor's fastest rung of the same type
SHARE = 0.95  # of all rows
MOST_SHAPES = 64  # of an operator: what `heddle bench` takes
MOST_ELEMENTS = 1 << 27
MOST_FLOPS = 1e11
SMOOTH = (2, 3, 5, 7)  # prime factors of most lengths of a Fourier transform


# --- drawing ---------------------------------------------------------------------------------------------------------

class Dice:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def one_of(self, *choices):
        return self.random.choice(choices)

    def size(self, low, high):
        number = int(math.exp(self.random.uniform(math.log(low), math.log(high))) + 0.5)
        multiple = self.one_of(64, 8, 1, 1)
        return max(low, number // multiple * multiple) if number >= multiple else number

    def length(self, low, high):
        """Of a transform: a product of small primes in four of five cases."""
        number = self.size(low, high)
        if self.one_of(True, False, False, False, False):
            return number
        while True:  # another product where one is too large: cut to the limit, it would nearly always be the same length
            product = 1
            while product < number:
                product *= self.one_of(*SMOOTH)
            if product <= high:
                return product


def product(dice, most):
    return {"m": dice.size(1, most), "n": dice.size(16, most), "k": dice.size(16, most)}


def transposed(dice, shape):
    return dict(shape, transpose_a=dice.one_of(0, 1), transpose_b=dice.one_of(0, 1))


def conv2d(dice):
    side, window = dice.size(7, 112), dice.one_of(1, 3, 3, 3, 5, 7)
    return {"n": dice.size(1, 256), "c": dice.size(3, 512), "h": side, "w": side, "k": dice.size(16, 512), "r": window,
            "s": window, "stride": dice.one_of(1, 1, 1, 2), "padding": window // 2}


def images(dice):
    side = dice.size(7, 112)
    return {"n": dice.size(1, 256), "c": dice.size(16, 512), "h": side, "w": side}


def matrix(dice):
    return {"rows": dice.size(16, 65536), "cols": dice.size(10, 65536)}


def numbers(dice):
    return {"n": dice.size(1000, MOST_ELEMENTS), "sequences": dice.one_of(1, 65536)}


def transform(dice):
    n = dice.length(16, 1 << 20)
    return {"batch": dice.size(1, max(1, (1 << 25) // n)), "n": n, "inverse": dice.one_of(0, 1)}


def transform2d(dice):
    h, w = dice.length(16, 2048), dice.length(16, 2048)
    return {"batch": dice.size(1, max(1, (1 << 25) // (h * w))), "h": h, "w": w}


# matmul_host is not among them: its matrices are in host memory, and out-of-core measures it.
DRAW = {
    "matmul_forward": lambda dice: transposed(dice, product(dice, 8192)),
    "matmul_backward": lambda dice: product(dice, 4096),
    "matmul_batched_forward": lambda dice: dict(product(dice, 512), batch=dice.size(2, 512)),
    "matmul_bf16_forward": lambda dice: transposed(dice, product(dice, 8192)),
    "matmul_fp8": lambda dice: product(dice, 8192),
    "matmul_int8": lambda dice: product(dice, 8192),
    "gemv": lambda dice: {"m": dice.size(64, 32768), "n": dice.size(64, 32768), "transpose": dice.one_of(0, 1)},
    "linear_forward": lambda dice: {"n": dice.size(1, 4096), "in": dice.size(16, 8192), "out": dice.size(10, 8192)},
    "linear_backward": lambda dice: {"n": dice.size(1, 4096), "in": dice.size(16, 8192), "out": dice.size(10, 8192)},
    "conv2d_forward": conv2d, "conv2d_backward_data": conv2d, "conv2d_backward_weight": conv2d,
    "conv2d_bias_relu": conv2d,
    "batchnorm2d_forward": images, "batchnorm2d_relu": images,
    "softmax_forward": matrix, "softmax_backward": matrix, "log_softmax_forward": matrix, "log_softmax_backward": matrix,
    "random_bits": numbers, "random_uniform": numbers, "random_normal": numbers,
    "fft": transform, "rfft": transform, "fft2d": transform2d,
    "dot": lambda dice: {"n": dice.size(1000, MOST_ELEMENTS)},
    "sum_forward": lambda dice: {"n": dice.size(1000, MOST_ELEMENTS)},
    "histogram": lambda dice: {"n": dice.size(1000, MOST_ELEMENTS), "bins": dice.one_of(8, 256, 1000, 4096)},
    "saxpy": lambda dice: {"n": dice.size(1000, MOST_ELEMENTS)},
    "scan": lambda dice: {"n": dice.size(1000, MOST_ELEMENTS)},
    "select": lambda dice: {"n": dice.size(1000, MOST_ELEMENTS), "threshold": dice.one_of(-1, 0, 1)},
    "sort": lambda dice: {"n": dice.size(1000, MOST_ELEMENTS // 16)},
}


NO_SIZES = ("sequences", "inverse", "transpose", "bins", "threshold")


def fits(shape):
    """Neither so large that its reference takes seconds, nor empty where a window does not fit the image."""
    if "k" in shape and "m" in shape:
        return 2.0 * shape["m"] * shape["n"] * shape["k"] * shape.get("batch", 1) <= MOST_FLOPS
    if "in" in shape:
        return 2.0 * shape["n"] * shape["in"] * shape["out"] <= MOST_FLOPS
    if "k" in shape:
        pixels = shape["n"] * shape["h"] * shape["w"] / shape["stride"] ** 2
        return 2.0 * pixels * shape["c"] * shape["k"] * shape["r"] * shape["s"] <= MOST_FLOPS
    elements = 1
    for name, number in shape.items():
        elements *= number if name not in NO_SIZES else 1
    return elements <= MOST_ELEMENTS


def text_of(shape):
    return " ".join("%s=%d" % one for one in shape.items())


def drawn(operators, count, seed):
    """{operator: shapes}: `count` of them for all operators, as many for each but for one. An operator's shapes do not
    depend on which others there are."""
    found = {}
    for number, name in enumerate(DRAW):
        if name not in operators:
            continue
        dice, shapes = Dice("%s %s" % (seed, name)), []
        while len(shapes) < count // len(DRAW) + (number < count % len(DRAW)):
            shape = DRAW[name](dice)
            if fits(shape) and text_of(shape) not in shapes:
                shapes.append(text_of(shape))
        found[name] = shapes
    return found


# --- judging ---------------------------------------------------------------------------------------------------------

def rows_of(operators, results):
    """A row for each shape and type that the vendor has: the target, and what became of it. Types that are compared with
    another type's rungs, such as tf32x3, have no row of their own."""
    found = {}
    for row in results["results"]:
        if row["tier"] == "vendor" and ladders.is_timed(row):
            found.setdefault((row["op"], row["shape"], row["dtype"]), {
                "op": row["op"], "shape": row["shape"], "dtype": row["dtype"], "against": "vendor",
                "at_least": AT_LEAST})
    return [dict(target, **ladders.judge(target, operators[target["op"]], results)) for target in found.values()]


def words(rows):
    met = sum(row["met"] for row in rows)
    return "%d of %d rows reach %.2f × the vendor's speed (%.0f %%; goal: %.0f %%)" % (
        met, len(rows), AT_LEAST, 100.0 * met / len(rows) if rows else 0, 100 * SHARE)


def reached(rows):
    return bool(rows) and sum(row["met"] for row in rows) >= SHARE * len(rows)

"""The three sizes of a convolution, and the discrete Fourier transform of four numbers by hand:
python3 transforms.py convolution|fourier"""
import cmath
import sys


def transform(values):
    count = len(values)
    return [sum(value * cmath.exp(-2j * cmath.pi * row * column / count) for column, value in enumerate(values))
            for row in range(count)]


def fast(values):
    """The same in n log n steps: transform even and odd places alone, then combine."""
    count = len(values)
    if count == 1:
        return list(values)
    even, odd = fast(values[::2]), fast(values[1::2])
    turned = [cmath.exp(-2j * cmath.pi * k / count) * odd[k] for k in range(count // 2)]
    return [even[k] + turned[k] for k in range(count // 2)] + [even[k] - turned[k] for k in range(count // 2)]


def convolve(signal, weights, mode):
    full = [sum(weights[j] * signal[i - j] for j in range(len(weights)) if 0 <= i - j < len(signal))
            for i in range(len(signal) + len(weights) - 1)]
    cut = {"full": 0, "same": (len(weights) - 1) // 2, "valid": len(weights) - 1}[mode]
    return full[cut:len(full) - cut]


if sys.argv[1:] == ["convolution"]:
    for name in ("full", "same", "valid"):
        print("%-5s" % name, convolve([1, 2, 3, 4, 5], [1, 1, 1], name))
elif sys.argv[1:] == ["fourier"]:
    for function in (transform, fast):
        numbers = ["%g%+gi" % (round(v.real, 6) + 0, round(v.imag, 6) + 0) for v in function([1, 2, 3, 4])]
        print("%-9s" % function.__name__, *numbers)
else:
    sys.exit(__doc__)

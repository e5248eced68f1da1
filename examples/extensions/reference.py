"""What the kernels of this folder compute, in NumPy: floating-point tensors arrive as float64."""

import numpy


def softmax(x):
    largest = x.max(axis=1, keepdims=True)
    powers = numpy.exp(x - largest)
    return powers / powers.sum(axis=1, keepdims=True)


def gelu(input):
    return 0.5 * input * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (input + 0.044715 * input**3)))


def rotary(x, cosine, sine):
    first, second = numpy.split(x, 2, axis=2)
    c, s = cosine[:, None, :], sine[:, None, :]
    return numpy.concatenate([first * c - second * s, second * c + first * s], axis=2)


def grouped_sum(x, index, sums, counts):
    numpy.add.at(sums, index, x)
    numpy.add.at(counts, index, 1)
    return sums, counts

"""Backpropagation on single numbers: a Value remembers what it was made of, and can hand a gradient back to it."""
import math
import random


class Value:
    def __init__(self, number, parents=(), back=lambda grad: (), name=""):
        self.number, self.parents, self.back, self.name = number, parents, back, name
        self.grad = 0.0

    def __add__(self, other):
        return Value(self.number + other.number, (self, other), lambda grad: (grad, grad), "+")

    def __mul__(self, other):
        return Value(self.number * other.number, (self, other),
                     lambda grad: (grad * other.number, grad * self.number), "*")

    def tanh(self):
        result = math.tanh(self.number)
        return Value(result, (self,), lambda grad: (grad * (1 - result * result),), "tanh")

    def backward(self):
        """Fills .grad of everything this value was made of: d(self) / d(that)."""
        self.grad = 1.0
        for value in reversed(in_order(self)):  # users before what they use: then every grad is complete when read
            for parent, grad in zip(value.parents, value.back(value.grad)):
                parent.grad += grad  # += because a value may be used more than once


def in_order(last):
    """Everything `last` was made of, each after its own parents."""
    order, seen = [], set()

    def visit(value):
        if value not in seen:
            seen.add(value)
            for parent in value.parents:
                visit(parent)
            order.append(value)
    visit(last)
    return order


def draw(value, depth=0):
    print("%s%-4s = %7.4f   grad %7.4f" % ("    " * depth, value.name or "x", value.number, value.grad))
    for parent in value.parents:
        draw(parent, depth + 1)


def network(parameters, x, y):
    """Two inputs, three hidden neurons, one output."""
    weights = iter(parameters)
    hidden = [(x * next(weights) + y * next(weights) + next(weights)).tanh() for _ in range(3)]
    output = next(weights)
    for value in hidden:
        output = output + value * next(weights)
    return output


def main():
    a, b = Value(0.5, name="a"), Value(-3.0, name="b")
    result = (a * b + a).tanh()
    result.backward()
    draw(result)

    random.seed(1)
    parameters = [Value(random.uniform(-1, 1)) for _ in range(13)]
    data = [(0, 0, -1), (0, 1, 1), (1, 0, 1), (1, 1, -1)]  # exclusive or
    for step in range(301):
        loss = Value(0.0)
        for x, y, wanted in data:
            error = network(parameters, Value(x), Value(y)) + Value(-wanted)
            loss = loss + error * error
        for parameter in parameters:
            parameter.grad = 0.0
        loss.backward()
        for parameter in parameters:
            parameter.number -= 0.05 * parameter.grad
        if step % 100 == 0:
            print("step %3d  loss %.4f" % (step, loss.number))


main()

"""Gradients one number at a time, as in micrograd: read a few lines, change them, look at the graph.

    from heddle.grad import Value
    a, b = Value(2.0), Value(-3.0)
    c = (a * b + 10.0).tanh()
    c.backward()
    a.grad, b.grad
    c                      # a notebook draws the graph; c.dot() is for Graphviz

The example in micrograd's README runs with this Value, too: numbers on both sides of + - * /, ** any number, relu, tanh,
exp and log. A Value is a heddle.Tensor of one number on the same engine. Use tensors for anything that must be fast.
"""
from __future__ import annotations

import math
import random
from typing import Any, Optional, Sequence, Union

import numpy

from ._errors import Invalid
from ._tensor import Context, Number, Tensor


class Value(Tensor):
    """One number that remembers how it was computed. One that you make has a gradient; `label` is for the graph."""

    label = ''
    _name = ''  # of an operation that the engine does not have

    def __init__(self, data: float, label: str = '', *, context: Optional[Context] = None) -> None:
        super().__init__(numpy.float32(data), requires_grad=True, context=context)
        self.label = label

    @property
    def data(self) -> float:
        """The number. It can be set where it was given: v.data -= 0.1 * v.grad."""
        return self.item()

    @data.setter
    def data(self, value: float) -> None:
        if self._parents:
            raise Invalid('this value was computed; set the ones that it was computed from')
        old, self._handle = self._handle, self._create(numpy.asarray(value, numpy.float32))
        self._context._gone.append(old)

    @property
    def grad(self) -> float:
        """The gradient; 0 before backward()."""
        gradient = super().grad
        return 0.0 if gradient is None else float(gradient.reshape(-1)[0])

    # --- operations that the engine does not have --------------------------------------------------------------------

    def _local(self, name: str, value: float, slope: float) -> Value:
        """A value with this derivative by self: value + (self - its number) * slope, whose middle is exactly 0."""
        if not (math.isfinite(value) and math.isfinite(slope)):
            raise Invalid(f'{name} of {self.data:g} is not a finite number, or has no finite gradient')
        made = (self - self.data) * slope + value
        made._inner, made._parents, made._name = made._parents, (self,), name
        return made

    def _power(self, exponent: float) -> Value:
        base = self.data
        if base == 0 and exponent < 0:
            raise ZeroDivisionError(f'0 ** {exponent:g}')
        if base < 0 and exponent != int(exponent):
            raise Invalid(f'{base:g} ** {exponent:g} is not a real number')
        slope = exponent * base ** (exponent - 1) if base or exponent >= 1 else math.inf if exponent else 0.0
        return self._local(f'** {exponent:g}', base ** exponent, slope)

    def __pow__(self, exponent: Any) -> Value:
        if isinstance(exponent, Tensor):
            raise TypeError('the exponent of a Value is a number; for a ** b write (b * a.log()).exp()')
        return self._power(float(exponent)) if isinstance(exponent, Number) else NotImplemented

    def __rpow__(self, base: Any) -> Value:
        if not isinstance(base, Number):
            return NotImplemented
        if base <= 0:
            raise Invalid(f'{base:g} ** a Value; the base must be above 0')
        return (self * math.log(base)).exp()

    def __truediv__(self, other: Any) -> Value:
        return self * other._power(-1.0) if isinstance(other, Value) else super().__truediv__(other)

    def __rtruediv__(self, other: Any) -> Value:
        return self._power(-1.0) * other if isinstance(other, Number) else NotImplemented

    def exp(self) -> Value:
        try:
            value = math.exp(self.data)
        except OverflowError:
            value = math.inf
        return self._local('exp', value, value)

    def log(self) -> Value:
        """The natural logarithm."""
        if self.data <= 0:
            raise Invalid(f'log of {self.data:g}; it must be above 0')
        return self._local('log', math.log(self.data), 1.0 / self.data)

    @property
    def op(self) -> str:
        return self._name or super().op

    def __float__(self) -> float:
        return self.data

    def _about(self) -> str:
        return (f'{self.label} = ' if self.label else '') + super()._about()

    def __repr__(self) -> str:
        return f'Value({self.data:g}, grad {self.grad:g})'


class Neuron:
    """tanh or relu of a weighted sum; linear without either."""

    def __init__(self, inputs: int, activation: str = 'tanh', *, generator: Optional[random.Random] = None) -> None:
        draw = generator or random
        self.weights = [Value(draw.uniform(-1, 1)) for _ in range(inputs)]
        self.bias = Value(0.0)
        self.activation = activation

    def __call__(self, inputs: Sequence[Union[Value, float]]) -> Value:
        if len(inputs) != len(self.weights):
            raise Invalid(f'{len(inputs)} inputs for a neuron of {len(self.weights)}')
        total = self.bias
        for weight, value in zip(self.weights, inputs):
            total = total + weight * value
        return getattr(total, self.activation)() if self.activation != 'linear' else total

    def parameters(self) -> list[Value]:
        return [*self.weights, self.bias]


class MLP:
    """Layers of neurons, the last one linear: MLP(2, [8, 1])."""

    def __init__(self, inputs: int, layers: Sequence[int], activation: str = 'tanh', *, seed: int = 1) -> None:
        generator = random.Random(seed)
        sizes = [inputs, *layers]
        self.layers = [[Neuron(sizes[i], activation if i + 1 < len(layers) else 'linear', generator=generator)
                        for _ in range(size)] for i, size in enumerate(layers)]

    def __call__(self, inputs: Sequence[Any]) -> Any:
        values: Any = inputs
        for layer in self.layers:
            values = [neuron(values) for neuron in layer]
        return values[0] if len(values) == 1 else values

    def parameters(self) -> list[Value]:
        return [value for layer in self.layers for neuron in layer for value in neuron.parameters()]

"""Tensors with gradients, on the engine that trains: include/heddle/tensor.h in Python.

A tensor is freed when nothing refers to it any more: Python says which are gone, and the context sweeps them now and then.
"""
from __future__ import annotations

import collections
import threading
from typing import Any, Callable, Optional, Sequence, TypeVar, Union

import numpy

from . import _draw, _library
from ._arrays import pointer, to_numpy
from ._device import Device, device_of
from ._errors import Invalid
from ._library import check, error_of, ffi, lib, text

_SWEEP = 256  # released tensors that are worth a sweep; more where more are in use
Self = TypeVar('Self', bound='Tensor')
Array = numpy.ndarray  # Tensor.numpy hides the name
_UNARY = ('relu', 'tanh', 'sigmoid', 'elu', 'gelu', 'softplus', 'swish', 'softmax', 'log_softmax', 'exp', 'log')
Number = (int, float, numpy.integer, numpy.floating)


class Context:
    """Where tensors live and are computed. There is a default one on the CPU; tensors of two contexts do not mix."""

    def __init__(self, device: Union[Device, str, None] = 'cpu', *, seed: int = 1, threads: int = 0) -> None:
        self._lock = threading.RLock()
        self._gone: collections.deque[Any] = collections.deque()  # tensors end in any thread, at any moment
        self._live = 0
        self._device = device_of(device, threads)
        place = ffi.new('heddle_context **')
        check(lib.heddle_context_create(self._device._c, seed, place))
        self._c = place[0]
        self._device.retain()

    def __del__(self) -> None:
        if getattr(self, '_c', None) and _library and _library.ending is False and self._device.is_ours():
            lib.heddle_context_destroy(self._c)
            self._device.release()

    def turn(self) -> Any:
        """Tensors are used by one thread at a time."""
        self._device.need()
        return self._lock

    def sweep(self, least: int = 1) -> None:
        """Frees the memory of tensors that Python no longer has, if there are at least so many. Happens by itself."""
        with self.turn():
            if len(self._gone) < least:
                return
            while self._gone:
                lib.heddle_tensor_release(self._gone.popleft())
                self._live -= 1
            check(lib.heddle_context_sweep(self._c))

    def make(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The tensor that a function of the library makes; its failure is raised."""
        self.sweep(max(_SWEEP, self._live // 2))
        with self.turn():
            handle = function(*arguments)
            if handle == ffi.NULL:
                raise Invalid(_library.last_error())
            self._live += 1
        return handle

    def parameter(self, shape: Sequence[int], bound: float) -> 'Tensor':
        """A tensor to train: uniform random numbers in [-bound, bound), from the context's seed."""
        return Tensor._wrap(self.make(lib.heddle_parameter, self._c, len(shape), list(shape), bound), self, (), True)

    def step(self, rate: float, optimizer: str = 'sgd', *, momentum: float = 0.9, weight_decay: float = 0.0,
             nesterov: bool = False, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8) -> None:
        """One step of "sgd", "momentum" or "adamw" on every tensor that needs a gradient and has one; forgets gradients."""
        kind = _library.choice('optimizer', optimizer, ['sgd', 'momentum', 'adamw'])
        with self.turn():
            if kind == 0:
                check(lib.heddle_sgd_step(self._c, rate))
            elif kind == 1:
                check(lib.heddle_momentum_step(self._c, ffi.new('heddle_momentum_options *',
                                                                [rate, momentum, weight_decay, nesterov])))
            else:
                check(lib.heddle_adamw_step(self._c, ffi.new('heddle_adamw_options *',
                                                             [rate, beta1, beta2, epsilon, weight_decay])))


_default: Optional[Context] = None
_default_lock = threading.Lock()


def default_context() -> Context:
    """The context of tensors that name none: the CPU, seed 1."""
    global _default
    with _default_lock:
        if _default is None or not _default._device.is_ours():
            _default = Context('cpu')
        return _default


class Tensor(_draw.Drawn):
    """An array of float32 (or labels: class numbers) that remembers how it was computed.

        w = heddle.Tensor([[1.0, -2.0]], requires_grad=True)
        loss = (w * w).sum()
        loss.backward()
        w.grad                 # array([[ 2., -4.]])

    Operators take tensors of one shape, or a number: + - * and division by a number, ** a whole number, @. Integer arrays
    are labels, for cross_entropy(). A notebook draws the graph.
    """

    __array_ufunc__ = None  # NumPy leaves `array * tensor` to this class: an array would forget the graph

    def __init__(self, data: Any, requires_grad: bool = False, *, context: Optional[Context] = None) -> None:
        array = to_numpy(data, 'a tensor')
        self._context = context or default_context()
        self._parents: tuple['Tensor', ...] = ()
        self.requires_grad = requires_grad
        self._handle = self._create(array)

    def _create(self, array: numpy.ndarray) -> Any:
        make, context = self._context.make, self._context
        dims = [int(each) for each in array.shape]
        is_label = array.dtype.kind in 'iu' and array.ndim == 1 and not self.requires_grad
        if is_label:
            if array.size and not -2**31 <= int(array.min()) <= int(array.max()) < 2**31:
                raise Invalid(f'labels from {array.min()} to {array.max()}; class numbers have 32 bits')
            values = numpy.ascontiguousarray(array, dtype=numpy.int32)
            return make(lib.heddle_tensor_labels, context._c, len(values), pointer(values, 'const int32_t *'))
        if array.dtype.kind not in 'fiu':
            raise Invalid(f'a tensor of {array.dtype}; give floats, or integers as labels')
        values = numpy.ascontiguousarray(array, dtype=numpy.float32)
        function = lib.heddle_parameter_from if self.requires_grad else lib.heddle_tensor_create
        return make(function, context._c, len(dims), dims, pointer(values, 'const float *'))

    @classmethod
    def _wrap(cls: type[Self], handle: Any, context: Context, parents: tuple['Tensor', ...], requires_grad: bool) -> Self:
        made = cls.__new__(cls)
        made._handle, made._context, made._parents, made.requires_grad = handle, context, parents, requires_grad
        return made

    def __del__(self) -> None:
        handle = getattr(self, '_handle', None)
        if handle is not None:
            self._context._gone.append(handle)

    def _apply(self: Self, function: Callable[..., Any], *arguments: Any) -> Self:
        """Calls a function of the library on tensors, and on what else it takes."""
        parents: tuple[Tensor, ...] = (self, *(each for each in arguments if isinstance(each, Tensor)))
        if any(each._context is not self._context for each in parents):
            raise Invalid('tensors of two contexts do not mix')
        handles = [each._handle if isinstance(each, Tensor) else ffi.NULL if each is None else each for each in arguments]
        handle = self._context.make(function, self._handle, *handles)
        return type(self)._wrap(handle, self._context, parents, any(each.requires_grad for each in parents))

    def _like(self: Self, value: Any) -> Self:
        """A number as a tensor of this one's shape."""
        if isinstance(value, Tensor):
            return value  # type: ignore[return-value]
        if not isinstance(value, Number):
            return NotImplemented
        made = type(self).__new__(type(self))
        made._context, made._parents, made.requires_grad = self._context, (), False
        made._handle = made._create(numpy.full(self.shape, float(value), numpy.float32))
        return made

    # --- arithmetic --------------------------------------------------------------------------------------------------

    def __add__(self: Self, other: Any) -> Self:
        other = self._like(other)
        return other if other is NotImplemented else self._apply(lib.heddle_add, other)

    def __mul__(self: Self, other: Any) -> Self:
        other = self._like(other)
        return other if other is NotImplemented else self._apply(lib.heddle_multiply, other)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self: Self) -> Self:
        return self * -1.0

    def __sub__(self: Self, other: Any) -> Self:
        return self + (-other if isinstance(other, (Tensor, *Number)) else other)

    def __rsub__(self: Self, other: Any) -> Self:
        return -self + other

    def __truediv__(self: Self, other: Any) -> Self:
        if not isinstance(other, Number):
            return NotImplemented
        if other == 0:
            raise ZeroDivisionError('division of a tensor by zero')
        return self * (1.0 / other)

    def __pow__(self: Self, exponent: int) -> Self:
        if not isinstance(exponent, int) or exponent < 1:
            raise Invalid(f'{exponent!r} as an exponent of a tensor; whole numbers from 1 on are possible '
                          '(heddle.grad.Value takes any number)')
        if exponent == 1:
            return self
        half = self ** (exponent // 2)
        return half * half * self if exponent % 2 else half * half

    def __matmul__(self: Self, other: 'Tensor') -> Self:
        return self._apply(lib.heddle_matmul, other) if isinstance(other, Tensor) else NotImplemented

    # --- operators ---------------------------------------------------------------------------------------------------

    def sum(self: Self) -> Self:
        return self._apply(lib.heddle_sum)

    def mean(self: Self) -> Self:
        return self._apply(lib.heddle_mean)

    def relu(self: Self) -> Self:
        return self._apply(lib.heddle_relu)

    def tanh(self: Self) -> Self:
        return self._apply(lib.heddle_tanh)

    def sigmoid(self: Self) -> Self:
        return self._apply(lib.heddle_sigmoid)

    def elu(self: Self) -> Self:
        return self._apply(lib.heddle_elu)

    def gelu(self: Self) -> Self:
        return self._apply(lib.heddle_gelu)

    def softplus(self: Self) -> Self:
        return self._apply(lib.heddle_softplus)

    def swish(self: Self) -> Self:
        return self._apply(lib.heddle_swish)

    def softmax(self: Self) -> Self:
        """Along the last dimension."""
        return self._apply(lib.heddle_softmax)

    def log_softmax(self: Self) -> Self:
        """Along the last dimension."""
        return self._apply(lib.heddle_log_softmax)

    def dropout(self: Self, probability: float) -> Self:
        return self._apply(lib.heddle_dropout, probability)

    def linear(self: Self, weight: 'Tensor', bias: Optional['Tensor'] = None) -> Self:
        """(n, in) by weight (out, in) and bias (out)."""
        return self._apply(lib.heddle_linear, weight, bias)

    def conv2d(self: Self, weight: 'Tensor', bias: Optional['Tensor'] = None, *, stride: int = 1, padding: int = 0,
               dilation: int = 1) -> Self:
        """(n, c, h, w) by weight (k, c, r, s) and bias (k)."""
        return self._apply(lib.heddle_conv2d, weight, bias, stride, padding, dilation)

    def batchnorm2d(self: Self, gamma: 'Tensor', beta: 'Tensor', epsilon: float = 1e-5) -> Self:
        return self._apply(lib.heddle_batchnorm2d, gamma, beta, epsilon)

    def maxpool2d(self: Self, window: int, stride: Optional[int] = None, padding: int = 0) -> Self:
        return self._apply(lib.heddle_maxpool2d, window, stride or window, padding)

    def avgpool2d(self: Self, window: int, stride: Optional[int] = None, padding: int = 0) -> Self:
        return self._apply(lib.heddle_avgpool2d, window, stride or window, padding)

    def cross_entropy(self: Self, labels: 'Tensor') -> Self:
        """Mean over the rows of -log softmax(row)[label]."""
        return self._apply(lib.heddle_cross_entropy, labels)

    def reshape(self: Self, *shape: Any) -> Self:
        """reshape(2, 3) or reshape((2, 3))."""
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        return self._apply(lib.heddle_reshape, len(shape), list(shape))

    # --- gradients ---------------------------------------------------------------------------------------------------

    def backward(self) -> None:
        """Computes the gradient of this number with respect to everything it was computed from that needs one.

        It takes the place of what an earlier call gave.
        """
        with self._context.turn():
            check(lib.heddle_backward(self._handle))

    @property
    def grad(self) -> Any:
        """The gradient that backward() computed; None if there is none."""
        values = numpy.empty(self.shape, numpy.float32)
        with self._context.turn():
            status = lib.heddle_tensor_read_gradient(self._handle, ffi.cast('float *', values.ctypes.data))
            if status == lib.HEDDLE_INVALID:
                return None
            check(status)
        return values

    # --- looking at it -----------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(lib.heddle_tensor_dim(self._handle, i) for i in range(lib.heddle_tensor_rank(self._handle)))

    @property
    def op(self) -> str:
        """What computed it, such as "matmul"; "" for a tensor that was given."""
        return text(lib.heddle_tensor_op(self._handle))

    @property
    def parents(self) -> tuple['Tensor', ...]:
        """The tensors that it was computed from."""
        return self._parents

    def numpy(self) -> Array:
        """A copy of the values."""
        values = numpy.empty(self.shape, numpy.float32)
        with self._context.turn():
            status = lib.heddle_tensor_read(self._handle, ffi.cast('float *', values.ctypes.data))
            if status != lib.HEDDLE_OK:
                raise error_of(status)
        return values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        values = self.numpy()
        return values if dtype is None else values.astype(dtype)

    def item(self) -> float:
        """The only element."""
        values = self.numpy()
        if values.size != 1:
            raise Invalid(f'a tensor of shape {values.shape} is not one number')
        return float(values.reshape(-1)[0])

    def __float__(self) -> float:
        return self.item()

    def __getattr__(self, name: str) -> Any:
        """Only for names that are not there."""
        if name.startswith('_'):
            raise AttributeError(name)
        known = ', '.join(each for each in ('sum', 'mean', *_UNARY) if hasattr(type(self), each))
        raise AttributeError(f"a {type(self).__name__} has no '{name}'. It has + - * / ** @, {known} and others "
                             '(docs/python.md)' + (', and heddle.grad.Value has exp and log, one number at a time'
                                                   if name in ('exp', 'log', 'sqrt', 'pow') else ''))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError('a tensor of one number has no length')
        return self.shape[0]

    def _about(self) -> str:
        """For a node of the graph: its value and gradient if it is one number, else its shape."""
        if int(numpy.prod(self.shape)) != 1:
            return ' × '.join(map(str, self.shape))
        try:
            gradient = Tensor.grad.fget(self)  # type: ignore[attr-defined]
            return f'{Tensor.item(self):.4g}' + ('' if gradient is None else f', grad {float(gradient.reshape(-1)[0]):.4g}')
        except Invalid:  # labels
            return '1'

    def graph(self) -> tuple[list['Tensor'], list[tuple[int, int]]]:
        """All tensors that it was computed from, parents before children and itself last; and edges (parent, child)."""
        order: list['Tensor'] = []
        number: dict[int, int] = {}
        stack: list[tuple['Tensor', bool]] = [(self, False)]
        while stack:
            tensor, ready = stack.pop()
            if id(tensor) in number:
                continue
            if ready:
                number[id(tensor)] = len(order)
                order.append(tensor)
            else:
                stack.append((tensor, True))
                stack += [(parent, False) for parent in reversed(tensor._parents)]
        return order, [(number[id(parent)], i) for i, tensor in enumerate(order) for parent in tensor._parents]

    def _nodes(self) -> tuple[list[tuple[str, str]], list[tuple[int, int]]]:
        order, edges = self.graph()
        return [(each.op, each._about()) for each in order], edges

    def dot(self) -> str:
        """The graph in the language of Graphviz."""
        return _draw.dot(*self._nodes())

    def svg(self) -> str:
        """The graph as a drawing, made without Graphviz."""
        return self._repr_svg_()

    def _svg(self) -> tuple[float, float, str]:
        return _draw.graph(*self._nodes())

    def __repr__(self) -> str:
        try:
            values = numpy.array2string(self.numpy(), precision=4, separator=', ', prefix='heddle.Tensor(')
        except Invalid:
            values = f'{self.shape[0]} labels'
        return f'heddle.Tensor({values}{", requires_grad=True" if self.requires_grad else ""})'

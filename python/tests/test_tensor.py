"""Tensors and values: results and gradients against NumPy and finite differences, the graph, errors, memory."""
import threading
import xml.etree.ElementTree

import numpy
import pytest

import heddle
from heddle import Tensor
from heddle.grad import MLP, Value

X = numpy.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], numpy.float32)


@pytest.mark.parametrize('function', [
    lambda x: x + x, lambda x: x * x, lambda x: x - 2 * x, lambda x: 1 - x, lambda x: 3 + x, lambda x: -x, lambda x: x / 4,
    lambda x: x ** 2, lambda x: x ** 3, lambda x: x ** 1, lambda x: x.tanh(), lambda x: x.sigmoid(), lambda x: x.gelu(),
    lambda x: x.softplus(), lambda x: x.swish(), lambda x: x.elu(), lambda x: x.relu(), lambda x: x.softmax() * x,
    lambda x: x.log_softmax() * x, lambda x: x.reshape(3, 2) @ x,
])
def test_gradients_are_those_of_finite_differences(function):
    def loss(values):
        result = function(Tensor(values, True))
        weights = Tensor(numpy.linspace(0.3, 1, int(numpy.prod(result.shape))).reshape(result.shape))
        return (result * weights).sum()

    x = Tensor(X, requires_grad=True)
    result = function(x)
    weights = Tensor(numpy.linspace(0.3, 1, int(numpy.prod(result.shape))).reshape(result.shape))
    (result * weights).sum().backward()
    for index in numpy.ndindex(X.shape):
        step = numpy.zeros_like(X)
        step[index] = 1e-2
        expected = (loss(X + step).item() - loss(X - step).item()) / 2e-2
        assert x.grad[index] == pytest.approx(expected, abs=2e-2)


def test_values_are_those_of_numpy():
    a, b = Tensor(X), Tensor(X.T)
    assert numpy.allclose((a @ b).numpy(), X @ X.T)
    assert numpy.allclose((a - 1).numpy(), X - 1) and numpy.allclose((2 - a).numpy(), 2 - X)
    assert numpy.allclose(a.mean().numpy(), X.mean()) and a.sum().item() == pytest.approx(X.sum())
    assert numpy.allclose(numpy.asarray(a ** 2), X ** 2) and len(a) == 2 and a.shape == (2, 3)
    assert numpy.allclose(Tensor(numpy.asfortranarray(X)).numpy(), X)
    assert a.reshape((3, 2)).shape == a.reshape(3, 2).shape == (3, 2)


def test_a_number_of_numpy_on_the_left_keeps_the_graph():
    w = Tensor([1.0, -2.0], requires_grad=True)
    loss = (numpy.float64(3.0) * w + numpy.float32(1.0) * w - numpy.int64(1)).sum()
    loss.backward()
    assert w.grad.tolist() == [4.0, 4.0]


def test_a_network_of_tensors_learns():
    angles = numpy.pi * numpy.arange(50) / 50
    points = numpy.concatenate([numpy.stack([numpy.cos(angles), numpy.sin(angles)], 1),
                                numpy.stack([1 - numpy.cos(angles), 0.5 - numpy.sin(angles)], 1)])
    context = heddle.Context('cpu', seed=3, threads=1)
    w1, b1 = context.parameter((16, 2), 1.0), context.parameter((16,), 1.0)
    w2, b2 = context.parameter((2, 16), 0.5), context.parameter((2,), 0.5)
    labels = Tensor(numpy.repeat([0, 1], 50), context=context)
    x = Tensor(points, context=context)
    for _ in range(200):
        loss = x.linear(w1, b1).tanh().linear(w2, b2).cross_entropy(labels)
        loss.backward()
        context.step(0.02, 'adamw')
    assert loss.item() < 0.1
    assert w1.grad is None  # a step forgets it
    assert context._live < 1000  # 200 steps made thousands of tensors


def test_convolutions_and_pooling():
    images = Tensor(numpy.ones((2, 1, 6, 6)), True)
    weight, bias = Tensor(numpy.ones((3, 1, 3, 3)), True), Tensor(numpy.zeros(3), True)
    features = images.conv2d(weight, bias, padding=1)
    assert features.shape == (2, 3, 6, 6) and features.numpy()[0, 0, 2, 2] == 9
    pooled = features.batchnorm2d(Tensor(numpy.ones(3)), Tensor(numpy.zeros(3))).maxpool2d(2).avgpool2d(3)
    assert pooled.shape == (2, 3, 1, 1)
    features.sum().backward()
    assert bias.grad.tolist() == [72, 72, 72]
    dropped = Tensor(numpy.ones(1000)).dropout(0.5).numpy()
    assert set(dropped.tolist()) == {0.0, 2.0}


@pytest.mark.parametrize('wrong, error, message', [
    (lambda: Tensor(X) + Tensor(X.T), heddle.Invalid, r'^\+ and - need .* the same shape, not \(2, 3\) and \(3, 2\)$'),
    (lambda: Tensor(X) @ Tensor(X), heddle.Invalid, 'do not fit'),
    (lambda: Tensor(X) + 'a', TypeError, 'unsupported'),
    (lambda: Tensor(X) / Tensor(X), TypeError, 'unsupported'),
    (lambda: Tensor(X) / 0, ZeroDivisionError, 'zero'),
    (lambda: Tensor(X) ** 0.5, heddle.Invalid, 'whole numbers'),
    (lambda: Tensor(X).exp(), AttributeError, "no 'exp'. It has .*relu.*heddle.grad.Value has exp"),
    (lambda: Value(2.0).sin(), AttributeError, "a Value has no 'sin'. It has .*exp, log"),
    (lambda: Value(0.0) ** -1, ZeroDivisionError, '0 '),
    (lambda: 1 / Value(0.0), ZeroDivisionError, '0 '),
    (lambda: Value(-2.0) ** 0.5, heddle.Invalid, 'not a real number'),
    (lambda: Value(0.0) ** 0.5, heddle.Invalid, 'finite'),
    (lambda: Value(-1.0).log(), heddle.Invalid, 'above 0'),
    (lambda: Value(1000.0).exp(), heddle.Invalid, 'finite'),
    (lambda: Value(2.0) ** Value(2.0), TypeError, 'a.log'),
    (lambda: Value(2.0) ** 'a', TypeError, 'unsupported'),
    (lambda: float(Tensor(X)), heddle.Invalid, 'not one number'),
    (lambda: Tensor(X).reshape(4), heddle.Invalid, 'elements'),
    (lambda: Tensor(X, True).backward(), heddle.Invalid, 'one number'),
    (lambda: Tensor(X).item(), heddle.Invalid, 'not one number'),
    (lambda: Tensor(X).cross_entropy(Tensor([0, 1, 2])), heddle.Invalid, 'labels'),
    (lambda: Tensor(X).linear(Tensor(X.T)), heddle.Invalid, 'features'),
    (lambda: Tensor(X) + Tensor(X, context=heddle.Context('cpu')), heddle.Invalid, 'contexts'),
    (lambda: Tensor(['a']), heddle.Invalid, 'numbers'),
    (lambda: Tensor([True]), heddle.Invalid, 'bool'),
    (lambda: Tensor(numpy.zeros((1,) * 6)), heddle.Invalid, 'rank 6'),
    (lambda: Tensor([1, 2]).numpy(), heddle.Invalid, 'i32'),
    (lambda: MLP(3, [2, 1])([1.0, 2.0]), heddle.Invalid, '2 inputs for a neuron of 3'),
    (lambda: Tensor(numpy.array([2 ** 32 + 1])), heddle.Invalid, '32 bits'),
    (lambda: numpy.ones((2, 3)) * Tensor(X), TypeError, 'unsupported'),
    (lambda: heddle.default_context().step(0.1, 'lion'), heddle.Invalid, 'choose from'),
    (lambda: heddle.default_context().step(float('nan')), heddle.Invalid, 'rate'),
])
def test_what_makes_no_sense_is_refused(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()


def test_a_tensor_knows_how_it_was_computed():
    x = Tensor(X, True)
    y = (x.tanh() * 2).sum()
    order, edges = y.graph()
    assert [each.op for each in order] == ['', 'tanh', '', 'multiply', 'sum'] and order[0] is x and order[-1] is y
    assert edges == [(0, 1), (1, 3), (2, 3), (3, 4)] and y.parents[0].parents[0].op == 'tanh'
    assert y.dot().count('->') == 4 and 'tanh\\n2 × 3' in y.dot()
    drawing = xml.etree.ElementTree.fromstring(y.svg())
    texts = [each.text for each in drawing.iter('{http://www.w3.org/2000/svg}text')]
    assert 'tanh' in texts and '2 × 3' in texts


def test_micrograds_neuron():
    x1, x2, w1, w2, b = (Value(v) for v in (2.0, 0.0, -3.0, 1.0, 6.8813735870195432))
    o = (x1 * w1 + x2 * w2 + b).tanh()
    o.backward()
    assert o.data == pytest.approx(0.7071, abs=1e-4)
    assert [v.grad for v in (x1, w1, x2, w2)] == pytest.approx([-1.5, 1.0, 0.5, 0.0], abs=1e-4)
    assert isinstance(o, Value) and 'grad 1' in repr(o)
    with pytest.raises(heddle.Invalid, match='computed'):
        o.data = 1


def test_the_example_of_micrograds_readme():
    a, b = Value(-4.0), Value(2.0)
    c = a + b
    d = a * b + b**3
    c += c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d += 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g += 10.0 / f
    g.backward()
    assert g.data == pytest.approx(24.7041, abs=1e-4)
    assert (a.grad, b.grad) == (pytest.approx(138.8338, abs=2e-4), pytest.approx(645.5773, abs=1e-3))


@pytest.mark.parametrize('function', [
    lambda x: 10.0 / x, lambda x: 1 / (x * x), lambda x: x / (x + 3), lambda x: x ** -1, lambda x: x ** 0.5, lambda x: x ** 2.5,
    lambda x: x ** -3, lambda x: x ** 0, lambda x: x.exp(), lambda x: x.log(), lambda x: (x * x).log().exp(), lambda x: x.relu(),
    lambda x: x.tanh(), lambda x: 2 ** x, lambda x: (x ** 1.5 / x.exp()).tanh(), lambda x: numpy.float64(2) / x,
])
@pytest.mark.parametrize('at', [0.7, 2.0])
def test_values_have_the_gradients_of_finite_differences(function, at):
    x, step = Value(at), 1e-2
    y = function(x)
    y.backward()
    assert x.grad == pytest.approx((function(Value(at + step)).data - function(Value(at - step)).data) / (2 * step),
                                   rel=5e-3, abs=1e-3)
    assert float(y) == y.data and isinstance(y, Value)


def test_an_operation_of_values_is_one_node_of_the_graph():
    x = Value(3.0, 'x')
    y = 1 / x
    order, _ = y.graph()
    assert [each.op for each in order] == ['', '** -1', '', 'multiply'] and order[0] is x
    assert 'exp' in x.exp().dot() and x.exp().parents == (x,)
    assert x.exp().data == numpy.float32(numpy.exp(3.0)) and (x ** 2).data == 9.0


def test_a_perceptron_of_values_learns():
    data = [([2.0, 3.0, -1.0], 1.0), ([3.0, -1.0, 0.5], -1.0), ([0.5, 1.0, 1.0], -1.0), ([1.0, 1.0, -1.0], 1.0)]
    network = MLP(3, [4, 1], seed=2)
    assert len(network.parameters()) == 21
    for _ in range(20):
        loss = sum((network(inputs) - wanted) ** 2 for inputs, wanted in data)
        loss.backward()
        for value in network.parameters():
            value.data -= 0.05 * value.grad
    assert loss.data < 0.5
    assert heddle.default_context()._live < 5000


def test_tensors_of_one_context_in_several_threads():
    context, wrong = heddle.Context('cpu', threads=1), []

    def work(factor):
        for _ in range(100):
            x = Tensor([factor], True, context=context)
            y = (x * x * 3).sum()
            if y.item() != pytest.approx(3 * factor ** 2):
                wrong.append(factor)

    threads = [threading.Thread(target=work, args=(float(i + 1),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong

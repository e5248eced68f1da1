"""heddle_torch's functions call their kernels without the dispatcher where they may: they must not be told apart from
the operators."""
import os
import signal

import pytest
import torch
from cases import CASES, INFERENCE, block, block_arguments, horner
from test_operators import assert_near, trained, wide
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import heddle_torch

ops = torch.ops.heddle
NAMES = ["polynomial", "softmax_cross_entropy", "layernorm", "matmul", "conv_bn_relu_pool"]


def function_of(case):
    return getattr(heddle_torch, case.operator._qualified_op_name.split("::")[1])


def one_of_each():
    """The first case of every operator."""
    return [next(case for case in CASES if case.operator is getattr(ops, name)) for name in NAMES]


def calls(case, device, gradient=True):
    """The case's function, its operator, and arguments for each: equal, but their own."""
    function = function_of(case)
    first = case.make(device)
    if case.operator is ops.matmul:
        first = first[:3]  # the function has no transposed operands
    second = [one.clone() if isinstance(one, torch.Tensor) else one for one in first]
    for one in trained(first) + trained(second) if gradient else ():
        one.requires_grad_()
    return (function, first), (case.operator, second)


@pytest.mark.parametrize("case", [one for one in CASES if "transposed" not in one.name], ids=str)
def test_a_function_gives_what_its_operator_gives(case, device):
    results = []
    for call, arguments in calls(case, device):
        result = call(*arguments)
        torch.manual_seed(2)
        gradients = torch.autograd.grad(result, trained(arguments), torch.randn_like(result))
        results.append([result, *gradients, *[one for one in arguments if isinstance(one, torch.Tensor)]])
    for one, other in zip(*results):
        assert torch.equal(one, other)


@pytest.mark.parametrize("case", one_of_each() + INFERENCE, ids=str)
def test_no_grad_leaves_no_graph(case, device):
    for guard in (torch.no_grad, torch.inference_mode):
        (function, own), (operator, other) = calls(case, device)
        with guard():
            result, expected = function(*own), operator(*other)
        assert not result.requires_grad and torch.equal(result, expected)
        for one, another in zip(own, other):  # training updates running statistics here too
            assert not isinstance(one, torch.Tensor) or torch.equal(one, another)


def test_evaluation_with_a_gradient_is_an_error(device):
    arguments = block_arguments(2, 8, 6, 6, 4, training=False)(device)
    for one in range(5):
        chosen = [value.requires_grad_() if number == one else value
                  for number, value in enumerate(block_arguments(2, 8, 6, 6, 4, training=False)(device))]
        with pytest.raises(RuntimeError, match="evaluation has no gradient"):
            heddle_torch.conv_bn_relu_pool(*chosen)
    assert heddle_torch.conv_bn_relu_pool(*arguments).shape == (2, 4, 3, 3)


@pytest.mark.parametrize("name", NAMES)
def test_a_function_has_its_operator_s_second_derivative(name, device):
    case = next(one for one in one_of_each() if one.operator is getattr(ops, name))
    (function, own), _ = calls(case, device)
    first = torch.autograd.grad(function(*own).sum(), trained(own)[0], create_graph=True)[0]
    with pytest.raises(RuntimeError, match="once_differentiable|does not require grad"):
        first.sum().backward()


# --- what has to see the operators -----------------------------------------------------------------------------------

@pytest.mark.parametrize("case", one_of_each(), ids=str)
def test_autocast_casts_the_function_s_inputs(case, device):
    (function, own), _ = calls(case, device, gradient=False)
    own = [one.bfloat16() if isinstance(one, torch.Tensor) and one.is_floating_point() else one for one in own]
    if case.operator is ops.conv_bn_relu_pool:
        own[5:7] = [one.float() for one in own[5:7]]
    with torch.autocast(device, torch.bfloat16):
        assert function(*own).dtype == torch.float32


@pytest.mark.parametrize("case", one_of_each(), ids=str)
def test_modes_see_the_operator(case, device):
    seen = []

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function, types, arguments=(), named=None):
            seen.append(function)
            return function(*arguments, **(named or {}))

    class Dispatches(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), named=None):
            seen.append(function)
            return function(*arguments, **(named or {}))
    (function, own), _ = calls(case, device)
    with Functions():
        function(*own)
    assert case.operator in seen
    seen.clear()
    with Dispatches():
        function(*own)
    assert any(str(one).startswith("heddle.") for one in seen) and ops.conv_block_train.default not in seen


@pytest.mark.parametrize("case", one_of_each(), ids=str)
def test_subclasses_see_the_operator(case, device):
    seen = []

    class Own(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, arguments=(), named=None):
            seen.append(function)
            return super().__torch_function__(function, types, arguments, named)
    (function, own), _ = calls(case, device, gradient=False)
    function(own[0].as_subclass(Own), *own[1:])
    assert case.operator in seen
    assert function(own[0], *own[1:]) is not None


def test_parameters_are_plain_tensors(device):
    layer = torch.nn.LayerNorm(6, device=device)
    x = torch.randn(3, 6, device=device)
    result = heddle_torch.layernorm(x, layer.weight, layer.bias)
    assert type(result) is torch.Tensor and heddle_torch.operators._is_plain(x, layer.weight, layer.bias)
    result.sum().backward()
    assert_near(layer.bias.grad, torch.full((6,), 3.0, dtype=torch.float64, device=device), 1e-6, "the bias's gradient")


def test_transforms_get_the_operator_s_answer(device):
    def outcome(call):
        try:
            return torch.func.grad(lambda x: call(x).sum())(torch.ones(4, device=device)).tolist()
        except RuntimeError as problem:
            return str(problem)
    assert outcome(heddle_torch.polynomial) == outcome(ops.polynomial)


@pytest.mark.parametrize("case", one_of_each(), ids=str)
def test_functions_are_compiled_in_one_graph(case, device):
    (function, own), (operator, other) = calls(case, device)
    compiled = torch.compile(lambda *given: function(*given) * 2, fullgraph=True, backend="aot_eager")
    got, expected = compiled(*own), operator(*other) * 2
    assert_near(got, wide(expected), case.tolerance, "the result")
    for one, another in zip(torch.autograd.grad(got.sum(), trained(own)),
                            torch.autograd.grad(expected.sum(), trained(other))):
        assert_near(one, wide(another), case.tolerance, "a gradient")


# --- what a thread keeps ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("channels", [1, 3, 8])
@pytest.mark.parametrize("channels_last", [False, True], ids=["contiguous", "channels last"])
def test_an_input_without_a_gradient_leaves_the_others_as_they_are(channels, channels_last, device):
    own = block_arguments(3, channels, 6, 8, 5, channels_last=channels_last)(device)
    exact = [wide(one) for one in own]
    for one in own[1:5] + exact[1:5]:
        one.requires_grad_()
    result, expected = heddle_torch.conv_bn_relu_pool(*own), block(*exact)
    assert_near(result, expected, 2e-5, "the result")
    above = torch.randn_like(expected)
    for one, other in zip(torch.autograd.grad(result, own[1:5], above.float()),
                          torch.autograd.grad(expected, exact[1:5], above)):
        assert_near(one, other, 1e-4, "a gradient")


def test_many_shapes_in_turn_keep_their_own_results(device):
    inputs = [torch.randn(n, device=device) for n in range(1, 200)]
    for coefficients in ([1.0, 2.0], [0.5, 0.25, 3.0]):
        for x in inputs + inputs[::-1]:
            assert_near(heddle_torch.polynomial(x, coefficients), horner(x.double(), coefficients), 1e-6, "the value")


def test_a_forked_child_has_threads_of_its_own():
    x = torch.randn(1 << 20)
    expected = heddle_torch.polynomial(x).numpy().tobytes()
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # a child that waits for its parent's threads would wait for ever; so would PyTorch's own
        os._exit(0 if heddle_torch.polynomial(x).numpy().tobytes() == expected else 1)
    assert os.waitpid(child, 0)[1] == 0

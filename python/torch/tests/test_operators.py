"""torch.ops.heddle against PyTorch's own operators in float64, and against PyTorch's rules for operators."""
import os
import re

import pytest
import torch
from cases import CASES, INFERENCE, block_arguments, cross_entropy

import heddle_torch

ops = torch.ops.heddle


def wide(value):
    """A copy in float64, where the value is a float tensor."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone().double() if value.is_floating_point() else value.clone()


def assert_near(got, expected, tolerance, what):
    assert got.shape == expected.shape, what
    if expected.numel() == 0:
        return
    assert not got.isnan().any(), what
    error = (got.double() - expected).abs().max().item()
    assert error <= tolerance * max(expected.abs().max().item(), 1e-3), "%s is off by %g" % (what, error)


def trained(arguments):
    """Those with a gradient: all float tensors but a block's running statistics, which come last."""
    tensors = [one for one in arguments if isinstance(one, torch.Tensor) and one.is_floating_point()]
    return tensors[:-2] if len(tensors) >= 6 else tensors


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_gradients_are_those_of_float64(case, device):
    own = case.make(device)
    exact = [wide(one) for one in own]
    for one in trained(own) + trained(exact):
        one.requires_grad_()
    got, expected = case.operator(*own), case.reference(*exact)
    assert_near(got, expected, case.tolerance, "the result")
    above = torch.randn_like(expected)
    gradients = torch.autograd.grad(got, trained(own), above.float(), allow_unused=True)
    wanted = torch.autograd.grad(expected, trained(exact), above)
    for number, (one, other) in enumerate(zip(gradients, wanted)):
        assert_near(one, other, 5 * case.tolerance, "gradient %d" % number)
    for one, other in zip(own, exact):  # running statistics
        if isinstance(one, torch.Tensor) and one.is_floating_point():
            assert_near(one, other, case.tolerance, "an argument behind the call")


@pytest.mark.parametrize("case", INFERENCE, ids=str)
def test_a_network_in_use_gives_the_values_of_float64(case, device):
    own = case.make(device)
    assert_near(case.operator(*own), case.reference(*[wide(one) for one in own]), case.tolerance, "the result")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_operators_keep_pytorch_s_rules(case, device):
    own = case.make(device)
    for one in trained(own):
        one.requires_grad_()
    # Whether a gradient is saved in place of a second pass depends on requires_grad; shapes are the cases' own.
    torch.library.opcheck(case.operator.default, tuple(own), test_utils=(
        "test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"))


@pytest.mark.parametrize("name", ["polynomial_backward", "token_loss", "token_loss_backward", "token_loss_both",
                                  "scale_", "loss_and_gradient", "layernorm_forward", "layernorm_backward",
                                  "conv_block_forward", "conv_block_train", "conv_block_backward",
                                  "conv_block_inference"])
def test_the_parts_keep_them_too(name, device):
    x, target = torch.randn(6, 9, device=device), torch.randint(0, 9, (6,), device=device)
    image, weight, bias, gamma, beta, mean, var, _ = block_arguments(2, 5, 6, 6, 4)(device)
    norm = [torch.randn(9, device=device) for _ in range(2)]
    forward = ops.conv_block_forward(image, weight, bias, gamma, beta, mean, var, 0.1, 1e-5, False, False)
    arguments = {
        "polynomial_backward": (x, x + 1, [1.0, 2.0, 3.0]),
        "token_loss": (x, target, -100),
        "token_loss_backward": (x[:, 0].contiguous(), x, target, x.logsumexp(1), -100),
        "token_loss_both": (x, target, torch.ones((), device=device), -100),
        "scale_": (x.clone(), torch.full((), 0.5, device=device)),
        "loss_and_gradient": (x, target, -100, True),
        "layernorm_forward": (x, *norm, 1e-5),
        "layernorm_backward": (x + 1, x, norm[0], *ops.layernorm_forward(x, *norm, 1e-5)[1:], 1e-5),
        "conv_block_forward": (image, weight, bias, gamma, beta, mean, var, 0.1, 1e-5, False, False),
        "conv_block_train": (image, weight, bias, gamma, beta, mean, var, 0.1, 1e-5, False, False),
        "conv_block_backward": (torch.randn_like(forward[0]), image, weight, gamma, beta, forward[1], 1e-5, False, False),
        "conv_block_inference": (image, weight, bias, gamma, beta, mean, var, 1e-5, False),
    }[name]
    torch.library.opcheck(getattr(ops, name).default, arguments)


def test_gradients_agree_with_differences(device):
    """gradcheck with a step and a tolerance for float32: the operators have no float64."""
    def check(function, *inputs):
        inputs = [one.to(device).requires_grad_() for one in inputs]
        assert torch.autograd.gradcheck(function, inputs, eps=1e-2, atol=2e-2, rtol=2e-2, nondet_tol=1e-5)
    target = torch.randint(0, 6, (4,), device=device)
    check(lambda x: ops.polynomial(x, [1.0, 2.0, 0.5]), torch.randn(9))
    check(lambda x: ops.softmax_cross_entropy(x, target), torch.randn(4, 6))
    check(lambda x: ops.softmax_cross_entropy(x, target, -100, "none"), torch.randn(4, 6))
    check(lambda x, w, b: ops.layernorm(x, w, b), torch.randn(3, 8), torch.randn(8), torch.randn(8))
    check(lambda a, b: ops.matmul(a, b), torch.randn(3, 4), torch.randn(4, 2))


def test_a_second_derivative_is_an_error(device):
    x = torch.randn(5, device=device, requires_grad=True)
    first, = torch.autograd.grad(ops.polynomial(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable|does not require grad"):
        first.sum().backward()


# --- the loss ---------------------------------------------------------------------------------------------------------

def test_a_loss_can_be_differentiated_twice_when_its_graph_is_kept(device):
    logits, target = torch.randn(5, 9, device=device, requires_grad=True), torch.arange(5, device=device)
    loss = ops.softmax_cross_entropy(logits, target) * 3
    first, = torch.autograd.grad(loss, logits, retain_graph=True)
    kept = first.clone()
    second, = torch.autograd.grad(loss, logits, retain_graph=True)
    last, = torch.autograd.grad(loss, logits)
    assert torch.equal(first, kept) and torch.equal(second, kept) and torch.allclose(last, kept)


def test_all_rows_ignored_is_nan_as_in_pytorch(device):
    logits, target = torch.randn(3, 4, device=device), torch.full((3,), -100, device=device)
    assert ops.softmax_cross_entropy(logits, target).isnan()
    assert ops.softmax_cross_entropy(logits, target, -100, "sum") == 0


def test_far_logits_stay_finite(device):
    logits = torch.tensor([[1e4, -1e4, 0.0], [-1e30, 3.0, 1.0]], device=device, requires_grad=True)
    loss = ops.softmax_cross_entropy(logits, torch.tensor([0, 2], device=device), -100, "sum")
    loss.backward()
    expected = cross_entropy(logits.double(), torch.tensor([0, 2], device=device), -100, "sum")
    assert_near(loss, expected, 1e-5, "the loss")
    assert logits.grad.isfinite().all()


def test_a_label_that_is_no_class_is_told():
    with pytest.raises(RuntimeError, match="row 1 has label 7"):
        ops.softmax_cross_entropy(torch.randn(2, 5), torch.tensor([0, 7]))


# --- rungs ------------------------------------------------------------------------------------------------------------

def test_every_rung_of_matmul_multiplies(device):
    names = heddle_torch.rungs("matmul", device)
    assert "cpu_naive" in names if device == "cpu" else "01_naive" in names
    a, b = torch.randn(64, 128, device=device), torch.randn(128, 96, device=device)
    ran = 0
    for name in names:
        try:
            got = ops.matmul(a, b, name)
        except RuntimeError as problem:  # a rung for other cards, shapes or libraries says so
            assert name in str(problem) or "module" in str(problem) or "not found" in str(problem), problem
            continue
        ran += 1
        assert_near(got, a.double() @ b.double(), 2e-2 if "tf32" in name and "x3" not in name else 1e-4, name)
    assert ran >= 2


def test_bf16_matrices_have_rungs_of_their_own(device):
    a, b = (torch.randn(32, 32, device=device).bfloat16() for _ in range(2))
    got = ops.matmul(a, b)
    assert got.dtype == torch.bfloat16
    assert_near(got.float(), a.double() @ b.double(), 2e-2, "the product")
    assert "cpu_naive" in heddle_torch.rungs("matmul_bf16", "cpu")


def test_gradients_of_a_named_rung(device):
    a, b = (torch.randn(16, 16, device=device, requires_grad=True) for _ in range(2))
    ops.matmul(a, b, heddle_torch.rungs("matmul", device)[0]).sum().backward()
    assert_near(a.grad, b.double().sum(1).expand(16, 16), 1e-4, "the gradient")


# --- what is refused --------------------------------------------------------------------------------------------------

REFUSED = [
    ("float64", lambda: ops.polynomial(torch.randn(3).double()), "x must be Float, not Double"),
    ("nine coefficients", lambda: ops.polynomial(torch.randn(3), [1.0] * 9), "9 coefficients; there are 1 to 8"),
    ("no coefficients", lambda: ops.polynomial(torch.randn(3), []), "0 coefficients"),
    ("int target", lambda: ops.softmax_cross_entropy(torch.randn(2, 3), torch.zeros(2, dtype=torch.int32)),
     "target must be Long, not Int"),
    ("target's shape", lambda: ops.softmax_cross_entropy(torch.randn(2, 3), torch.zeros(3, dtype=torch.long)),
     r"logits \(..., classes\) need a target \(...\): they are \(2, 3\) and \(3,\)"),
    ("reduction", lambda: ops.softmax_cross_entropy(torch.randn(2, 3), torch.zeros(2, dtype=torch.long), -100, "avg"),
     "reduction is 'avg'"),
    ("layernorm's weight", lambda: ops.layernorm(torch.randn(2, 3), torch.randn(4), torch.randn(4)),
     "weight must have the shape"),
    ("matmul's vectors", lambda: ops.matmul(torch.randn(3), torch.randn(3)), "must be matrices"),
    ("matmul's sizes", lambda: ops.matmul(torch.randn(3, 4), torch.randn(5, 6)), "a has 4 columns and b 5 rows"),
    ("matmul's types", lambda: ops.matmul(torch.randn(3, 4), torch.randn(4, 6).bfloat16()), "b must be Float"),
    ("rung", lambda: ops.matmul(torch.randn(3, 4), torch.randn(4, 6), "cpu_naiv"), "did you mean|Did you mean"),
    ("rung's device", lambda: ops.matmul(torch.randn(3, 4), torch.randn(4, 6), "01_naive"), "runs on cuda"),
    ("operator", lambda: heddle_torch.rungs("matmull", "cpu"), "no operator is called"),
    ("block's weight", lambda: ops.conv_bn_relu_pool(torch.randn(1, 2, 4, 4), torch.randn(3, 2, 5, 5), None,
                                                     *[torch.ones(3)] * 4), r"weight \(k, c, 3, 3\)"),
    ("block's channels", lambda: ops.conv_bn_relu_pool(torch.randn(1, 2, 4, 4), torch.randn(3, 2, 3, 3), None,
                                                       *[torch.ones(4)] * 4), "gamma must have 3 numbers"),
    ("block's image", lambda: ops.conv_bn_relu_pool(torch.randn(1, 2, 1, 4), torch.randn(3, 2, 3, 3), None,
                                                    *[torch.ones(3)] * 4), "cannot be pooled"),
]


@pytest.mark.parametrize("call, message", [one[1:] for one in REFUSED], ids=[one[0] for one in REFUSED])
def test_bad_input_is_one_clear_line(call, message):
    with pytest.raises(RuntimeError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value).split("\nException raised from")[0].strip()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_tensors_of_two_devices_are_refused():
    with pytest.raises(RuntimeError, match="another device|same device"):
        ops.matmul(torch.randn(3, 4), torch.randn(4, 6, device="cuda"))


def test_the_functions_are_the_operators():
    x, target = torch.randn(4, 5), torch.tensor([0, 1, 2, 3])
    assert torch.equal(heddle_torch.polynomial(x, (1, 2, 3)), ops.polynomial(x, [1.0, 2.0, 3.0]))
    assert torch.equal(heddle_torch.softmax_cross_entropy(x, target), ops.softmax_cross_entropy(x, target))
    assert torch.equal(heddle_torch.matmul(x, x.t(), "cpu_naive"), ops.matmul(x, x.t(), "cpu_naive"))
    assert_near(heddle_torch.layernorm(x, torch.ones(5), torch.zeros(5)), torch.nn.functional.layer_norm(
        x.double(), (5,)), 1e-5, "layernorm")


def test_the_documentation_has_the_schemas():
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "..", "..", "..", "docs", "pytorch.md"), encoding="utf-8") as file:
        written = re.findall(r"^    (\w+)(\(.*?-> Tensor)$", file.read(), re.MULTILINE | re.DOTALL)
    assert [name for name, _ in written] == ["polynomial", "softmax_cross_entropy", "layernorm", "matmul",
                                             "conv_bn_relu_pool"]
    for name, rest in written:
        given = torch._C.parse_schema("heddle::" + name + " ".join(rest.split()))
        assert str(given) == str(getattr(ops, name).default._schema)

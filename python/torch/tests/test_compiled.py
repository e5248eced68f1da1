"""The operators under torch.compile, autocast, several threads and CUDA graphs."""
import threading

import pytest
import torch
from cases import CASES
from test_operators import assert_near, trained, wide

ops = torch.ops.heddle


@pytest.mark.parametrize("case", [one for one in CASES if "nothing" not in one.name], ids=str)
def test_compiling_keeps_an_operator_in_one_graph(case, device):
    own = case.make(device)
    exact = [wide(one) for one in own]
    for one in trained(own) + trained(exact):
        one.requires_grad_()
    compiled = torch.compile(lambda *given: case.operator(*given) * 2, fullgraph=True, backend="aot_eager")
    got, expected = compiled(*own), case.reference(*exact) * 2
    assert_near(got, expected, case.tolerance, "the result")
    wanted = torch.autograd.grad(expected.sum(), trained(exact))
    for one, other in zip(torch.autograd.grad(got.sum(), trained(own)), wanted):
        assert_near(one, other, 10 * case.tolerance, "a gradient")


def test_a_whole_network_is_one_graph(device):
    def network(x, weight, gamma, beta, mean, var, head, target):
        x = ops.conv_bn_relu_pool(x, weight, None, gamma, beta, mean, var, True)
        x = ops.polynomial(ops.layernorm(x.flatten(1), head[0], head[1]), [0.0, 1.0, 0.1])
        return ops.softmax_cross_entropy(ops.matmul(x, head[2]), target)
    x = torch.randn(4, 3, 8, 8, device=device)
    weight = torch.randn(6, 3, 3, 3, device=device, requires_grad=True)
    gamma, beta, mean, var = (one.to(device) for one in (torch.ones(6), torch.zeros(6), torch.zeros(6), torch.ones(6)))
    head = [torch.ones(96, device=device), torch.zeros(96, device=device), torch.randn(96, 10, device=device)]
    arguments = (x, weight, gamma, beta, mean, var, head, torch.arange(4, device=device))
    assert torch._dynamo.explain(network)(*arguments).graph_break_count == 0
    loss = torch.compile(network, fullgraph=True, backend="aot_eager")(*arguments)
    gradient, = torch.autograd.grad(loss, weight)
    mean.zero_(), var.fill_(1)
    eager = network(*arguments)
    assert torch.allclose(loss, eager, rtol=1e-5)
    assert torch.allclose(gradient, torch.autograd.grad(eager, weight)[0], rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_autocast_computes_in_float32(dtype, device):
    x = torch.randn(4, 8, device=device)
    weight = torch.randn(8, 5, device=device, requires_grad=True)
    with torch.autocast(device, dtype):
        hidden = x @ weight
        assert hidden.dtype == dtype
        assert ops.polynomial(hidden, [1.0, 1.0]).dtype == torch.float32
        assert ops.layernorm(hidden, torch.ones(5, device=device), torch.zeros(5, device=device)).dtype == torch.float32
        assert ops.matmul(hidden, hidden.t().contiguous()).dtype == torch.float32
        loss = ops.softmax_cross_entropy(hidden, torch.arange(4, device=device))
        image = torch.randn(2, 3, 6, 6, device=device, dtype=dtype)
        ones = torch.ones(4, device=device)
        block = ops.conv_bn_relu_pool(image, torch.randn(4, 3, 3, 3, device=device, dtype=dtype), None, ones, ones,
                                      ones.clone(), ones.clone(), False)
        assert block.dtype == torch.float32
    assert loss.dtype == torch.float32
    loss.backward()
    assert weight.grad.dtype == torch.float32 and weight.grad.isfinite().all()


def test_several_threads_at_once(device):
    x = torch.randn(1000, device=device)
    expected, wrong = ops.polynomial(x), []

    def work():
        for _ in range(50):
            if not torch.equal(ops.polynomial(x), expected):
                wrong.append(True)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong


def test_a_failure_is_told_to_the_thread_that_asked():
    told = {}

    def work(name, label):
        try:
            ops.softmax_cross_entropy(torch.randn(8, 50257), torch.full((8,), label))
            told[name] = "fine"
        except RuntimeError as problem:
            told[name] = str(problem)
    for turn in range(10):
        threads = [threading.Thread(target=work, args=(name, label)) for name, label in (("good", 1), ("bad", 60000))]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert told["good"] == "fine" and "label 60000" in told["bad"]


# --- on a GPU ---------------------------------------------------------------------------------------------------------

gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@gpu
def test_work_is_on_the_current_stream():
    x = torch.zeros(1 << 24, device="cuda")
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(100_000_000)
        x.add_(2)
        y = ops.polynomial(x, [0.0, 1.0, 1.0])  # behind the sleep: it would read zeros on another stream
    side.synchronize()
    assert (y == 6).all()


@gpu
def test_operators_are_captured_in_a_cuda_graph():
    logits, target = torch.randn(64, 1000, device="cuda", requires_grad=True), torch.arange(64, device="cuda")
    weight, bias = torch.ones(1000, device="cuda"), torch.zeros(1000, device="cuda")
    image, kernel = torch.randn(8, 8, 16, 16, device="cuda"), torch.randn(8, 8, 3, 3, device="cuda", requires_grad=True)
    ones = [torch.ones(8, device="cuda") for _ in range(4)]

    def step():
        loss = ops.softmax_cross_entropy(ops.polynomial(ops.layernorm(logits, weight, bias)), target)
        block = ops.conv_bn_relu_pool(image, kernel, None, *ones, True)
        product = ops.matmul(block.flatten(1), block.flatten(1).t().contiguous())
        return (loss, *torch.autograd.grad(loss + product.sum(), (logits, kernel)))
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step()
    with torch.no_grad():
        logits.normal_()
    graph.replay()
    expected = step()
    for one, other in zip(captured, expected):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-6)

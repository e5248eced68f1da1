#!/usr/bin/env python3
"""Writes tests/ops/pytorch_values.safetensors: what PyTorch computes for heddle's operators.

Inputs are float32 numbers; PyTorch computes in float64 from them, so that heddle's float64 references can be held to
many digits and its rungs to their own. The tests read the file; PyTorch itself is needed only to make it anew:

    python3 peers/pytorch_values.py [FILE]

A case is "OPERATOR | SHAPE" in the metadata and tensors named NUMBER.OPERAND (inputs), NUMBER.before.OPERAND (updated
operands as they start), NUMBER.expect.OPERAND (results; grad_X are results of the gradient operators). A case that ends
in "| continues" starts from the updated operands that the case before it left.
"""

import datetime
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import save_file

tensors = {}
cases = []


def single(value):
    """The nearest float32, as a Python number."""
    return float(np.float32(value))


def store(name, value):
    array = value.detach().numpy() if torch.is_tensor(value) else np.asarray(value)
    tensors[name] = np.array(array, order="C")  # a copy: optimisers go on writing into theirs


def case(op, shape, inputs=None, before=None, expect=None, continues=False):
    number = f"{len(cases):03d}"
    text = shape if isinstance(shape, str) else " ".join(f"{key}={value}" for key, value in shape.items())
    cases.append(f"{op} | {text}" + (" | continues" if continues else ""))
    for name, value in (inputs or {}).items():
        integer = torch.is_tensor(value) and not value.is_floating_point()
        exact = torch.is_tensor(value) and value.is_floating_point()
        store(f"{number}.{name}", value.to(torch.int32) if integer else value.to(torch.float32) if exact else value)
    for name, value in (before or {}).items():
        store(f"{number}.before.{name}", value.to(torch.float32))
    for name, value in (expect or {}).items():
        store(f"{number}.expect.{name}", value.to(torch.float64) if torch.is_tensor(value) else value)


def draw(*dims, spread=1.0):
    """Random float32 numbers in float64, ready to be differentiated."""
    return (torch.randn(*dims) * spread).double().requires_grad_(True)


def differentiate(op, shape, function, inputs, others=None, expect=None, outputs=("output",), before=None):
    """A case with the gradients of every input: function(**inputs) gives the outputs in order."""
    results = function(**inputs)
    results = results if isinstance(results, tuple) else (results,)
    grads = [torch.randn(result.shape).double() for result in results]
    torch.autograd.backward(results, grads)
    given = dict(inputs, **(others or {}))
    given.update({f"grad_{name}": grad.reshape(-1) if grad.dim() == 0 else grad for name, grad in zip(outputs, grads)})
    expected = {name: result.reshape(-1) if result.dim() == 0 else result for name, result in zip(outputs, results)}
    expected.update({f"grad_{name}": tensor.grad for name, tensor in inputs.items()})
    expected.update(expect or {})
    case(op, shape, given, before, expected)


def matmul():
    for m, n, k, ta, tb, alpha in [(3, 4, 5, 0, 0, 1), (7, 1, 3, 1, 0, -0.5), (2, 5, 9, 0, 1, 2), (5, 6, 4, 1, 1, 1)]:
        a, b = draw(*((k, m) if ta else (m, k))), draw(*((n, k) if tb else (k, n)))
        differentiate("matmul_forward", dict(m=m, n=n, k=k, transpose_a=ta, transpose_b=tb, alpha=alpha),
                      lambda a, b: alpha * ((a.T if ta else a) @ (b.T if tb else b)), dict(a=a, b=b),
                      before=dict(output=torch.zeros(m, n)))
    a, b, c = draw(4, 6), draw(6, 3), draw(4, 3)
    case("matmul_forward", "m=4 n=3 k=6 alpha=0.5 beta=-2", dict(a=a, b=b), dict(output=c),
         dict(output=torch.addmm(c, a, b, beta=-2, alpha=0.5)))


def linear():
    for n, i, o in [(1, 3, 2), (5, 17, 11)]:
        differentiate("linear_forward", dict(n=n, **{"in": i, "out": o}),
                      lambda input, weight, bias: F.linear(input, weight, bias),
                      dict(input=draw(n, i), weight=draw(o, i), bias=draw(o)))
    differentiate("linear_forward", "n=4 in=6 out=3", lambda input, weight: F.linear(input, weight),
                  dict(input=draw(4, 6), weight=draw(3, 6)))


def conv2d():
    for n, c, h, w, k, r, s, stride, padding, dilation, bias in [
            (2, 3, 6, 5, 4, 3, 3, 1, 1, 1, True), (1, 2, 7, 7, 3, 3, 3, 2, 1, 1, True),
            (1, 2, 9, 8, 2, 3, 3, 1, 2, 2, False), (2, 1, 8, 9, 3, 5, 3, 3, 2, 1, True),
            (2, 4, 4, 4, 3, 1, 1, 1, 0, 1, True), (1, 1, 7, 7, 2, 3, 2, 2, 3, 3, False),
            (1, 16, 5, 6, 8, 3, 3, 1, 1, 1, True)]:
        inputs = dict(input=draw(n, c, h, w), weight=draw(k, c, r, s))
        if bias:
            inputs["bias"] = draw(k)
        differentiate("conv2d_forward",
                      dict(n=n, c=c, h=h, w=w, k=k, r=r, s=s, stride=stride, padding=padding, dilation=dilation),
                      lambda input, weight, bias=None: F.conv2d(input, weight, bias, stride, padding, dilation), inputs)


def batchnorm2d():
    for n, c, h, w, epsilon, momentum in [(3, 4, 3, 5, 1e-5, 0.1), (2, 2, 1, 1, 1e-3, 0.3), (1, 3, 4, 4, 1e-5, 0.1)]:
        epsilon, momentum = single(epsilon), single(momentum)
        shape = dict(n=n, c=c, h=h, w=w, epsilon=repr(epsilon), momentum=repr(momentum))
        x, gamma, beta = draw(n, c, h, w, spread=2), draw(c), draw(c)
        mean, variance = torch.randn(c), torch.rand(c) + 0.5
        new_mean, new_variance = mean.double(), variance.double()
        kept = torch.native_batch_norm(x.detach(), None, None, None, None, True, momentum, epsilon)
        differentiate("batchnorm2d_forward", shape,
                      lambda input, gamma, beta: F.batch_norm(input, new_mean, new_variance, gamma, beta, True,
                                                              momentum, epsilon),
                      dict(input=x, gamma=gamma, beta=beta), before=dict(running_mean=mean, running_var=variance),
                      expect=dict(running_mean=new_mean, running_var=new_variance, mean=kept[1], inverse_std=kept[2]))
        case("batchnorm2d_inference", shape,
             dict(input=x, gamma=gamma, beta=beta, running_mean=mean.double(), running_var=variance.double()),
             expect=dict(output=F.batch_norm(x, mean.double(), variance.double(), gamma, beta, False, momentum,
                                             epsilon)))


def activations():
    functions = dict(relu=F.relu, tanh=torch.tanh, sigmoid=torch.sigmoid, elu=F.elu, gelu=F.gelu, softplus=F.softplus,
                     swish=F.silu)
    ends = torch.tensor([-30.0, -12.5, -6.0, -3.0, -1e-3, -1e-6, 1e-6, 1e-3, 3.0, 6.0, 12.5, 30.0])
    for name, function in functions.items():
        x = torch.cat([ends, torch.randn(25) * 2]).double().requires_grad_(True)
        differentiate(f"{name}_forward", dict(n=x.numel()), lambda input: function(input), dict(input=x))


def pooling():
    for n, c, h, w, window, stride, padding in [(2, 3, 6, 8, 2, 2, 0), (1, 2, 7, 5, 2, 2, 0), (2, 1, 8, 7, 3, 2, 1),
                                                (1, 2, 6, 6, 3, 1, 0), (1, 1, 9, 9, 5, 3, 2)]:
        shape = dict(n=n, c=c, h=h, w=w, window=window, stride=stride, padding=padding)
        x = draw(n, c, h, w)
        _, index = F.max_pool2d(x, window, stride, padding, return_indices=True)
        differentiate("maxpool2d_forward", shape, lambda input: F.max_pool2d(input, window, stride, padding),
                      dict(input=x), expect=dict(index=index))
        differentiate("avgpool2d_forward", shape,
                      lambda input: F.avg_pool2d(input, window, stride, padding, count_include_pad=False),
                      dict(input=draw(n, c, h, w)))


def softmax():
    for rows, cols in [(4, 10), (1, 1), (3, 37)]:
        shape = dict(rows=rows, cols=cols)
        differentiate("softmax_forward", shape, lambda input: F.softmax(input, 1), dict(input=draw(rows, cols, spread=3)))
        differentiate("log_softmax_forward", shape, lambda input: F.log_softmax(input, 1),
                      dict(input=draw(rows, cols, spread=3)))
        x, labels = draw(rows, cols, spread=3), torch.randint(cols, (rows,))
        labels[0] = x[0].argmax()
        differentiate("cross_entropy_forward", shape, lambda logits: F.cross_entropy(logits, labels), dict(logits=x),
                      others=dict(labels=labels), outputs=("loss",),
                      expect=dict(probabilities=F.softmax(x, 1), correct=(x.argmax(1) == labels).sum().reshape(1)))


def philox(counter, key):
    """Philox 4x32-10, written from the paper."""
    x, (k0, k1) = list(counter), key
    for _ in range(10):
        low0, low1 = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(low1 >> 32) ^ x[1] ^ k0, low1 & 0xFFFFFFFF, (low0 >> 32) ^ x[3] ^ k1, low0 & 0xFFFFFFFF]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return x


def random_word(seed, sequence, position):
    halves = lambda value: [value & 0xFFFFFFFF, value >> 32]
    return philox(halves(position // 4) + halves(sequence), halves(seed))[position % 4]


def dropout():
    for n, probability, state in [(50, 0.25, (1234567890123, 5, 0)), (33, 0.5, (7, 1 << 40, 4 * ((1 << 32) - 3) + 2))]:
        mask = torch.tensor([float((random_word(*state[:2], state[2] + i) >> 8) * 2.0**-24 >= probability)
                             for i in range(n)]).double()
        differentiate("dropout_forward", dict(n=n, probability=probability),
                      lambda input: input * mask / (1 - probability), dict(input=draw(n)),
                      others=dict(random=np.array(state, dtype=np.int64)), expect=dict(mask=mask))


def elementwise():
    differentiate("add_forward", "n=21", lambda a, b: a + b, dict(a=draw(21), b=draw(21)))
    differentiate("multiply_forward", "n=21", lambda a, b: a * b, dict(a=draw(21), b=draw(21)))
    differentiate("sum_forward", "n=100", lambda input: input.sum(), dict(input=draw(100)))
    differentiate("mean_forward", "n=100", lambda input: input.mean(), dict(input=draw(100)))


def optimizers():
    n, steps, rate, beta1, beta2, epsilon = 13, 5, single(0.1), single(0.9), single(0.99), single(1e-8)
    decay = single(0.03)
    makers = dict(
        sgd=lambda p: torch.optim.SGD([p], lr=rate, weight_decay=decay),
        momentum=lambda p: torch.optim.SGD([p], lr=rate, weight_decay=decay, momentum=beta1),
        adamw=lambda p: torch.optim.AdamW([p], lr=rate, betas=(beta1, beta2), eps=epsilon, weight_decay=decay))
    kept = dict(sgd={}, momentum=dict(velocity="momentum_buffer"),
                adamw=dict(first_moment="exp_avg", second_moment="exp_avg_sq"))
    for name, make in makers.items():
        p = draw(n)
        before = dict(parameter=p.detach().clone(), **{state: torch.zeros(n) for state in kept[name]})
        optimizer = make(p)
        for step in range(1, steps + 1):
            p.grad = torch.randn(n).double()
            hyper = np.array([rate, decay, beta1, beta2, epsilon, 1 - beta1**step, 1 - beta2**step])
            inputs = dict(grad=p.grad.clone(), hyper=hyper)
            optimizer.step()
            expect = dict(parameter=p, **{state: optimizer.state[p][key] for state, key in kept[name].items()})
            case(f"{name}_update", dict(n=n), inputs, before if step == 1 else None, expect, continues=step > 1)


def blocks():
    for op, n, c, h, w, k, bias in [("stem_block", 3, 1, 6, 8, 8, True), ("stem_block", 2, 3, 7, 5, 16, False),
                                    ("conv_block", 2, 8, 6, 6, 16, True), ("conv_block", 2, 3, 5, 7, 4, False)]:
        epsilon, momentum = single(1e-5), single(0.1)
        shape = dict(n=n, c=c, h=h, w=w, k=k, input_channels_last=0, output_channels_last=0, epsilon=repr(epsilon),
                     momentum=repr(momentum))
        mean, variance = torch.randn(k), torch.rand(k) + 0.5
        new_mean, new_variance = mean.double(), variance.double()

        def block(input, weight, gamma, beta, bias=None, training=True, mean=new_mean, variance=new_variance):
            z = F.batch_norm(F.conv2d(input, weight, bias, padding=1), mean, variance, gamma, beta, training, momentum,
                             epsilon)
            return F.max_pool2d(F.relu(z), 2)

        inputs = dict(input=draw(n, c, h, w), weight=draw(k, c, 3, 3), gamma=draw(k), beta=draw(k))
        if bias:
            inputs["bias"] = draw(k)
        differentiate(f"{op}_forward", shape, block, inputs, before=dict(running_mean=mean, running_var=variance),
                      expect=dict(running_mean=new_mean, running_var=new_variance))
        case(f"{op}_inference", shape,
             dict(inputs, running_mean=mean.double(), running_var=variance.double()),
             expect=dict(output=block(**inputs, training=False, mean=mean.double(), variance=variance.double())))


def layernorm():
    for rows, cols, epsilon in [(4, 10, 1e-5), (3, 1, 1e-3), (5, 64, 1e-5), (2, 37, 0.1)]:
        epsilon = single(epsilon)
        x = draw(rows, cols, spread=2)
        _, mean, inverse_std = torch.native_layer_norm(x.detach(), (cols,), None, None, epsilon)
        differentiate("layernorm_forward", dict(rows=rows, cols=cols, epsilon=repr(epsilon)),
                      lambda input, gamma, beta: F.layer_norm(input, (cols,), gamma, beta, epsilon),
                      dict(input=x, gamma=draw(cols), beta=draw(cols)),
                      expect=dict(mean=mean.reshape(-1), inverse_std=inverse_std.reshape(-1)))


def products():
    for batch, m, n, k, ta, tb, alpha, beta in [(3, 4, 5, 6, 0, 0, 1, 0), (2, 3, 1, 7, 1, 0, 0.5, -2),
                                                (2, 5, 4, 3, 0, 1, 1, 1), (1, 2, 6, 5, 1, 1, -1, 0)]:
        a, b = draw(batch, *((k, m) if ta else (m, k))), draw(batch, *((n, k) if tb else (k, n)))
        c = draw(batch, m, n)
        case("matmul_batched_forward",
             dict(batch=batch, m=m, n=n, k=k, transpose_a=ta, transpose_b=tb, alpha=alpha, beta=beta), dict(a=a, b=b),
             dict(output=c), dict(output=torch.baddbmm(c, a.mT if ta else a, b.mT if tb else b, beta=beta,
                                                       alpha=alpha)))
    for m, n, k, ta, tb in [(3, 4, 5, 0, 0), (17, 8, 33, 1, 1)]:
        a, b = (draw(*dims).bfloat16().double() for dims in ((k, m) if ta else (m, k), (n, k) if tb else (k, n)))
        case("matmul_bf16_forward", dict(m=m, n=n, k=k, transpose_a=ta, transpose_b=tb), dict(a=a, b=b),
             dict(output=torch.zeros(m, n)), dict(output=(a.T if ta else a) @ (b.T if tb else b)))
    for m, n, k in [(3, 4, 5), (17, 9, 40)]:
        a, b = torch.randint(-127, 128, (m, k)), torch.randint(-127, 128, (n, k))
        scale_a, scale_b = (torch.rand(m) + 0.5).double(), (torch.rand(n) + 0.5).double()
        case("matmul_int8", dict(m=m, n=n, k=k), dict(a=a, b=b, scale_a=scale_a, scale_b=scale_b),
             expect=dict(output=(a @ b.T) * scale_a[:, None] * scale_b))


def quantise():
    """Which byte comes out is a matter of float32's rounding, so that PyTorch computes in float32 too."""
    for rows, cols in [(4, 10), (1, 1), (3, 37)]:
        shape = dict(rows=rows, cols=cols)
        x = torch.randn(rows, cols)
        scale = x.abs().amax(1) / 127
        bytes_of_x = torch.round(x / scale[:, None])
        case("quantise", shape, dict(input=x), expect=dict(output=bytes_of_x, scale=scale))
        case("dequantise", shape, dict(input=bytes_of_x.to(torch.int32), scale=scale),
             expect=dict(output=bytes_of_x.double() * scale.double()[:, None]))


def moving():
    """What moves elements about, counts them or adds up their neighbours."""
    for rows, cols in [(5, 3), (1, 7), (34, 33)]:
        x = draw(rows, cols)
        case("transpose", dict(rows=rows, cols=cols), dict(input=x), expect=dict(output=x.T))
    for n in (1, 35):
        x, y, alpha = draw(n), draw(n), -1.5
        case("shift", dict(n=n), dict(input=x), expect=dict(output=torch.roll(x, -1)))
        case("scan", dict(n=n), dict(input=x), expect=dict(output=torch.cumsum(x, 0)))
        case("saxpy", dict(n=n, alpha=alpha), dict(x=x), dict(y=y), dict(y=torch.add(y, x, alpha=alpha)))
    for n, radius in [(3, 0), (41, 3), (5, 9)]:
        x, ones = draw(n), torch.ones(1, 1, 2 * radius + 1).double()
        case("stencil", dict(n=n, radius=radius), dict(input=x),
             expect=dict(output=F.conv1d(x[None, None], ones, padding=radius)[0, 0]))
    for n, bins in [(50, 7), (3, 10)]:
        values = torch.randint(bins, (n,))
        case("histogram", dict(n=n, bins=bins), dict(values=values),
             expect=dict(counts=torch.bincount(values, minlength=bins)))


def course_network(z, parameters, running, momentum, epsilon):
    """Its logits; the running statistics move on."""
    for block in ("1", "2"):
        z = F.conv2d(z, parameters["conv%s_weight" % block], parameters["conv%s_bias" % block], padding=1)
        z = F.batch_norm(z, running["running_mean" + block], running["running_var" + block],
                         parameters["gamma" + block], parameters["beta" + block], True, momentum, epsilon)
        z = F.max_pool2d(F.relu(z), 2)
    z = F.relu(F.linear(z.flatten(1), parameters["hidden_weight"], parameters["hidden_bias"]))
    return F.linear(z, parameters["output_weight"], parameters["output_bias"])


def training_step():
    """The course's network at a small size, whole; and the batch that it gathers."""
    n, count, length, pixels = 3, 4, 6, 5
    dataset, labels = torch.randint(256, (count, pixels)), torch.randint(9, (count,))
    order, cursor = torch.randint(count, (length,)), torch.tensor([2, 7])
    chosen = order[2:2 + n]
    case("gather", dict(n=n, count=count, length=length, pixels=pixels),
         dict(dataset=dataset, dataset_labels=labels, order=order, cursor=cursor),
         expect=dict(images=dataset[chosen].double() / 255, labels=labels[chosen]))

    epsilon, momentum = single(1e-5), single(0.1)
    c, h, w, k1, k2, hidden, classes = 1, 8, 8, 3, 4, 5, 3
    images, labels = torch.randint(256, (count, c, h, w)), torch.randint(classes, (count,))
    x, y = images[chosen].double() / 255, labels[chosen]
    parameters = dict(conv1_weight=draw(k1, c, 3, 3), conv1_bias=draw(k1), gamma1=draw(k1), beta1=draw(k1),
                      conv2_weight=draw(k2, k1, 3, 3), conv2_bias=draw(k2), gamma2=draw(k2), beta2=draw(k2),
                      hidden_weight=draw(hidden, k2 * (h // 4) * (w // 4)), hidden_bias=draw(hidden),
                      output_weight=draw(classes, hidden), output_bias=draw(classes))
    running = dict(running_mean1=torch.randn(k1), running_var1=torch.rand(k1) + 0.5,
                   running_mean2=torch.randn(k2), running_var2=torch.rand(k2) + 0.5)
    after = {name: value.double() for name, value in running.items()}
    logits = course_network(x, parameters, after, momentum, epsilon)
    loss = F.cross_entropy(logits, y)
    loss.backward()
    grads = {"grad_" + name: value.grad for name, value in parameters.items()}
    case("cnn_step", dict(n=n, count=count, length=length, c=c, h=h, w=w, k1=k1, k2=k2, hidden=hidden, classes=classes,
                          epsilon=repr(epsilon), momentum=repr(momentum)),
         dict(parameters, images=images, labels=labels, order=order, cursor=cursor), before=running,
         expect=dict(grads, **after, loss=loss.reshape(1), correct=(logits.argmax(1) == y).sum().reshape(1)))


def bank(values):
    """Tensors one behind the other, each from a multiple of 64 numbers on."""
    alignment = 64
    return torch.cat([F.pad(value.detach().flatten(), (0, -value.numel() % alignment)) for value in values])


def training_steps():
    """Two steps with their updates by each optimiser, at two learning rates."""
    epsilon, momentum, decay, small = (single(value) for value in (1e-5, 0.1, 0.03, 1e-3))
    beta1, beta2 = 0.5, 0.75  # 1 - beta^t is a float32, too
    n, count, length, steps, c, h, w, k1, k2, hidden, classes = 3, 4, 7, 2, 1, 8, 8, 3, 4, 5, 3
    rates = [single(0.1), single(0.05)]
    makers = [lambda values: torch.optim.SGD(values, lr=1, weight_decay=decay),
              lambda values: torch.optim.SGD(values, lr=1, weight_decay=decay, momentum=beta1),
              lambda values: torch.optim.AdamW(values, lr=1, betas=(beta1, beta2), eps=small, weight_decay=decay)]
    kept = [[], ["momentum_buffer"], ["exp_avg", "exp_avg_sq"]]
    for kind, make in enumerate(makers):
        images, labels = torch.randint(256, (count, c, h, w)), torch.randint(classes, (count,))
        order, position = torch.randint(count, (length,)), 1
        parameters = dict(conv1_weight=draw(k1, c, 3, 3), conv1_bias=draw(k1), gamma1=draw(k1), beta1=draw(k1),
                          conv2_weight=draw(k2, k1, 3, 3), conv2_bias=draw(k2), gamma2=draw(k2), beta2=draw(k2),
                          hidden_weight=draw(hidden, k2 * (h // 4) * (w // 4)), hidden_bias=draw(hidden),
                          output_weight=draw(classes, hidden), output_bias=draw(classes))
        running = dict(running_mean1=torch.randn(k1).double(), running_var1=(torch.rand(k1) + 0.5).double(),
                       running_mean2=torch.randn(k2).double(), running_var2=(torch.rand(k2) + 0.5).double())
        schedule = torch.tensor([[rates[step], decay, beta1, beta2, small, 1 - beta1**(step + 1),
                                  1 - beta2**(step + 1)] for step in range(steps)])
        state = torch.zeros(bank(parameters.values()).numel())
        before = dict(parameters=bank(parameters.values()), statistics=bank(running.values()),
                      cursor=torch.tensor([position, 0]), tally=torch.zeros(5), hyper=schedule[0])
        before.update({name: state for name in ("first_moment", "second_moment")[:len(kept[kind])]})
        optimizer, tally = make(list(parameters.values())), [0.0] * 5
        for step in range(steps):
            chosen = order[position + step * n:position + (step + 1) * n]
            logits = course_network(images[chosen].double() / 255, parameters, running, momentum, epsilon)
            loss = F.cross_entropy(logits, labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.param_groups[0]["lr"] = rates[step]
            optimizer.step()
            right = (logits.argmax(1) == labels[chosen]).sum()
            tally[0], tally[1] = tally[0] + n * loss.item(), tally[1] + right.item()
        moments = {name: bank(optimizer.state[value][key] for value in parameters.values())
                   for name, key in zip(("first_moment", "second_moment"), kept[kind])}
        case("cnn_train", dict(n=n, count=count, length=length, steps=steps, rows=steps, optimizer=kind, c=c, h=h, w=w,
                               k1=k1, k2=k2, hidden=hidden, classes=classes, epsilon=repr(epsilon),
                               momentum=repr(momentum)),
             dict(images=images, labels=labels, order=order, schedule=schedule), before,
             dict(moments, parameters=bank(parameters.values()), statistics=bank(running.values()),
                  tally=torch.tensor(tally, dtype=torch.float64), loss=loss.reshape(1), correct=right.reshape(1)))


def fourier():
    def as_complex(x):
        return torch.view_as_complex(x.detach().contiguous())

    for batch, n, inverse, scale in [(2, 1, 0, 1), (3, 8, 0, 1), (2, 12, 1, 0.5), (1, 31, 0, -2), (2, 70, 1, 1)]:
        shape = dict(batch=batch, n=n, inverse=inverse, scale=scale)
        x, r, half = draw(batch, n, 2), draw(batch, n), draw(batch, n // 2 + 1, 2).detach()
        there = torch.fft.ifft(as_complex(x), norm="forward") if inverse else torch.fft.fft(as_complex(x))
        case("fft", shape, dict(input=x), expect=dict(output=scale * torch.view_as_real(there)))
        half[:, 0, 1] = 0  # what is its own mirror image is real
        if n % 2 == 0:
            half[:, -1, 1] = 0
        back = torch.fft.irfft(as_complex(half), n, norm="forward")
        case("rfft", shape, dict(input=half if inverse else r),
             expect=dict(output=scale * (back if inverse else torch.view_as_real(torch.fft.rfft(r.detach())))))
    for batch, h, w, inverse in [(2, 4, 6, 0), (1, 7, 5, 1)]:
        x = draw(batch, h, w, 2)
        there = torch.fft.ifft2(as_complex(x), norm="forward") if inverse else torch.fft.fft2(as_complex(x))
        case("fft2d", dict(batch=batch, h=h, w=w, inverse=inverse), dict(input=x),
             expect=dict(output=torch.view_as_real(there)))


def fused():
    """Operators with relu at their end."""
    for n, c, h, w, k, r, s, stride, padding, dilation, bias in [
            (2, 3, 6, 5, 4, 3, 3, 1, 1, 1, True), (1, 4, 9, 8, 3, 3, 3, 1, 1, 1, False),
            (1, 2, 7, 9, 3, 5, 3, 2, 2, 1, True), (1, 2, 8, 7, 2, 3, 2, 1, 2, 2, True),
            (2, 5, 4, 4, 3, 1, 1, 1, 0, 1, True)]:
        inputs = dict(input=draw(n, c, h, w), weight=draw(k, c, r, s))
        if bias:
            inputs["bias"] = draw(k)
        case("conv2d_bias_relu",
             dict(n=n, c=c, h=h, w=w, k=k, r=r, s=s, stride=stride, padding=padding, dilation=dilation), inputs,
             expect=dict(output=F.relu(F.conv2d(inputs["input"], inputs["weight"], inputs.get("bias"), stride, padding,
                                                dilation))))
    for n, c, h, w, epsilon, momentum in [(3, 4, 3, 5, 1e-5, 0.1), (2, 3, 1, 1, 1e-3, 0.3), (1, 2, 4, 4, 1e-5, 0.1)]:
        epsilon, momentum = single(epsilon), single(momentum)
        x, gamma, beta = draw(n, c, h, w, spread=2), draw(c), draw(c)
        mean, variance = torch.randn(c), torch.rand(c) + 0.5
        new_mean, new_variance = mean.double(), variance.double()
        kept = torch.native_batch_norm(x.detach(), None, None, None, None, True, momentum, epsilon)
        output = F.relu(F.batch_norm(x, new_mean, new_variance, gamma, beta, True, momentum, epsilon))
        case("batchnorm2d_relu", dict(n=n, c=c, h=h, w=w, epsilon=repr(epsilon), momentum=repr(momentum)),
             dict(input=x, gamma=gamma, beta=beta), dict(running_mean=mean, running_var=variance),
             dict(output=output, mean=kept[1], inverse_std=kept[2], running_mean=new_mean, running_var=new_variance))


def streamed():
    """A product of matrices in host memory, whole and in tiles; rounds of multiplying and adding."""
    for m, n, k, memory in [(3, 4, 5, 4096), (13, 7, 31, 4096), (29, 19, 11, 4), (23, 37, 19, 8)]:
        a, b = draw(m, k), draw(k, n)
        case("matmul_host", dict(m=m, n=n, k=k, memory=memory), dict(a=a, b=b), expect=dict(output=a @ b))
    for n, rounds, factor, addend in [(7, 0, 0.999, 0.001), (35, 1, 0.999, 0.001), (21, 40, -0.5, 2),
                                      (9, 3, 1.5, -0.25)]:
        factor, addend = single(factor), single(addend)
        x = draw(n)
        value = x
        for _ in range(rounds):
            value = value * factor + addend
        case("polynomial", dict(n=n, rounds=rounds, factor=repr(factor), addend=repr(addend)), dict(input=x),
             expect=dict(output=value))


def layers():
    for n, c, h, w in [(2, 3, 4, 5), (1, 2, 7, 7)]:
        differentiate("globalavgpool_forward", dict(n=n, c=c, h=h, w=w), lambda input: input.mean((2, 3)),
                      dict(input=draw(n, c, h, w)))
    for n, c, h, w, k, r, s, stride, padding, dilation, groups, bias in [
            (2, 6, 6, 5, 4, 3, 3, 1, 1, 1, 2, True), (1, 5, 7, 7, 5, 3, 3, 2, 1, 1, 5, True),
            (1, 4, 9, 8, 8, 3, 2, 1, 2, 2, 4, False)]:
        inputs = dict(input=draw(n, c, h, w), weight=draw(k, c // groups, r, s))
        if bias:
            inputs["bias"] = draw(k)
        differentiate("conv2d_grouped_forward", dict(n=n, c=c, h=h, w=w, k=k, r=r, s=s, stride=stride, padding=padding,
                                                     dilation=dilation, groups=groups),
                      lambda input, weight, bias=None: F.conv2d(input, weight, bias, stride, padding, dilation, groups),
                      inputs)


def extension():
    """The operators that torch.ops.heddle has and the layers have not."""
    for n, coefficients in [(1, (1, 1, 1)), (37, (0.5, -1, 0.25, 0.125, -0.5, 1, 0.75, -0.25)), (5, (2,))]:
        named = {f"c{power}": coefficients[power] if power < len(coefficients) else 0 for power in range(8)}
        differentiate("polynomial_activation_forward", dict(n=n, degree=len(coefficients) - 1, **named),
                      lambda input: sum(c * input**power for power, c in enumerate(coefficients)) + 0 * input,
                      dict(input=draw(n)))
    for rows, cols, ignored in [(1, 1, -100), (5, 33, -100), (6, 10, 3)]:
        shape, logits, labels = dict(rows=rows, cols=cols, ignored=ignored), draw(rows, cols, spread=3), torch.randint(
            cols, (rows,))
        if rows > 1:
            labels[1] = ignored
        differentiate("token_loss_forward", shape,
                      lambda logits: F.cross_entropy(logits, labels, ignore_index=ignored, reduction="none"),
                      dict(logits=logits), others=dict(labels=labels), outputs=("losses",),
                      expect=dict(log_sums=logits.logsumexp(1)))
        logits, factor = draw(rows, cols, spread=3), torch.randn(1).double()
        losses = F.cross_entropy(logits, labels, ignore_index=ignored, reduction="none")
        (losses.sum() * factor[0]).backward()
        case("token_loss_both", shape, dict(logits=logits, labels=labels, factor=factor),
             expect=dict(losses=losses, gradient=logits.grad))
    for n, factor in [(9, -0.75), (4, 1.0)]:
        values = torch.randn(n)
        case("scale_unless_one", dict(n=n), dict(factor=torch.tensor([factor]).double()), before=dict(values=values),
             expect=dict(values=values.double() * factor))


def language():
    """What language models need, and the sums behind them."""
    for n in (1, 37):
        x, y = draw(n), draw(n)
        case("dot", dict(n=n), dict(x=x, y=y), expect=dict(output=torch.dot(x, y).reshape(1)))
    for m, n, transpose in [(3, 5, 0), (5, 3, 1), (9, 40, 0), (40, 9, 1)]:
        a, x = draw(m, n), draw(m if transpose else n)
        case("gemv", dict(m=m, n=n, transpose=transpose), dict(a=a, x=x), expect=dict(y=(a.T if transpose else a) @ x))
    for rows, cols, epsilon in [(4, 10, 1e-5), (3, 2, 1e-3), (2, 37, 0.1)]:
        epsilon = single(epsilon)
        x = draw(rows, cols, spread=2)
        differentiate("rmsnorm_forward", dict(rows=rows, cols=cols, epsilon=repr(epsilon)),
                      lambda input, weight: F.rms_norm(input, (cols,), weight, epsilon),
                      dict(input=x, weight=draw(cols)),
                      expect=dict(inverse_rms=torch.rsqrt(x.detach().square().mean(1) + epsilon)))
    for batch, sequence, heads, size, start, inverse, base in [(2, 3, 2, 8, 0, 0, 10000.0), (1, 4, 3, 6, 100, 1, 5e5)]:
        # "rotate half", as Llama's layers have it
        x = draw(batch, sequence, heads, size)
        frequencies = base ** (-torch.arange(0, size, 2).double() / size)
        angles = torch.outer(torch.arange(start, start + sequence).double(), frequencies).repeat(1, 2)[:, None, :]
        half = torch.cat([-x[..., size // 2:], x[..., :size // 2]], dim=-1)
        case("rope", dict(batch=batch, sequence=sequence, heads=heads, size=size, start=start, inverse=inverse,
                          base=base), dict(input=x),
             expect=dict(output=x * angles.cos() + half * angles.sin() * (-1 if inverse else 1)))
    for n, vocabulary, cols in [(5, 3, 4), (9, 300, 7)]:
        tokens = torch.randint(vocabulary, (n,))
        differentiate("embedding_forward", dict(n=n, vocabulary=vocabulary, cols=cols),
                      lambda table: F.embedding(tokens, table), dict(table=draw(vocabulary, cols)),
                      others=dict(tokens=tokens))
    for rows, cols, k in [(3, 9, 4), (2, 64, 33)]:
        x = draw(rows, cols)
        values, indices = torch.topk(x, k)
        case("topk", dict(rows=rows, cols=cols, k=k), dict(input=x), expect=dict(values=values, indices=indices))


def attention():
    for batch, heads, queries, keys, size, causal in [(2, 3, 4, 5, 7, 0), (1, 2, 6, 3, 16, 1), (1, 1, 3, 9, 8, 1)]:
        shape = dict(batch=batch, heads=heads, queries=queries, keys=keys, size=size, causal=causal)
        for op, dtype in [("attention_forward", torch.float32), ("attention_bf16_forward", torch.bfloat16),
                          ("attention_fp16_forward", torch.float16)]:
            q, k, v = (draw(batch, heads, rows, size).detach().to(dtype).double().requires_grad_(True)
                       for rows in (queries, keys, keys))
            hidden = torch.full((queries, keys), -torch.inf).triu(1).double() if causal else 0
            sums = (q @ k.mT / size**0.5 + hidden).logsumexp(3)
            output = F.scaled_dot_product_attention(q, k, v, is_causal=bool(causal))
            grad = torch.randn(output.shape).to(dtype).double()
            output.backward(grad)
            case(op, shape, dict(q=q, k=k, v=v, grad_output=grad),
                 expect=dict(output=output, log_sums=sums, grad_q=q.grad, grad_k=k.grad, grad_v=v.grad))


def order():
    """Elements that are chosen and moved; nothing is computed."""
    for n, threshold in [(1, 0), (37, 0), (50, 0.75)]:
        x = draw(n).detach()
        chosen = torch.masked_select(x, x > threshold)
        case("select", dict(n=n, threshold=threshold), dict(input=x),
             expect=dict(output=F.pad(chosen, (0, n - len(chosen))), count=torch.tensor([len(chosen)])))
    for n, distinct in [(1, 1), (37, 1000), (64, 5)]:
        keys, values = (torch.randint(distinct, (n,)) - distinct // 2).double() / 4, torch.randint(1000, (n,))
        sorted_keys, places = torch.sort(keys, stable=True)
        case("sort", dict(n=n), dict(keys=keys, values=values),
             expect=dict(sorted_keys=sorted_keys, sorted_values=values[places]))


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "tests/ops/pytorch_values.safetensors"
    torch.manual_seed(20240607)
    for make in (matmul, linear, conv2d, batchnorm2d, activations, pooling, softmax, dropout, elementwise, optimizers,
                 blocks, layernorm, products, quantise, moving, training_step, fourier, fused, streamed, training_steps,
                 layers, extension, language, attention, order):
        make()
    metadata = {f"case.{number:03d}": text for number, text in enumerate(cases)}
    metadata.update(cases=str(len(cases)), torch=torch.__version__, date=datetime.date.today().isoformat(),
                    made_by="peers/pytorch_values.py")
    save_file(tensors, path, metadata)
    print(f"{path}: {len(cases)} cases, {len(tensors)} tensors, {path.stat().st_size} bytes, torch {torch.__version__}")


if __name__ == "__main__":
    main()

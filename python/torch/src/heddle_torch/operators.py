"""torch.ops.heddle.*: gradients, fake kernels and autocast of the operators that the extension brings, and the public
operators that are made of several of them."""
import glob
import os
from functools import partial

import torch
from torch.autograd.function import once_differentiable

_found = glob.glob(os.path.join(os.path.dirname(__file__), "_heddle_torch*.so"))
if not _found:
    raise ImportError("heddle_torch is not built: pip install ./python/torch (docs/pytorch.md)")
torch.ops.load_library(_found[0])
ops = torch.ops.heddle

_C = torch._C
_library = torch.library.Library("heddle", "FRAGMENT")
_PLAIN = frozenset((torch.Tensor, torch.nn.Parameter, type(None))).__contains__
IGNORED = -100


def _check(passed, message):
    if not passed:
        raise RuntimeError("heddle." + message)


def _once(backward):
    """Gradients that are not differentiable again: a second derivative is an error, not a wrong number."""
    checked = once_differentiable(backward)

    def run(ctx, *grads):
        return (checked if torch.is_grad_enabled() else backward)(ctx, *grads)
    return staticmethod(run)


def _function(op, backward, setup):
    """An autograd.Function that runs an operator below autograd."""
    def forward(ctx, *inputs):
        with _C._AutoDispatchBelowAutograd():
            outputs = op(*inputs)
        setup(ctx, inputs, outputs)
        return outputs
    return type(op.name().replace("::", "_"), (torch.autograd.Function,), {"forward": staticmethod(forward),
                                                                           "backward": _once(backward)})


def _gradient(name, backward, setup, defaults=()):
    """What torch.library.register_autograd does, in less time per call: a small operator takes no longer than its
    calls. `defaults` are the values of the last arguments, which PyTorch leaves out of a call. Returns the operator as
    a function for calls that _is_plain lets past the dispatcher."""
    op = getattr(ops, name).default
    count, function, direct = len(op._schema.arguments), _function(op, backward, setup), op._op
    apply = super(torch.autograd.Function, function).apply  # Function.apply looks for transforms first

    def run(*inputs):
        if len(inputs) < count:
            inputs += defaults[len(inputs) - count:]
        if torch.is_grad_enabled() and any(isinstance(one, torch.Tensor) and one.requires_grad for one in inputs):
            return function.apply(*inputs)
        with _C._AutoDispatchBelowAutograd():
            return op(*inputs)
    _library.impl(name, run, "Autograd")

    def plain(wanted, *inputs):
        """wanted: whether one of the inputs requires a gradient."""
        if wanted and torch.is_grad_enabled():
            return apply(*inputs)
        with _C._AutoDispatchBelowAutograd():
            return direct(*inputs)
    return plain


def _is_eager(*tensors):
    """Whether the tensors are plain ones, with nothing around that traces or transforms what is done to them."""
    return (_C._len_torch_dispatch_stack() == 0 and not _C._are_functorch_transforms_active() and
            all(map(_PLAIN, map(type, tensors))))


def _is_plain(*tensors):
    """Whether a function of this module may call its kernels at once. Whatever traces, transforms, overrides or casts
    what is done to the tensors has to see the operator itself, which PyTorch's dispatcher calls."""
    return (not torch.compiler.is_compiling() and _is_eager(*tensors) and _C._len_torch_function_stack() == 0 and
            not _C._is_any_autocast_enabled() and _C._get_tracing_state() is None)


# --- polynomial ------------------------------------------------------------------------------------------------------

@torch.library.register_fake("heddle::polynomial")
def _(x, coefficients=(1.0, 1.0, 1.0)):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@torch.library.register_fake("heddle::polynomial_backward")
def _(grad, x, coefficients):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _polynomial_setup(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])
    ctx.coefficients = inputs[1]


def _polynomial_backward(ctx, grad):
    return ops.polynomial_backward.default(grad, ctx.saved_tensors[0], ctx.coefficients), None


_plain_polynomial = _gradient("polynomial", _polynomial_backward, _polynomial_setup, ([1.0, 1.0, 1.0],))


# --- softmax_cross_entropy -------------------------------------------------------------------------------------------

@torch.library.register_fake("heddle::token_loss")
def _(logits, target, ignore_index):
    return logits.new_empty(target.shape), logits.new_empty(target.shape)


@torch.library.register_fake("heddle::token_loss_backward")
def _(grad, logits, target, log_sums, ignore_index):
    return torch.empty_like(logits, memory_format=torch.contiguous_format)


@torch.library.register_fake("heddle::token_loss_both")
def _(logits, target, factor, ignore_index):
    return logits.new_empty(target.shape), torch.empty_like(logits, memory_format=torch.contiguous_format)


@torch.library.register_fake("heddle::scale_")
def _(gradient, factor):
    return None


def _token_loss_setup(ctx, inputs, output):
    ctx.save_for_backward(inputs[0], inputs[1], output[1])
    ctx.mark_non_differentiable(output[1])
    ctx.ignored = inputs[2]


def _token_loss_backward(ctx, grad, _):
    logits, target, log_sums = ctx.saved_tensors
    return ops.token_loss_backward(grad, logits, target, log_sums, ctx.ignored), None, None


_plain_token_loss = _gradient("token_loss", _token_loss_backward, _token_loss_setup)


_library.define("loss_and_gradient(Tensor logits, Tensor target, int ignore_index, bool mean) -> (Tensor, Tensor)")


@torch.library.impl(_library, "loss_and_gradient", "CompositeExplicitAutograd")
def _loss_and_gradient(logits, target, ignore_index, mean):
    """The reduced loss, and the gradient of the logits for a gradient of 1, from one pass over the logits."""
    factor = (target != ignore_index).sum().to(torch.float32).reciprocal() if mean else logits.new_ones(())
    losses, gradient = ops.token_loss_both.default(logits, target, factor, ignore_index)
    return losses.sum() * factor, gradient


@torch.library.register_fake("heddle::loss_and_gradient", lib=_library)
def _(logits, target, ignore_index, mean):
    return logits.new_empty(()), torch.empty_like(logits, memory_format=torch.contiguous_format)


def _loss_setup(ctx, inputs, output):
    ctx.save_for_backward(output[1])
    ctx.mark_non_differentiable(output[1])


def _graph_is_kept():
    """Whether backward may run again. Then what it saved must stay as it is."""
    asked = getattr(torch._C._autograd, "_get_current_graph_task_keep_graph", None)
    return asked is None or asked()


def _loss_backward(ctx, grad, _):
    gradient, = ctx.saved_tensors
    grad = grad.to(torch.float32)
    if _graph_is_kept():
        return gradient * grad, None, None, None
    ops.scale_(gradient, grad)  # in place, and for a gradient of 1 nothing at all
    return gradient, None, None, None


_plain_loss_and_gradient = _gradient("loss_and_gradient", _loss_backward, _loss_setup)

_library.define("softmax_cross_entropy(Tensor logits, Tensor target, int ignore_index=-100, str reduction=\"mean\") -> "
                "Tensor")


def _loss(logits, target, ignore_index, reduction, token_loss, loss_and_gradient):
    _check(reduction in ("mean", "sum", "none"),
           "softmax_cross_entropy: reduction is '%s', must be mean, sum or none" % reduction)
    _check(logits.dim() >= 1 and target.shape == logits.shape[:-1],
           "softmax_cross_entropy: logits (..., classes) need a target (...): they are %s and %s" % (
               tuple(logits.shape), tuple(target.shape)))
    _check(logits.shape[-1] > 0, "softmax_cross_entropy: logits have no classes")
    rows, labels = logits, target
    if logits.dim() != 2:
        rows, labels = logits.reshape(-1, logits.shape[-1]), target.reshape(-1)
    if reduction == "none":
        return token_loss(rows, labels, ignore_index)[0].reshape(target.shape)
    if torch.is_grad_enabled() and logits.requires_grad:
        return loss_and_gradient(rows, labels, ignore_index, reduction == "mean")[0]
    total = token_loss(rows, labels, ignore_index)[0].sum()
    return total / (labels != ignore_index).sum() if reduction == "mean" else total


@torch.library.impl(_library, "softmax_cross_entropy", "CompositeImplicitAutograd")
def _softmax_cross_entropy(logits, target, ignore_index=IGNORED, reduction="mean"):
    return _loss(logits, target, ignore_index, reduction, ops.token_loss, ops.loss_and_gradient)


# --- layernorm -------------------------------------------------------------------------------------------------------

@torch.library.register_fake("heddle::layernorm_forward")
def _(input, weight, bias, eps):
    rows = input.numel() // input.shape[-1]
    return (torch.empty_like(input, memory_format=torch.contiguous_format), input.new_empty((rows,)),
            input.new_empty((rows,)))


@torch.library.register_fake("heddle::layernorm_backward")
def _(grad, input, weight, mean, inverse_std, eps):
    return (torch.empty_like(input, memory_format=torch.contiguous_format), weight.new_empty(weight.shape),
            weight.new_empty(weight.shape))


def _layernorm_setup(ctx, inputs, output):
    input, weight, _, eps = inputs
    ctx.save_for_backward(input, weight, output[1], output[2])
    ctx.mark_non_differentiable(output[1], output[2])
    ctx.eps = eps


def _layernorm_backward(ctx, grad, _, __):
    input, weight, mean, inverse_std = ctx.saved_tensors
    return (*ops.layernorm_backward(grad, input, weight, mean, inverse_std, ctx.eps), None)


_plain_layernorm = _gradient("layernorm_forward", _layernorm_backward, _layernorm_setup)
_library.define("layernorm(Tensor input, Tensor weight, Tensor bias, float eps=1e-05) -> Tensor")


@torch.library.impl(_library, "layernorm", "CompositeImplicitAutograd")
def _layernorm(input, weight, bias, eps=1e-5):
    _check(input.dim() >= 1 and weight.dim() <= input.dim() and weight.dim() >= 1 and
           input.shape[input.dim() - weight.dim():] == weight.shape,
           "layernorm: weight must have the shape of the input's last dimensions: they are %s and %s" % (
               tuple(weight.shape), tuple(input.shape)))
    _check(weight.numel() > 0, "layernorm: there is nothing to normalise over in a weight of %s" % (
        tuple(weight.shape),))
    if weight.dim() == 1:
        return ops.layernorm_forward(input, weight, bias, eps)[0]
    rows = input.reshape(-1, weight.numel())
    return ops.layernorm_forward(rows, weight.reshape(-1), bias.reshape(-1), eps)[0].reshape(input.shape)


# --- matmul ----------------------------------------------------------------------------------------------------------

@torch.library.register_fake("heddle::matmul")
def _(a, b, rung="", transpose_a=False, transpose_b=False):
    _check(a.dim() == 2 and b.dim() == 2, "matmul: a and b must be matrices, not of %d and %d dimensions" % (
        a.dim(), b.dim()))
    return a.new_empty((a.shape[int(transpose_a)], b.shape[int(not transpose_b)]))


def _matmul_setup(ctx, inputs, output):
    a, b, ctx.rung, ctx.transpose_a, ctx.transpose_b = inputs
    ctx.save_for_backward(a, b)


def _matmul_backward(ctx, grad):
    a, b = ctx.saved_tensors
    ta, tb = ctx.transpose_a, ctx.transpose_b
    grad_a = grad_b = None
    if ctx.needs_input_grad[0]:
        grad_a = ops.matmul(b, grad, ctx.rung, tb, True) if ta else ops.matmul(grad, b, ctx.rung, False, not tb)
    if ctx.needs_input_grad[1]:
        grad_b = ops.matmul(grad, a, ctx.rung, True, ta) if tb else ops.matmul(a, grad, ctx.rung, not ta, False)
    return grad_a, grad_b, None, None, None


_plain_matmul = _gradient("matmul", _matmul_backward, _matmul_setup, ("", False, False))


def rungs(op, device=None):
    """The rungs of an operator, slowest first: rungs("matmul"), rungs("matmul_bf16", "cuda"). The device is the CPU's
    unless named, or "cuda" where PyTorch has one."""
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if device not in ("cpu", "cuda"):
        raise ValueError("rungs are for cpu or cuda, not for '%s'" % device)
    return ops.rungs({"matmul": "matmul_forward", "matmul_bf16": "matmul_bf16_forward"}.get(op, op), device).split()


# --- conv_bn_relu_pool -----------------------------------------------------------------------------------------------

STEM_CHANNELS = 4  # operators.cpp has the same number, and says what a stem is


def _channels_last(x):
    return x.is_contiguous(memory_format=torch.channels_last) and not x.is_contiguous()


def _empty_image(x, *shape):
    return x.new_empty(shape).contiguous(
        memory_format=torch.channels_last if _channels_last(x) else torch.contiguous_format)


def _check_block(x, weight):
    """As the kernels do, for those who trace."""
    _check(x.dim() == 4 and weight.dim() == 4 and weight.shape[1:] == (x.shape[1], 3, 3),
           "conv_bn_relu_pool: x is (n, c, h, w) and weight (k, c, 3, 3), not %s and %s" % (
               tuple(x.shape), tuple(weight.shape)))
    _check(x.shape[2] >= 2 and x.shape[3] >= 2, "conv_bn_relu_pool: images of %d×%d pixels cannot be pooled" % (
        x.shape[2], x.shape[3]))


@torch.library.register_fake("heddle::conv_block_train")
def _train_block_fake(x, weight, bias, gamma, beta, running_mean, running_var, momentum, eps, input_grad, tf32):
    _check_block(x, weight)
    n, c, h, w = x.shape
    k = weight.shape[0]
    _check(n * h * w > 1, "conv_bn_relu_pool: one value per channel has no variance")
    stem = c <= STEM_CHANNELS and not input_grad
    saved = (8 * (9 * c + 1) * 9 * c if stem else 4 * n * h * w * k) + 8 * k + n * (h // 2) * (w // 2) * k
    return _empty_image(x, n, k, h // 2, w // 2), x.new_empty((saved,), dtype=torch.uint8)


@torch.library.register_fake("heddle::conv_block_forward")
def _(x, weight, *others):
    channel = x.new_empty((weight.shape[0],))
    return (*_train_block_fake(x, weight, *others), channel, torch.empty_like(channel))


@torch.library.register_fake("heddle::conv_block_backward")
def _(grad, x, weight, gamma, beta, saved, eps, input_grad, tf32):
    channel = x.new_empty((weight.shape[0],))
    return (_empty_image(x, *x.shape) if input_grad else x.new_empty((0,)), weight.new_empty(weight.shape), channel,
            torch.empty_like(channel), torch.empty_like(channel))


@torch.library.register_fake("heddle::conv_block_inference")
def _(x, weight, bias, gamma, beta, running_mean, running_var, eps, tf32):
    _check_block(x, weight)
    return _empty_image(x, x.shape[0], weight.shape[0], x.shape[2] // 2, x.shape[3] // 2)


# Only autograd.Functions and checked calls use these three: no gradient of theirs is looked for.
for _name in ("conv_block_train", "conv_block_backward", "conv_block_inference"):
    _library.impl(_name, torch.library.fallthrough_kernel, "Autograd")
_block_train, _block_inference = ops.conv_block_train.default._op, ops.conv_block_inference.default._op


def _block_backward(ctx, grad, *_):
    x_wanted, _, bias_wanted = ctx.needs_input_grad[:3]
    eps, input_grad, tf32 = ctx.settings
    _check(input_grad or not x_wanted, "conv_block_forward: there is no gradient of the input without input_grad")
    grad_x, grad_weight, grad_bias, grad_gamma, grad_beta = ops.conv_block_backward.default(
        grad, *ctx.saved_tensors, eps, input_grad, tf32)
    return (grad_x if x_wanted else None, grad_weight, grad_bias if bias_wanted else None, grad_gamma, grad_beta,
            None, None, None, None, None, None)


def _block_setup(ctx, inputs, output):
    x, weight, _, gamma, beta = inputs[:5]
    ctx.settings = inputs[8:]
    ctx.save_for_backward(x, weight, gamma, beta, output[1])
    ctx.mark_non_differentiable(*output[1:])


_gradient("conv_block_forward", _block_backward, _block_setup)


class _TrainBlock(torch.autograd.Function):
    """conv_block_train, which changes the running statistics in place: not for what traces."""

    @staticmethod
    def forward(ctx, x, weight, bias, gamma, beta, running_mean, running_var, momentum, *settings):
        output, saved = _block_train(x, weight, bias, gamma, beta, running_mean, running_var, momentum, *settings)
        ctx.settings = settings
        ctx.save_for_backward(x, weight, gamma, beta, saved)
        return output

    backward = _once(_block_backward)


_train_block = super(torch.autograd.Function, _TrainBlock).apply  # Function.apply looks for transforms first
_library.define(
    "conv_bn_relu_pool(Tensor x, Tensor weight, Tensor? bias, Tensor gamma, Tensor beta, Tensor(a!) running_mean, "
    "Tensor(b!) running_var, bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor")


def _plain_block(x, weight, bias, gamma, beta, running_mean, running_var, training, momentum, eps):
    """Without anything around it, and with running statistics that are contiguous."""
    graph = torch.is_grad_enabled()
    if training:
        return _train_block(x, weight, bias, gamma, beta, running_mean, running_var, momentum, eps,
                            graph and x.requires_grad, _C._get_cudnn_allow_tf32())
    _check(not (graph and (x.requires_grad or weight.requires_grad or gamma.requires_grad or beta.requires_grad or
                           bias is not None and bias.requires_grad)),
           "conv_bn_relu_pool: evaluation has no gradient; use torch.no_grad(), or training=True")
    return _block_inference(x, weight, bias, gamma, beta, running_mean, running_var, eps, _C._get_cudnn_allow_tf32())


@torch.library.impl(_library, "conv_bn_relu_pool", "CompositeImplicitAutograd")
def _conv_bn_relu_pool(x, weight, bias, gamma, beta, running_mean, running_var, training=False, momentum=0.1, eps=1e-5):
    if not training or (_is_eager(x, weight, bias, gamma, beta, running_mean, running_var) and
                        running_mean.is_contiguous() and running_var.is_contiguous()):
        return _plain_block(x, weight, bias, gamma, beta, running_mean, running_var, training, momentum, eps)
    output, _, mean, var = ops.conv_block_forward(
        x, weight, bias, gamma, beta, running_mean, running_var, momentum, eps,
        torch.is_grad_enabled() and x.requires_grad, _C._get_cudnn_allow_tf32())
    with torch.no_grad():
        running_mean.copy_(mean)
        running_var.copy_(var)
    return output


# --- autocast --------------------------------------------------------------------------------------------------------

# These compute in float32 and take nothing else; autocast brings inputs there, as it does for PyTorch's own
# cross_entropy and layer_norm. So does matmul: its rungs are named by type, and autocast must not change their names.
for _name in ("polynomial", "softmax_cross_entropy", "layernorm", "matmul", "conv_bn_relu_pool"):
    for _device in ("cpu", "cuda"):
        torch.library.register_autocast("heddle::" + _name, _device, torch.float32, lib=_library)


# --- as functions ----------------------------------------------------------------------------------------------------

# With nothing around that has to see the operators, these call the kernels at once, in a fraction of the host's time.

def polynomial(x, coefficients=(1.0, 1.0, 1.0)):
    """coefficients[0] + coefficients[1] x + coefficients[2] x² + ..., element by element; up to x⁷."""
    if _is_plain(x):
        return _plain_polynomial(x.requires_grad, x, list(coefficients))
    return ops.polynomial(x, list(coefficients))


def softmax_cross_entropy(logits, target, ignore_index=IGNORED, reduction="mean"):
    """As torch.nn.functional.cross_entropy of logits (..., classes) and class numbers (...)."""
    if _is_plain(logits, target):
        wanted = logits.requires_grad
        return _loss(logits, target, ignore_index, reduction, partial(_plain_token_loss, wanted),
                     partial(_plain_loss_and_gradient, wanted))
    return ops.softmax_cross_entropy(logits, target, ignore_index, reduction)


def layernorm(input, weight, bias, eps=1e-5):
    """As torch.nn.functional.layer_norm over the dimensions of weight."""
    if _is_plain(input, weight, bias) and weight.dim() == 1:
        wanted = input.requires_grad or weight.requires_grad or bias.requires_grad
        return _plain_layernorm(wanted, input, weight, bias, eps)[0]
    return ops.layernorm(input, weight, bias, eps)


def matmul(a, b, rung=""):
    """a times b, by the best rung or by the named one: rungs("matmul") lists them."""
    if _is_plain(a, b):
        return _plain_matmul(a.requires_grad or b.requires_grad, a, b, rung, False, False)
    return ops.matmul(a, b, rung)


def conv_bn_relu_pool(x, weight, bias, gamma, beta, running_mean, running_var, training=False, momentum=0.1, eps=1e-5):
    """max_pool2d(relu(batch_norm(conv2d(x, weight, bias, padding=1), ...)), 2) with a 3×3 weight, in one operator."""
    if _is_plain(x, weight, bias, gamma, beta, running_mean, running_var) and running_mean.is_contiguous() and \
            running_var.is_contiguous():
        return _plain_block(x, weight, bias, gamma, beta, running_mean, running_var, training, momentum, eps)
    return ops.conv_bn_relu_pool(x, weight, bias, gamma, beta, running_mean, running_var, training, momentum, eps)

// The operators of heddle/tensor.h: each checks its tensors' shapes, so that errors speak of tensors, and applies an
// operator of ops/.

#include "nn/tensor.h"

#include <stdio.h>
#include <string.h>

#include "heddle/ops.h"

static bool same_shape(const heddle_tensor *a, const heddle_tensor *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

// The output of an operator over all elements, or over rows, in the shape of its input: still that operator's output.
static heddle_tensor *shaped_as(heddle_tensor *output, const heddle_tensor *like)
{
    heddle_tensor *shaped = heddle_reshape(output, like->rank, like->dims);
    if (!shaped)
        return NULL;
    output->released = true;
    memcpy(shaped->op, output->op, sizeof shaped->op);
    memcpy(shaped->parents, output->parents, sizeof shaped->parents);
    shaped->parent_count = output->parent_count;
    return shaped;
}

// "(2, 3)"; returns `text`.
static const char *shape_text(const heddle_tensor *tensor, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "(");
    for (int i = 0; i < tensor->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%d", i ? ", " : "", (int)tensor->dims[i]);
    if (used < size)
        snprintf(text + used, size - used, ")");
    return text;
}

static heddle_tensor *binary(const char *op_name, const char *what, heddle_tensor *a, heddle_tensor *b)
{
    if (!a || !b)
        return NULL;
    char first[80], second[80];
    if (!same_shape(a, b))
        return heddle_tensor_failed(
            a->context, heddle_fail(HEDDLE_INVALID, "%s needs two tensors of the same shape, not %s and %s", what,
                                    shape_text(a, first, sizeof first), shape_text(b, second, sizeof second)));
    heddle_elements_shape shape = {.n = (int)heddle_tensor_elements(a)};
    heddle_argument arguments[] = {{"a", a}, {"b", b}};
    heddle_tensor *output = heddle_tensor_apply(a->context, op_name, &shape, arguments, 2, "output");
    return shaped_as(output, a);
}

heddle_tensor *heddle_add(heddle_tensor *a, heddle_tensor *b)
{
    return binary("add_forward", "heddle_add", a, b);
}

heddle_tensor *heddle_multiply(heddle_tensor *a, heddle_tensor *b)
{
    return binary("multiply_forward", "heddle_multiply", a, b);
}

// Operators over all elements, whose output is one number or has the input's shape.
static heddle_tensor *unary(const char *op_name, heddle_tensor *input, bool keep_shape)
{
    if (!input)
        return NULL;
    heddle_elements_shape shape = {.n = (int)heddle_tensor_elements(input)};
    heddle_argument arguments[] = {{"input", input}};
    heddle_tensor *output = heddle_tensor_apply(input->context, op_name, &shape, arguments, 1, "output");
    return keep_shape ? shaped_as(output, input) : output;
}

heddle_tensor *heddle_sum(heddle_tensor *a)
{
    return unary("sum_forward", a, false);
}

heddle_tensor *heddle_mean(heddle_tensor *a)
{
    return unary("mean_forward", a, false);
}

heddle_tensor *heddle_relu(heddle_tensor *input)
{
    return unary("relu_forward", input, true);
}

heddle_tensor *heddle_tanh(heddle_tensor *input)
{
    return unary("tanh_forward", input, true);
}

heddle_tensor *heddle_sigmoid(heddle_tensor *input)
{
    return unary("sigmoid_forward", input, true);
}

heddle_tensor *heddle_elu(heddle_tensor *input)
{
    return unary("elu_forward", input, true);
}

heddle_tensor *heddle_gelu(heddle_tensor *input)
{
    return unary("gelu_forward", input, true);
}

heddle_tensor *heddle_softplus(heddle_tensor *input)
{
    return unary("softplus_forward", input, true);
}

heddle_tensor *heddle_swish(heddle_tensor *input)
{
    return unary("swish_forward", input, true);
}

// Fails unless the tensor has this rank.
static bool check_rank(const char *what, const char *which, const heddle_tensor *tensor, int rank)
{
    if (tensor->rank == rank)
        return true;
    heddle_tensor_failed(tensor->context, heddle_fail(HEDDLE_INVALID, "%s: %s must have %d dimensions, has %d", what,
                                                      which, rank, tensor->rank));
    return false;
}

heddle_tensor *heddle_matmul(heddle_tensor *a, heddle_tensor *b)
{
    if (!a || !b || !check_rank("heddle_matmul", "a", a, 2) || !check_rank("heddle_matmul", "b", b, 2))
        return NULL;
    if (a->dims[1] != b->dims[0])
        return heddle_tensor_failed(a->context,
                                    heddle_fail(HEDDLE_INVALID, "heddle_matmul: (%d, %d) times (%d, %d) do not fit",
                                                a->dims[0], a->dims[1], b->dims[0], b->dims[1]));
    heddle_matmul_shape shape = {.m = a->dims[0], .n = b->dims[1], .k = a->dims[1], .alpha = 1.0F};
    heddle_argument arguments[] = {{"a", a}, {"b", b}};
    return heddle_tensor_apply(a->context, "matmul_forward", &shape, arguments, 2, "output");
}

heddle_tensor *heddle_linear(heddle_tensor *input, heddle_tensor *weight, heddle_tensor *bias)
{
    if (!input || !weight || !check_rank("heddle_linear", "input", input, 2) ||
        !check_rank("heddle_linear", "weight", weight, 2))
        return NULL;
    if (input->dims[1] != weight->dims[1])
        return heddle_tensor_failed(input->context,
                                    heddle_fail(HEDDLE_INVALID, "heddle_linear: input has %d features, weight takes %d",
                                                input->dims[1], weight->dims[1]));
    heddle_linear_shape shape = {.n = input->dims[0], .in = input->dims[1], .out = weight->dims[0]};
    heddle_argument arguments[] = {{"input", input}, {"weight", weight}, {"bias", bias}};
    return heddle_tensor_apply(input->context, "linear_forward", &shape, arguments, 3, "output");
}

heddle_tensor *heddle_conv2d(heddle_tensor *input, heddle_tensor *weight, heddle_tensor *bias, int stride, int padding,
                             int dilation)
{
    if (!input || !weight || !check_rank("heddle_conv2d", "input", input, 4) ||
        !check_rank("heddle_conv2d", "weight", weight, 4))
        return NULL;
    if (input->dims[1] != weight->dims[1])
        return heddle_tensor_failed(input->context,
                                    heddle_fail(HEDDLE_INVALID, "heddle_conv2d: input has %d channels, weight takes %d",
                                                input->dims[1], weight->dims[1]));
    heddle_conv2d_shape shape = {
        .n = input->dims[0],
        .c = input->dims[1],
        .h = input->dims[2],
        .w = input->dims[3],
        .k = weight->dims[0],
        .r = weight->dims[2],
        .s = weight->dims[3],
        .stride = stride,
        .padding = padding,
        .dilation = dilation,
    };
    heddle_argument arguments[] = {{"input", input}, {"weight", weight}, {"bias", bias}};
    return heddle_tensor_apply(input->context, "conv2d_forward", &shape, arguments, 3, "output");
}

heddle_tensor *heddle_batchnorm2d(heddle_tensor *input, heddle_tensor *gamma, heddle_tensor *beta, float epsilon)
{
    if (!input || !gamma || !beta || !check_rank("heddle_batchnorm2d", "input", input, 4))
        return NULL;
    heddle_batchnorm2d_shape shape = {
        .n = input->dims[0], .c = input->dims[1], .h = input->dims[2], .w = input->dims[3], .epsilon = epsilon};
    heddle_argument arguments[] = {{"input", input}, {"gamma", gamma}, {"beta", beta}};
    return heddle_tensor_apply(input->context, "batchnorm2d_forward", &shape, arguments, 3, "output");
}

static heddle_tensor *pool2d(const char *op_name, const char *what, heddle_tensor *input, int window, int stride,
                             int padding)
{
    if (!input || !check_rank(what, "input", input, 4))
        return NULL;
    heddle_pool2d_shape shape = {
        .n = input->dims[0],
        .c = input->dims[1],
        .h = input->dims[2],
        .w = input->dims[3],
        .window = window,
        .stride = stride,
        .padding = padding,
    };
    heddle_argument arguments[] = {{"input", input}};
    return heddle_tensor_apply(input->context, op_name, &shape, arguments, 1, "output");
}

heddle_tensor *heddle_maxpool2d(heddle_tensor *input, int window, int stride, int padding)
{
    return pool2d("maxpool2d_forward", "heddle_maxpool2d", input, window, stride, padding);
}

heddle_tensor *heddle_avgpool2d(heddle_tensor *input, int window, int stride, int padding)
{
    return pool2d("avgpool2d_forward", "heddle_avgpool2d", input, window, stride, padding);
}

heddle_tensor *heddle_dropout(heddle_tensor *input, float probability)
{
    if (!input)
        return NULL;
    heddle_context *context = input->context;
    int64_t state[] = {(int64_t)context->dropout_random.seed, (int64_t)context->dropout_random.sequence,
                       (int64_t)context->dropout_random.position};
    int words = sizeof state / sizeof *state;
    heddle_tensor *random = heddle_tensor_make(context, HEDDLE_I64, 1, &words, state);
    if (!random)
        return NULL;
    random->released = true;
    heddle_dropout_shape shape = {.n = (int)heddle_tensor_elements(input), .probability = probability};
    context->dropout_random.position += (uint64_t)shape.n;
    heddle_argument arguments[] = {{"input", input}, {"random", random}};
    heddle_tensor *output = heddle_tensor_apply(context, "dropout_forward", &shape, arguments, 2, "output");
    return shaped_as(output, input);
}

static heddle_rows_shape rows_of(const heddle_tensor *tensor)
{
    int cols = tensor->rank ? tensor->dims[tensor->rank - 1] : 1;
    return (heddle_rows_shape){.rows = cols ? (int)(heddle_tensor_elements(tensor) / (size_t)cols) : 0, .cols = cols};
}

static heddle_tensor *along_rows(const char *op_name, heddle_tensor *input)
{
    if (!input)
        return NULL;
    heddle_rows_shape shape = rows_of(input);
    heddle_argument arguments[] = {{"input", input}};
    heddle_tensor *output = heddle_tensor_apply(input->context, op_name, &shape, arguments, 1, "output");
    return shaped_as(output, input);
}

heddle_tensor *heddle_softmax(heddle_tensor *input)
{
    return along_rows("softmax_forward", input);
}

heddle_tensor *heddle_log_softmax(heddle_tensor *input)
{
    return along_rows("log_softmax_forward", input);
}

heddle_tensor *heddle_cross_entropy(heddle_tensor *logits, heddle_tensor *labels)
{
    if (!logits || !labels)
        return NULL;
    heddle_rows_shape shape = rows_of(logits);
    heddle_argument arguments[] = {{"logits", logits}, {"labels", labels}};
    return heddle_tensor_apply(logits->context, "cross_entropy_forward", &shape, arguments, 2, "loss");
}

heddle_tensor *heddle_reshape(heddle_tensor *input, int rank, const int *dims)
{
    if (!input)
        return NULL;
    heddle_value from, value;
    heddle_status status = heddle_tensor_value(input, &from);
    if (status == HEDDLE_OK)
        status = heddle_trace_reshape(&input->context->trace, from, rank, dims, &value);
    if (status != HEDDLE_OK)
        return heddle_tensor_failed(input->context, status);
    heddle_tensor *shaped = heddle_tensor_of(input->context, value);
    if (shaped) {
        snprintf(shaped->op, sizeof shaped->op, "reshape");
        shaped->parents[shaped->parent_count++] = input;
    }
    return shaped;
}

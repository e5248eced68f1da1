// rows_norm: everything between two products of a network over rows of bf16: batchnorm, a residual, a function,
// pooling. Its cost, reference and ladders.

#include "ops/rows_norm/rows_norm.h"

#include <math.h>

#include "ops/rows_define.h"

typedef heddle_rows_norm_shape norm_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(norm_shape, n, "images")},
    {HEDDLE_REQUIRED_INT(norm_shape, h, "lines of an image that hold results")},
    {HEDDLE_REQUIRED_INT(norm_shape, w, "pixels of a line that hold results")},
    {HEDDLE_REQUIRED_INT(norm_shape, pitch, "input rows from line to line")},
    {HEDDLE_REQUIRED_INT(norm_shape, image_rows, "input rows from image to image")},
    {HEDDLE_REQUIRED_INT(norm_shape, c, "channels, a multiple of 8")},
    {HEDDLE_OPTIONAL_INT(norm_shape, normalise, 0, "1: batchnorm first")},
    {HEDDLE_OPTIONAL_INT(norm_shape, function, 0, "0: none, 1: relu, 2: tanh, 3: sigmoid")},
    {HEDDLE_OPTIONAL_INT(norm_shape, window, 1, "of the pooling; 1: none")},
    {HEDDLE_OPTIONAL_INT(norm_shape, average, 0, "0: the largest of a window, 1: the mean")},
    {HEDDLE_OPTIONAL_INT(norm_shape, gap, 0, "lines below and pixels right of an output image")},
    {HEDDLE_OPTIONAL_INT(norm_shape, flat, 0, "1: a row of the output is a whole image")},
    {HEDDLE_OPTIONAL_FLOAT(norm_shape, epsilon, 1e-5, "added to the variance")},
    {HEDDLE_OPTIONAL_FLOAT(norm_shape, momentum, 0.1, "weight of this batch in the running statistics")},
    {HEDDLE_ROWS_HALF(norm_shape)},
    {HEDDLE_ROWS_PAIRS(norm_shape)},
    {HEDDLE_ROWS_INT8(norm_shape)},
    {HEDDLE_OPTIONAL_FLOAT(norm_shape, scale, 1, "of bytes: factor of the input")},
    {HEDDLE_OPTIONAL_FLOAT(norm_shape, add_scale, 1, "of bytes: factor of what is added")},
};

HEDDLE_ROWS_ANY_ELEMENT(element, norm_shape)

static heddle_status validate(const void *shape_)
{
    const norm_shape *shape = shape_;
    if (shape->n < 1 || shape->h < 1 || shape->w < 1 || shape->c < 1 || shape->window < 1)
        return heddle_fail(HEDDLE_INVALID, "rows_norm: n, h, w, c and window must be at least 1");
    if (shape->c % HEDDLE_ROWS_ALIGNMENT)
        return heddle_fail(HEDDLE_INVALID, "rows_norm: c=%d must be a multiple of %d", shape->c, HEDDLE_ROWS_ALIGNMENT);
    if (shape->window > shape->h || shape->window > shape->w)
        return heddle_fail(HEDDLE_INVALID, "rows_norm: a window of %d in images of %d x %d", shape->window, shape->h,
                           shape->w);
    if (shape->pitch < shape->w || (double)shape->image_rows < (double)shape->pitch * shape->h ||
        shape->image_rows % shape->pitch)
        return heddle_fail(HEDDLE_INVALID, "rows_norm: %d x %d results do not fit into %d rows with %d per line",
                           shape->h, shape->w, shape->image_rows, shape->pitch);
    if ((double)shape->n * (shape->h + shape->gap) * ((double)shape->w + shape->gap) * shape->c > 2e9)
        return heddle_fail(HEDDLE_INVALID, "rows_norm: more than 2e9 elements of output, with a gap of %d", shape->gap);
    if ((double)shape->n * shape->image_rows * shape->c > 2e9)
        return heddle_fail(HEDDLE_INVALID, "rows_norm: more than 2e9 elements");
    if (shape->normalise > 1 || shape->average > 1 || shape->function >= HEDDLE_ROWS_FUNCTIONS)
        return heddle_fail(HEDDLE_INVALID, "rows_norm: normalise=%d average=%d function=%d", shape->normalise,
                           shape->average, shape->function);
    if (shape->flat > 1 || (shape->flat && shape->gap))
        return heddle_fail(HEDDLE_INVALID, "rows_norm: flat=%d gap=%d: images without a gap can be rows", shape->flat,
                           shape->gap);
    if (shape->epsilon < 0)
        return heddle_fail(HEDDLE_INVALID, "rows_norm: epsilon=%g is negative", (double)shape->epsilon);
    if (shape->int8 && (shape->normalise || shape->c % HEDDLE_ROWS_BYTE_ALIGNMENT))
        return heddle_fail(HEDDLE_INVALID, "rows_norm: c=%d of bytes must be a multiple of %d, and normalise=%d zero",
                           shape->c, HEDDLE_ROWS_BYTE_ALIGNMENT, shape->normalise);
    return HEDDLE_OK;
}

// The gradient has no kernels for bytes.
static heddle_status validate_floats(const void *shape)
{
    HEDDLE_TRY(validate(shape));
    return heddle_rows_is_floats("rows_norm_backward", ((const norm_shape *)shape)->int8);
}

// --- operands -------------------------------------------------------------------------------------------------------

HEDDLE_DIMS(dims_input, norm_shape, heddle_rows_norm_in_rows(shape), shape->c)
HEDDLE_DIMS(dims_added, norm_shape, heddle_rows_norm_out_rows(shape), shape->c)
HEDDLE_DIMS(dims_output, norm_shape, shape->flat ? shape->n : heddle_rows_norm_out_rows(shape),
            shape->flat ? heddle_rows_norm_out_h(shape) * heddle_rows_norm_out_w(shape) * shape->c : shape->c)
HEDDLE_DIMS(dims_sums, norm_shape, 2, shape->c)
HEDDLE_DIMS(dims_channels, norm_shape, shape->c)

#define ROWS(text, part, size) HEDDLE_ROWS_OPERAND(text, part, HEDDLE_VALUES_NORMAL, size)
#define SUMS                   .name = "sums", .role = HEDDLE_INPUT, .dtype = HEDDLE_F32, .values = HEDDLE_VALUES_OWN, .dims = dims_sums

static const heddle_operand forward_operands[] = {
    {ROWS("input", HEDDLE_INPUT, dims_input)},
    {SUMS},
    {HEDDLE_FLOAT_INPUT("gamma", HEDDLE_VALUES_NORMAL, dims_channels)},
    {HEDDLE_FLOAT_INPUT("beta", HEDDLE_VALUES_NORMAL, dims_channels)},
    {ROWS("add", HEDDLE_INPUT, dims_added), .optional = true},
    {ROWS("output", HEDDLE_OUTPUT, dims_output)},
    {HEDDLE_FLOAT_UPDATE("running_mean", HEDDLE_VALUES_NORMAL, dims_channels), .optional = true},
    {HEDDLE_FLOAT_UPDATE("running_var", HEDDLE_VALUES_POSITIVE, dims_channels), .optional = true},
};

static const heddle_operand backward_operands[] = {
    {ROWS("grad_output", HEDDLE_INPUT, dims_output)},
    {ROWS("grad_more", HEDDLE_INPUT, dims_output), .optional = true},
    {ROWS("input", HEDDLE_INPUT, dims_input)},
    {SUMS},
    {HEDDLE_FLOAT_INPUT("gamma", HEDDLE_VALUES_NORMAL, dims_channels)},
    {HEDDLE_FLOAT_INPUT("beta", HEDDLE_VALUES_NORMAL, dims_channels)},
    {ROWS("add", HEDDLE_INPUT, dims_added), .optional = true},
    {ROWS("grad_input", HEDDLE_OUTPUT, dims_input)},
    {HEDDLE_FLOAT_OUTPUT("grad_gamma", dims_channels)},
    {HEDDLE_FLOAT_OUTPUT("grad_beta", dims_channels)},
    {ROWS("grad_add", HEDDLE_OUTPUT, dims_added), .optional = true},
};

// Sums for results of mean 0.25 and variance 1.5.
static void fill(const void *shape_, int operand, uint64_t seed, double *values)
{
    (void)seed;
    (void)operand;
    const norm_shape *shape = shape_;
    const double count = (double)shape->n * shape->h * shape->w;
    for (int i = 0; i < shape->c; i++) {
        values[i] = 0.25 * count;
        values[shape->c + i] = (1.5 + 0.25 * 0.25) * count;
    }
}

// --- the reference --------------------------------------------------------------------------------------------------

// Factor and addend of one channel, so that xhat = (x - mean) * inverse and z = gamma * xhat + beta.
typedef struct channel {
    double mean, inverse, gamma, beta;
} channel;

static channel channel_of(const norm_shape *shape, const double *sums, const double *gamma, const double *beta, int c)
{
    if (!shape->normalise)
        return (channel){0, 1, shape->int8 ? shape->scale : 1, 0};
    const double count = (double)shape->n * shape->h * shape->w, mean = sums[c] / count;
    const double variance = sums[shape->c + c] / count - mean * mean;
    return (channel){mean, 1 / sqrt(variance + shape->epsilon), gamma[c], beta[c]};
}

// Element of the input at line y, pixel x of image n.
static size_t input_at(const norm_shape *shape, int n, int y, int x, int c)
{
    return ((size_t)n * shape->image_rows + (size_t)y * shape->pitch + x) * shape->c + c;
}

static size_t output_at(const norm_shape *shape, int n, int y, int x, int c)
{
    const int lines = heddle_rows_norm_out_h(shape) + shape->gap, pitch = heddle_rows_norm_out_w(shape) + shape->gap;
    return (((size_t)n * lines + y) * pitch + x) * shape->c + c;
}

// z at place i of the window of an output element.
static double z_of(const norm_shape *shape, const channel *by, const double *input, const double *add, int n, int y,
                   int x, int c, int i)
{
    const int w = shape->window;
    const double value = input[input_at(shape, n, y * w + i / w, x * w + i % w, c)];
    const double added = add ? add[output_at(shape, n, y, x, c)] : 0;
    return by->gamma * (value - by->mean) * by->inverse + by->beta + added * (shape->int8 ? shape->add_scale : 1);
}

static int winner_of(const norm_shape *shape, const channel *by, const double *input, const double *add, int n, int y,
                     int x, int c)
{
    int best = 0;
    double most = z_of(shape, by, input, add, n, y, x, c, 0);
    for (int i = 1; i < shape->window * shape->window; i++) {
        const double z = z_of(shape, by, input, add, n, y, x, c, i);
        if (z > most) {
            most = z;
            best = i;
        }
    }
    return best;
}

// Runs the last argument for every output element; `by` is its channel's.
#define FOR_OUTPUTS(shape, sums, gamma, beta, ...)                                                                     \
    for (int c = 0; c < (shape)->c; c++) {                                                                             \
        const channel by = channel_of(shape, sums, gamma, beta, c);                                                    \
        for (int n = 0; n < (shape)->n; n++)                                                                           \
            for (int y = 0; y < heddle_rows_norm_out_h(shape); y++)                                                    \
                for (int x = 0; x < heddle_rows_norm_out_w(shape); x++)                                                \
                    __VA_ARGS__                                                                                        \
    }

static void update_running(const norm_shape *shape, const double *sums, double *mean, double *variance)
{
    const double count = (double)shape->n * shape->h * shape->w, keep = 1 - shape->momentum;
    for (int c = 0; c < shape->c && mean && variance && shape->normalise; c++) {
        const double now = sums[c] / count, spread = sums[shape->c + c] / count - now * now;
        mean[c] = keep * mean[c] + shape->momentum * now;
        variance[c] = keep * variance[c] + shape->momentum * spread * (count > 1 ? count / (count - 1) : 1);
    }
}

static void forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const norm_shape *shape = shape_;
    const int places = shape->window * shape->window;
    for (size_t i = 0; i < (size_t)heddle_rows_norm_out_rows(shape) * shape->c; i++)
        output[0][i] = 0;
    FOR_OUTPUTS(shape, input[1], input[2], input[3], {
        double value = 0;
        if (shape->average)
            for (int i = 0; i < places; i++)
                value +=
                    heddle_rows_activate(shape->function, z_of(shape, &by, input[0], input[4], n, y, x, c, i)) / places;
        else
            value = heddle_rows_activate(shape->function, z_of(shape, &by, input[0], input[4], n, y, x, c,
                                                               winner_of(shape, &by, input[0], input[4], n, y, x, c)));
        output[0][output_at(shape, n, y, x, c)] = shape->int8 ? heddle_rows_byte(shape->function, value) : value;
    })
    update_running(shape, input[1], output[1], output[2]);
}

// The gradient of z at place i of a window.
static double grad_z(const norm_shape *shape, const channel *by, const double *const *input, int n, int y, int x, int c,
                     int i)
{
    const size_t at = output_at(shape, n, y, x, c);
    const double grad = input[0][at] + (input[1] ? input[1][at] : 0);
    const double z = z_of(shape, by, input[2], input[6], n, y, x, c, i);
    const double bend = heddle_rows_slope(shape->function, heddle_rows_activate(shape->function, z));
    if (shape->average)
        return grad * bend / (shape->window * shape->window);
    return winner_of(shape, by, input[2], input[6], n, y, x, c) == i ? grad * bend : 0;
}

// grad_input of one channel, given the sums of grad_z and of grad_z * xhat.
static void channel_gradient(const norm_shape *shape, const channel *by, const double *const *input, int c,
                             const double sum[2], double *grad_input)
{
    const double count = (double)shape->n * shape->h * shape->w;
    const int w = shape->window, out_h = heddle_rows_norm_out_h(shape), out_w = heddle_rows_norm_out_w(shape);
    for (int n = 0; n < shape->n; n++)
        for (int line = 0; line < shape->h; line++)
            for (int pixel = 0; pixel < shape->w; pixel++) {
                const size_t at = input_at(shape, n, line, pixel, c);
                const int y = line / w, x = pixel / w;
                const double grad =
                    y < out_h && x < out_w ? grad_z(shape, by, input, n, y, x, c, line % w * w + pixel % w) : 0;
                const double xhat = (input[2][at] - by->mean) * by->inverse;
                grad_input[at] = !shape->normalise
                                     ? grad
                                     : by->gamma * by->inverse * (grad - sum[0] / count - xhat * sum[1] / count);
            }
}

static void backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const norm_shape *shape = shape_;
    for (size_t i = 0; i < (size_t)heddle_rows_norm_in_rows(shape) * shape->c; i++)
        output[0][i] = 0;
    for (size_t i = 0; output[3] && i < (size_t)heddle_rows_norm_out_rows(shape) * shape->c; i++)
        output[3][i] = 0;
    for (int c = 0; c < shape->c; c++)
        output[1][c] = output[2][c] = 0;
    FOR_OUTPUTS(shape, input[3], input[4], input[5], {
        for (int i = 0; i < shape->window * shape->window; i++) {
            const double grad = grad_z(shape, &by, input, n, y, x, c, i);
            const int w = shape->window;
            const double value = input[2][input_at(shape, n, y * w + i / w, x * w + i % w, c)];
            output[1][c] += shape->normalise ? grad * (value - by.mean) * by.inverse : 0;
            output[2][c] += shape->normalise ? grad : 0;
            if (output[3])
                output[3][output_at(shape, n, y, x, c)] += grad;
        }
    })
    for (int c = 0; c < shape->c; c++) {
        const channel by = channel_of(shape, input[3], input[4], input[5], c);
        const double sum[] = {output[2][c], output[1][c]};
        channel_gradient(shape, &by, input, c, sum, output[0]);
    }
}

// --- cost -----------------------------------------------------------------------------------------------------------

static heddle_cost forward_cost(const void *shape_)
{
    const norm_shape *shape = shape_;
    const double bytes = (double)heddle_dtype_size(element(shape));
    const double results = (double)shape->n * shape->h * shape->w * shape->c;
    return (heddle_cost){.flops = 4 * results,
                         .bytes_read = bytes * results,
                         .bytes_written = bytes * (double)heddle_rows_norm_out_rows(shape) * shape->c};
}

// Input and gradient are read once for the sums and once more for the result.
static heddle_cost backward_cost(const void *shape_)
{
    const norm_shape *shape = shape_;
    const double bytes = (double)heddle_dtype_size(element(shape));
    const double results = (double)shape->n * shape->h * shape->w * shape->c;
    const double grads = (double)heddle_rows_norm_out_rows(shape) * shape->c;
    return (heddle_cost){.flops = 10 * results,
                         .bytes_read = bytes * (shape->normalise ? 2 : 1) * (results + grads),
                         .bytes_written = bytes * (double)heddle_rows_norm_in_rows(shape) * shape->c};
}

HEDDLE_OF_SHAPE(int64_t, backward_reduction, norm_shape, (int64_t)shape->n * shape->h * shape->w)
HEDDLE_OF_SHAPE(int64_t, forward_reduction, norm_shape, (int64_t)shape->window * shape->window)

#define FLOAT_SHAPES                                                                                                   \
    "n=1 h=1 w=1 pitch=1 image_rows=1 c=8", "n=3 h=1 w=1 pitch=1 image_rows=1 c=24 function=1 half=1",                 \
        "n=2 h=5 w=3 pitch=4 image_rows=24 c=8 normalise=1 function=1 gap=1",                                          \
        "n=3 h=6 w=4 pitch=5 image_rows=35 c=16 normalise=1 function=1 window=2 gap=1 half=1",                         \
        "n=2 h=5 w=7 pitch=8 image_rows=48 c=8 normalise=1 function=1 window=2",                                       \
        "n=2 h=6 w=6 pitch=6 image_rows=36 c=16 function=2 window=2 average=1 half=1",                                 \
        "n=2 h=4 w=4 pitch=5 image_rows=25 c=72 normalise=1 function=3 window=4 average=1",                            \
        "n=5 h=7 w=9 pitch=10 image_rows=80 c=40 normalise=1 gap=1 half=1",                                            \
        "n=2 h=3 w=3 pitch=3 image_rows=9 c=8 window=3",                                                               \
        "n=3 h=7 w=10 pitch=11 image_rows=88 c=136 normalise=1 function=1 window=3 average=1 gap=1",                   \
        "n=2 h=8 w=9 pitch=9 image_rows=72 c=88 normalise=1 function=2 window=4 half=1",                               \
        "n=1 h=1 w=1 pitch=1 image_rows=1 c=8 pairs=1",                                                                \
        "n=2 h=5 w=3 pitch=4 image_rows=24 c=8 normalise=1 function=1 gap=1 pairs=1",                                  \
        "n=3 h=6 w=4 pitch=5 image_rows=35 c=16 normalise=1 function=1 window=2 gap=1 pairs=1",                        \
        "n=2 h=6 w=6 pitch=6 image_rows=36 c=16 function=2 window=2 average=1 pairs=1",                                \
        "n=2 h=4 w=4 pitch=5 image_rows=25 c=72 normalise=1 function=1 window=4 average=1 pairs=1",                    \
        "n=2 h=3 w=7 pitch=8 image_rows=24 c=24 function=3 window=3 pairs=1",                                          \
        "n=5 h=7 w=9 pitch=10 image_rows=80 c=40 normalise=1 gap=1 pairs=1",                                           \
        "n=3 h=4 w=6 pitch=7 image_rows=35 c=16 normalise=1 function=1 window=2 flat=1 pairs=1"
static const char *const float_shapes[] = {FLOAT_SHAPES, NULL};
static const char *const forward_shapes[] = {
    FLOAT_SHAPES,
    "n=2 h=6 w=4 pitch=5 image_rows=35 c=16 window=2 gap=1 int8=1",
    "n=2 h=5 w=3 pitch=4 image_rows=24 c=48 function=1 gap=1 scale=0.5 add_scale=0.75 int8=1",
    "n=2 h=6 w=6 pitch=6 image_rows=36 c=16 window=2 average=1 scale=0.5 add_scale=0.5 int8=1",
    "n=2 h=4 w=4 pitch=5 image_rows=25 c=32 function=1 window=4 average=1 int8=1",
    "n=2 h=9 w=9 pitch=9 image_rows=81 c=16 window=3 add_scale=2 int8=1",
    NULL};
static const char *const bench_shapes[] = {
    "n=1024 h=32 w=32 pitch=33 image_rows=1089 c=64 normalise=1 function=1 gap=1",
    "n=1024 h=32 w=32 pitch=33 image_rows=1089 c=64 normalise=1 function=1 window=2 gap=1",
    "n=64 h=32 w=32 pitch=33 image_rows=1089 c=64 normalise=1 function=1 window=2 gap=1", NULL};

// --- ladders --------------------------------------------------------------------------------------------------------

HEDDLE_BY_REFERENCE(rows_norm_forward)
HEDDLE_BY_REFERENCE(rows_norm_backward)

// The parts of a channel's two sums, one per block.
HEDDLE_WORKSPACE(backward_workspace, norm_shape, (size_t)HEDDLE_ROWS_NORM_BLOCKS * 2 * (size_t)shape->c * sizeof(float))

// A thread of the sums keeps its channels, so that a block has all of them.
HEDDLE_OF_SHAPE(bool, takes_sums, norm_shape, !shape->normalise || shape->c <= 2048)

static const heddle_rung forward_ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_norm_forward),
    {"01_vectorised", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "eight channels of one output pixel per thread: limited by memory bandwidth", NULL, NULL, .capability = 90},
};

static const heddle_rung backward_ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_norm_backward),
    {"01_vectorised", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "eight channels of one window per thread, once for the sums and once for the gradient: limited by memory "
     "bandwidth",
     takes_sums, backward_workspace, .capability = 90},
};

#define ROWS_NORM(title, about)                                                                                        \
    .name = (title), .ladder_name = "rows_norm", .summary = (about), .shape_size = sizeof(norm_shape),                 \
    HEDDLE_FIELDS(fields), .element = element, .bench_shapes = bench_shapes

const heddle_op heddle_op_rows_norm_forward = {
    ROWS_NORM("rows_norm_forward", "batchnorm, residual, function and pooling of rows of bf16"),
    .validate = validate,
    .test_shapes = forward_shapes,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = forward_reference,
    .reduction = forward_reduction,
    .fill = fill,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_rows_norm_backward = {
    ROWS_NORM("rows_norm_backward", "their gradients"),
    .validate = validate_floats,
    .test_shapes = float_shapes,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = backward_reference,
    .reduction = backward_reduction,
    .fill = fill,
    HEDDLE_LADDER(backward_ladder),
};

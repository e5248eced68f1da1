// rows_patches: what a filter sees at each of its places, as rows of bf16, so that any convolution becomes a product.
// Its cost, reference and ladders.

#include "ops/rows_patches/rows_patches.h"

#include "ops/rows_define.h"

typedef heddle_rows_patches_shape patches_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(patches_shape, n, "images of the frame")},
    {HEDDLE_REQUIRED_INT(patches_shape, h, "lines of an image")},
    {HEDDLE_REQUIRED_INT(patches_shape, w, "pixels of a line")},
    {HEDDLE_OPTIONAL_INT(patches_shape, gap, 0, "lines below and pixels right of an image")},
    {HEDDLE_REQUIRED_INT(patches_shape, c, "channels of the frame, a multiple of 8")},
    {HEDDLE_OPTIONAL_INT(patches_shape, r, 3, "lines of the filter")},
    {HEDDLE_OPTIONAL_INT(patches_shape, s, 3, "pixels of a line of the filter")},
    {HEDDLE_OPTIONAL_INT(patches_shape, stride, 1, "stride of the filter")},
    {HEDDLE_OPTIONAL_INT(patches_shape, padding, 0, "zeros around an image")},
    {HEDDLE_OPTIONAL_INT(patches_shape, dilation, 1, "distance between the filter's taps")},
    {HEDDLE_ROWS_HALF(patches_shape)},
    {HEDDLE_ROWS_PAIRS(patches_shape)},
    {HEDDLE_ROWS_INT8(patches_shape)},
};

HEDDLE_ROWS_ANY_ELEMENT(element, patches_shape)

static heddle_status validate(const void *shape_)
{
    const patches_shape *shape = shape_;
    if (shape->n < 1 || shape->h < 1 || shape->w < 1 || shape->c < 1 || shape->r < 1 || shape->s < 1 ||
        shape->stride < 1 || shape->dilation < 1)
        return heddle_fail(HEDDLE_INVALID, "rows_patches: n, h, w, c, r, s, stride and dilation must be at least 1");
    if (shape->c % HEDDLE_ROWS_ALIGNMENT)
        return heddle_fail(HEDDLE_INVALID, "rows_patches: c=%d must be a multiple of %d", shape->c,
                           HEDDLE_ROWS_ALIGNMENT);
    if (heddle_rows_patches_out_h(shape) < 1 || heddle_rows_patches_out_w(shape) < 1)
        return heddle_fail(HEDDLE_INVALID, "rows_patches: the filter is larger than the padded image");
    if ((double)shape->n * heddle_rows_patches_out_h(shape) * heddle_rows_patches_out_w(shape) * shape->r * shape->s *
                shape->c >
            2e9 ||
        (double)shape->n * (shape->h + shape->gap) * (shape->w + shape->gap) * shape->c > 2e9)
        return heddle_fail(HEDDLE_INVALID, "rows_patches: more than 2e9 elements");
    return HEDDLE_OK;
}

// The gradient has no kernels for bytes.
static heddle_status validate_floats(const void *shape)
{
    HEDDLE_TRY(validate(shape));
    return heddle_rows_is_floats("rows_patches_backward", ((const patches_shape *)shape)->int8);
}

HEDDLE_DIMS(dims_frame, patches_shape, shape->n *(shape->h + shape->gap) * (shape->w + shape->gap), shape->c)
HEDDLE_DIMS(dims_patches, patches_shape, shape->n *heddle_rows_patches_out_h(shape) * heddle_rows_patches_out_w(shape),
            shape->r * shape->s * shape->c)

#define ROWS(text, part, size) HEDDLE_ROWS_OPERAND(text, part, HEDDLE_VALUES_NORMAL, size)

static const heddle_operand forward_operands[] = {
    {ROWS("input", HEDDLE_INPUT, dims_frame)},
    {ROWS("output", HEDDLE_OUTPUT, dims_patches)},
};

static const heddle_operand backward_operands[] = {
    {ROWS("grad_output", HEDDLE_INPUT, dims_patches)},
    {ROWS("grad_input", HEDDLE_OUTPUT, dims_frame)},
};

// Runs the last argument for every element of a patch inside its image, with its places in both matrices.
#define FOR_PATCHES(shape, ...)                                                                                        \
    for (int n = 0; n < (shape)->n; n++)                                                                               \
        for (int y = 0; y < heddle_rows_patches_out_h(shape); y++)                                                     \
            for (int x = 0; x < heddle_rows_patches_out_w(shape); x++)                                                 \
                for (int i = 0; i < (shape)->c * (shape)->r * (shape)->s; i++) {                                       \
                    const int c = i % (shape)->c, s = i / (shape)->c % (shape)->s, r = i / (shape)->c / (shape)->s;    \
                    const int line = y * (shape)->stride + r * (shape)->dilation - (shape)->padding;                   \
                    const int pixel = x * (shape)->stride + s * (shape)->dilation - (shape)->padding;                  \
                    if (line < 0 || line >= (shape)->h || pixel < 0 || pixel >= (shape)->w)                            \
                        continue;                                                                                      \
                    const size_t place =                                                                               \
                        ((size_t)n * heddle_rows_patches_out_h(shape) + y) * heddle_rows_patches_out_w(shape) + x;     \
                    const size_t patch = place * (shape)->c * (shape)->r * (shape)->s + i;                             \
                    const size_t frame =                                                                               \
                        (((size_t)n * ((shape)->h + (shape)->gap) + line) * ((shape)->w + (shape)->gap) + pixel) *     \
                            (shape)->c +                                                                               \
                        c;                                                                                             \
                    __VA_ARGS__                                                                                        \
                }

static void clear(const void *shape, int (*dims_of)(const void *, int *), double *values)
{
    int dims[HEDDLE_MAX_DIMS];
    dims_of(shape, dims);
    for (size_t i = 0; i < (size_t)dims[0] * dims[1]; i++)
        values[i] = 0;
}

static void forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const patches_shape *shape = shape_;
    clear(shape, dims_patches, output[0]);
    FOR_PATCHES(shape, { output[0][patch] = input[0][frame]; })
}

static void backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const patches_shape *shape = shape_;
    clear(shape, dims_frame, output[0]);
    FOR_PATCHES(shape, { output[0][frame] += input[0][patch]; })
}

static double elements_of(const void *shape, int (*dims_of)(const void *, int *))
{
    int dims[HEDDLE_MAX_DIMS];
    dims_of(shape, dims);
    return (double)dims[0] * dims[1];
}

HEDDLE_COST(forward_cost, forward_operands, patches_shape, 0)
HEDDLE_COST(backward_cost, backward_operands, patches_shape, elements_of(shape, dims_patches))
HEDDLE_OF_SHAPE(int64_t, backward_reduction, patches_shape, (int64_t)shape->r * shape->s)

#define FLOAT_SHAPES                                                                                                   \
    "n=1 h=1 w=1 c=8 r=1 s=1", "n=2 h=5 w=4 gap=1 c=8 padding=1 half=1", "n=3 h=7 w=7 gap=1 c=16 padding=1 stride=2",  \
        "n=2 h=9 w=8 c=8 r=5 s=5 half=1", "n=2 h=6 w=6 gap=2 c=24 r=1 s=1 stride=2",                                   \
        "n=1 h=9 w=9 c=8 dilation=2 padding=2 half=1", "n=1 h=1 w=1 c=8 r=1 s=1 pairs=1",                              \
        "n=3 h=7 w=7 gap=1 c=16 padding=1 stride=2 pairs=1", "n=2 h=9 w=8 c=8 r=5 s=5 pairs=1"
static const char *const float_shapes[] = {FLOAT_SHAPES, NULL};
static const char *const forward_shapes[] = {FLOAT_SHAPES, "n=3 h=7 w=7 gap=1 c=16 padding=1 stride=2 int8=1",
                                             "n=2 h=6 w=5 c=48 r=3 s=3 int8=1", NULL};
static const char *const bench_shapes[] = {"n=1024 h=14 w=14 c=8 r=5 s=5",
                                           "n=1024 h=32 w=32 gap=1 c=32 padding=1 stride=2", NULL};

HEDDLE_BY_REFERENCE(rows_patches_forward)
HEDDLE_BY_REFERENCE(rows_patches_backward)

static const heddle_rung forward_ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_patches_forward),
    {"01_vectorised", HEDDLE_CUDA, HEDDLE_FUSED, NULL, "eight channels of a tap per thread: limited by write bandwidth",
     NULL, NULL, .capability = 90},
};

static const heddle_rung backward_ladder[] = {
    HEDDLE_REFERENCE_RUNG(rows_patches_backward),
    {"01_vectorised", HEDDLE_CUDA, HEDDLE_FUSED, NULL,
     "eight channels of a pixel per thread, summed over the taps that contain it: limited by memory bandwidth", NULL,
     NULL, .capability = 90},
};

#define ROWS_PATCHES(title, about)                                                                                     \
    .name = (title), .ladder_name = "rows_patches", .summary = (about), .shape_size = sizeof(patches_shape),           \
    HEDDLE_FIELDS(fields), .element = element, .bench_shapes = bench_shapes

const heddle_op heddle_op_rows_patches_forward = {
    ROWS_PATCHES("rows_patches_forward", "what a filter sees at each place, as rows of bf16"),
    .validate = validate,
    .test_shapes = forward_shapes,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = forward_reference,
    .exactness = HEDDLE_EXACT,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_rows_patches_backward = {
    ROWS_PATCHES("rows_patches_backward", "the gradient of the frame that patches were taken from"),
    .validate = validate_floats,
    .test_shapes = float_shapes,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = backward_reference,
    .reduction = backward_reduction,
    HEDDLE_LADDER(backward_ladder),
};

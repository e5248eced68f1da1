// linear: output = input * weightᵀ + bias, a fully connected layer. Its shapes, cost, reference and ladder. The
// products themselves are matmul's.

#include "ops/linear/linear.h"

#include "ops/define.h"
#include "ops/linear/products.h"
#include "ops/matmul/matmul.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_linear_shape, n, "samples")},
    {HEDDLE_REQUIRED_INT(heddle_linear_shape, in, "features per sample of the input")},
    {HEDDLE_REQUIRED_INT(heddle_linear_shape, out, "features per sample of the output")},
};

HEDDLE_DIMS(dims_input, heddle_linear_shape, shape->n, shape->in)
HEDDLE_DIMS(dims_weight, heddle_linear_shape, shape->out, shape->in)
HEDDLE_DIMS(dims_bias, heddle_linear_shape, shape->out)
HEDDLE_DIMS(dims_output, heddle_linear_shape, shape->n, shape->out)

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_input)},
    {HEDDLE_FLOAT_INPUT("weight", HEDDLE_VALUES_NORMAL, dims_weight)},
    {HEDDLE_FLOAT_INPUT("bias", HEDDLE_VALUES_NORMAL, dims_bias), .optional = true},
    {HEDDLE_FLOAT_OUTPUT("output", dims_output)},
};

static const heddle_operand backward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims_input)},
    {HEDDLE_FLOAT_INPUT("weight", HEDDLE_VALUES_NORMAL, dims_weight)},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, dims_output)},
    {HEDDLE_FLOAT_OUTPUT("grad_input", dims_input), .optional = true},
    {HEDDLE_FLOAT_OUTPUT("grad_weight", dims_weight), .optional = true},
    {HEDDLE_FLOAT_OUTPUT("grad_bias", dims_bias), .optional = true},
};

HEDDLE_COST(forward_cost, forward_operands, heddle_linear_shape, 2.0 * shape->n * shape->in * shape->out)
HEDDLE_COST(backward_cost, backward_operands, heddle_linear_shape,
            4.0 * shape->n * shape->in * shape->out + (double)shape->n * shape->out)

static void forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_linear_shape *shape = shape_;
    for (int i = 0; i < shape->n; i++)
        for (int o = 0; o < shape->out; o++) {
            double sum = input[2] ? input[2][o] : 0;
            for (int p = 0; p < shape->in; p++)
                sum += input[0][(size_t)i * shape->in + p] * input[1][(size_t)o * shape->in + p];
            output[0][(size_t)i * shape->out + o] = sum;
        }
}

static void zero(double *values, size_t count)
{
    for (size_t i = 0; values && i < count; i++)
        values[i] = 0;
}

static void backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_linear_shape *shape = shape_;
    double *grad_input = output[0], *grad_weight = output[1], *grad_bias = output[2];
    zero(grad_input, (size_t)shape->n * shape->in);
    zero(grad_weight, (size_t)shape->out * shape->in);
    zero(grad_bias, (size_t)shape->out);
    for (int i = 0; i < shape->n; i++)
        for (int o = 0; o < shape->out; o++) {
            double grad = input[2][(size_t)i * shape->out + o];
            if (grad_bias)
                grad_bias[o] += grad;
            for (int p = 0; p < shape->in; p++) {
                if (grad_input)
                    grad_input[(size_t)i * shape->in + p] += grad * input[1][(size_t)o * shape->in + p];
                if (grad_weight)
                    grad_weight[(size_t)o * shape->in + p] += grad * input[0][(size_t)i * shape->in + p];
            }
        }
}

HEDDLE_OF_SHAPE(int64_t, forward_reduction, heddle_linear_shape, shape->in)
HEDDLE_OF_SHAPE(int64_t, backward_reduction, heddle_linear_shape, shape->out > shape->n ? shape->out : shape->n)

static const char *const test_shapes[] = {"n=0 in=5 out=3",     "n=3 in=0 out=2",     "n=1 in=1 out=1",
                                          "n=1 in=31 out=10",   "n=7 in=13 out=1",    "n=17 in=29 out=23",
                                          "n=13 in=257 out=11", "n=64 in=784 out=67", "n=3 in=5 out=261",
                                          "n=70 in=132 out=72", "n=9 in=68 out=2180", NULL};
// The CNN's two linear layers at batch 64 and 256, then a large one.
static const char *const bench_shapes[] = {
    "n=64 in=3136 out=128", "n=256 in=3136 out=128",   "n=64 in=128 out=10",      "n=256 in=128 out=10",
    "n=1 in=3136 out=128",  "n=2048 in=4096 out=4096", "n=1024 in=1024 out=1024", NULL};

static bool fits(const void *shape_)
{
    const heddle_linear_shape *shape = shape_;
    const int most = HEDDLE_PRODUCT_MOST_SIZE;
    return shape->n < most && shape->in < most && shape->out < most;
}

// What TMA accepts: rows of every operand are a multiple of 16 bytes long, and no operand is empty.
static bool tf32_tma_takes(const void *shape_)
{
    const heddle_linear_shape *shape = shape_;
    const int in_row = 16 / (int)sizeof(float);
    return shape->n > 0 && shape->in > 0 && shape->out > 0 && shape->in % in_row == 0 && shape->out % in_row == 0;
}

// Tiles of the output, and how many occupy about a quarter of an H200's 132 SMs.
enum { QUARTER = 32 };
static long long tiles(const heddle_linear_shape *shape, int rows, int columns)
{
    return ((long long)shape->n + rows - 1) / rows * (((long long)shape->out + columns - 1) / columns);
}
HEDDLE_OF_SHAPE(bool, has_many_tiles, heddle_linear_shape, tiles(shape, 128, 256) >= QUARTER)
// A tile of 256 by 256 occupies two SMs.
HEDDLE_OF_SHAPE(bool, is_split, heddle_linear_shape, !tf32_tma_takes(shape) || tiles(shape, 256, 256) <= QUARTER)

static size_t split_workspace(const void *shape_, int threads)
{
    (void)threads;
    const heddle_linear_shape *shape = shape_;
    const heddle_matmul_shape product = {.m = shape->n, .n = shape->out, .k = shape->in, .transpose_b = 1};
    return heddle_split_workspace(&product, sizeof(float));
}

static size_t forward_workspace(const void *shape, int threads)
{
    (void)threads;
    heddle_product product = heddle_linear_product(shape);
    return heddle_product_workspace(&product);
}

static size_t backward_workspace(const void *shape, int threads)
{
    (void)threads;
    heddle_product input = heddle_linear_product_grad_input(shape), weight = heddle_linear_product_grad_weight(shape);
    size_t for_input = heddle_product_workspace(&input), for_weight = heddle_product_workspace(&weight);
    return for_input > for_weight ? for_input : for_weight;
}

#define HOPPER .capability = 90, .gpu_only = "wgmma and TMA"

// Slowest first; gemm.h decides the place of OpenBLAS.
#define OPENBLAS_FORWARD                                                                                               \
    {                                                                                                                  \
        "cpu_openblas", HEDDLE_CPU, HEDDLE_VENDOR, heddle_linear_forward_cpu_openblas,                                 \
            "OpenBLAS on pieces that depend only on the shape", NULL, heddle_linear_forward_cpu_openblas_workspace     \
    }
#define OPENBLAS_BACKWARD                                                                                              \
    {                                                                                                                  \
        "cpu_openblas", HEDDLE_CPU, HEDDLE_VENDOR, heddle_linear_backward_cpu_openblas,                                \
            "two products by OpenBLAS on pieces that depend only on the shape", NULL,                                  \
            heddle_linear_backward_cpu_openblas_workspace                                                              \
    }

static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_linear_forward_cpu_naive,
     "three loops: two loads per multiplication", NULL, NULL},
#if HEDDLE_HAVE_OPENBLAS && HEDDLE_BLOCKED_BEATS_OPENBLAS
    OPENBLAS_FORWARD,
#endif
    {"cpu_blocked", HEDDLE_CPU, HEDDLE_TUNED, heddle_linear_forward_cpu_blocked,
     "packed panels, a tile of the result in registers, all threads", NULL,
     heddle_linear_forward_cpu_blocked_workspace},
#if HEDDLE_HAVE_OPENBLAS && !HEDDLE_BLOCKED_BEATS_OPENBLAS
    OPENBLAS_FORWARD,
#endif
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per element of the output: two loads per multiplication, the weight uncoalesced", NULL, NULL},
    {"02_tuned", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "matmul's tuned kernel, which adds the bias in its epilogue", fits,
     forward_workspace, .shared_bytes = HEDDLE_PRODUCT_SHARED_BYTES},
    {"03_tf32_mma_sync", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "matmul's mma.sync kernel, which adds the bias in its epilogue: all operands pass through registers", NULL, NULL,
     .arithmetic = HEDDLE_TF32, .capability = 80, .shared_bytes = HEDDLE_MATMUL_RING_BYTES, .pays = has_many_tiles},
    {"04_tf32_wgmma", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "matmul's persistent wgmma kernel, which adds the bias in its epilogue: few tiles leave SMs idle", tf32_tma_takes,
     NULL, .arithmetic = HEDDLE_TF32, HOPPER},
    {"05_tf32_wgmma_split_k", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "the blocks of a cluster divide the inputs and add up through distributed shared memory: limited by L2", NULL,
     split_workspace, .arithmetic = HEDDLE_TF32, HOPPER, .pays = is_split},
    {"cublas_lt", HEDDLE_CUDA, HEDDLE_VENDOR, NULL,
     "cuBLASLt, the bias added before the product is stored: limited by the float32 units", NULL, NULL,
     .gpu_only = "cuBLAS"},
    {"cublas_lt_tf32", HEDDLE_CUDA, HEDDLE_VENDOR, NULL,
     "cuBLASLt on tensor cores: float32 rounded to 10 bits of mantissa", NULL, NULL, .arithmetic = HEDDLE_TF32,
     .capability = 80, .gpu_only = "cuBLAS"},
};

static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_linear_backward_cpu_naive,
     "three loops for each gradient: two loads per multiplication", NULL, NULL},
#if HEDDLE_HAVE_OPENBLAS && HEDDLE_BLOCKED_BEATS_OPENBLAS
    OPENBLAS_BACKWARD,
#endif
    {"cpu_blocked", HEDDLE_CPU, HEDDLE_TUNED, heddle_linear_backward_cpu_blocked,
     "two products of packed panels, a tile of the result in registers, all threads", NULL,
     heddle_linear_backward_cpu_blocked_workspace},
#if HEDDLE_HAVE_OPENBLAS && !HEDDLE_BLOCKED_BEATS_OPENBLAS
    OPENBLAS_BACKWARD,
#endif
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per element of each gradient: two loads per multiplication", NULL, NULL},
    {"02_tuned", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "two products by matmul's tuned kernel, and sums of columns", fits,
     backward_workspace, .shared_bytes = HEDDLE_PRODUCT_SHARED_BYTES},
    {"cublas", HEDDLE_CUDA, HEDDLE_VENDOR, NULL,
     "two products by cuBLAS, and one with ones for the bias: reads grad_output three times", NULL, NULL,
     .gpu_only = "cuBLAS"},
};

static const heddle_op *const gradients[] = {&heddle_op_linear_backward, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "linear", .shape_size = sizeof(heddle_linear_shape), HEDDLE_FIELDS(fields),                         \
    .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_linear_forward = {
    .name = "linear_forward",
    .summary = "fully connected layer: input * weight^T + bias",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = forward_reference,
    .reduction = forward_reduction,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_linear_backward = {
    .name = "linear_backward",
    .summary = "gradients of a fully connected layer",
    SHARED,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = backward_reference,
    .reduction = backward_reduction,
    HEDDLE_LADDER(backward_ladder),
};

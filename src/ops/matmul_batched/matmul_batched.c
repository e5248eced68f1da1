// matmul_batched: output = alpha * op(a) * op(b) + beta * output for many small matrices stored one after another. Its
// shapes, cost, reference and ladder.

#include "ops/matmul_batched/matmul_batched.h"

#include "ops/define.h"
#include "ops/matmul_batched/product.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_matmul_batched_shape, batch, "products")},
    {HEDDLE_REQUIRED_INT(heddle_matmul_batched_shape, m, "rows of a and of the output")},
    {HEDDLE_REQUIRED_INT(heddle_matmul_batched_shape, n, "columns of b and of the output")},
    {HEDDLE_REQUIRED_INT(heddle_matmul_batched_shape, k, "columns of a, rows of b")},
    {HEDDLE_OPTIONAL_INT(heddle_matmul_batched_shape, transpose_a, 0, "1: each a is stored (k, m)")},
    {HEDDLE_OPTIONAL_INT(heddle_matmul_batched_shape, transpose_b, 0, "1: each b is stored (n, k)")},
    {HEDDLE_OPTIONAL_FLOAT(heddle_matmul_batched_shape, alpha, 1, "factor of the products")},
    {HEDDLE_OPTIONAL_FLOAT(heddle_matmul_batched_shape, beta, 0,
                           "factor of the output's old value; 0: it is not read")},
};

HEDDLE_DIMS(dims_a, heddle_matmul_batched_shape, shape->batch, shape->transpose_a ? shape->k : shape->m,
            shape->transpose_a ? shape->m : shape->k)
HEDDLE_DIMS(dims_b, heddle_matmul_batched_shape, shape->batch, shape->transpose_b ? shape->n : shape->k,
            shape->transpose_b ? shape->k : shape->n)
HEDDLE_DIMS(dims_output, heddle_matmul_batched_shape, shape->batch, shape->m, shape->n)

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("a", HEDDLE_VALUES_NORMAL, dims_a)},
    {HEDDLE_FLOAT_INPUT("b", HEDDLE_VALUES_NORMAL, dims_b)},
    {HEDDLE_FLOAT_UPDATE("output", HEDDLE_VALUES_NORMAL, dims_output)},
};

static heddle_status validate(const void *shape_)
{
    const heddle_matmul_batched_shape *shape = shape_;
    if (shape->transpose_a > 1 || shape->transpose_b > 1)
        return heddle_fail(HEDDLE_INVALID, "matmul_batched: transpose_a and transpose_b are 0 or 1, not %d and %d",
                           shape->transpose_a, shape->transpose_b);
    return HEDDLE_OK;
}

static heddle_cost cost(const void *shape_)
{
    const heddle_matmul_batched_shape *shape = shape_;
    double batch = shape->batch, m = shape->m, n = shape->n, k = shape->k;
    return (heddle_cost){.flops = 2 * batch * m * n * k,
                         .bytes_read = sizeof(float) * batch * (m * k + k * n + (shape->beta == 0.0f ? 0 : m * n)),
                         .bytes_written = sizeof(float) * batch * m * n};
}

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_matmul_batched_shape *shape = shape_;
    size_t m = (size_t)shape->m, n = (size_t)shape->n, k = (size_t)shape->k;
    for (int t = 0; t < shape->batch; t++) {
        const double *a = input[0] + t * m * k, *b = input[1] + t * k * n;
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) {
                double sum = 0;
                for (size_t p = 0; p < k; p++)
                    sum +=
                        a[shape->transpose_a ? p * m + i : i * k + p] * b[shape->transpose_b ? j * k + p : p * n + j];
                double *place = &output[0][(t * m + i) * n + j];
                *place = shape->alpha * sum + (shape->beta == 0.0f ? 0 : shape->beta * *place);
            }
    }
}

HEDDLE_OF_SHAPE(int64_t, reduction, heddle_matmul_batched_shape, shape->k)

static const char *const test_shapes[] = {
    "batch=0 m=2 n=3 k=4", "batch=3 m=0 n=3 k=2", "batch=2 m=3 n=2 k=0 beta=0.5", "batch=1 m=1 n=1 k=1",
    "batch=7 m=1 n=5 k=3", "batch=3 m=17 n=19 k=23 transpose_a=1", "batch=2 m=8 n=24 k=7 transpose_b=1 alpha=-0.5",
    "batch=5 m=11 n=12 k=13 transpose_a=1 transpose_b=1 beta=2", "batch=2 m=65 n=131 k=33",
    "batch=2 m=36 n=68 k=301 beta=-1",
    // enough products that the tuned rung takes its larger tiles
    "batch=200 m=65 n=68 k=5 transpose_a=1", "batch=270 m=65 n=33 k=5 transpose_b=1 beta=1",
    "batch=200 m=36 n=65 k=5 alpha=2", NULL};
// Attention's scores and values for 8 sequences of 12 heads, 512 long, 64 wide; then many small and a few large
// products.
static const char *const bench_shapes[] = {"batch=96 m=512 n=512 k=64 transpose_b=1",
                                           "batch=96 m=512 n=64 k=512",
                                           "batch=1024 m=64 n=64 k=64",
                                           "batch=256 m=100 n=100 k=100",
                                           "batch=16 m=1024 n=1024 k=1024",
                                           NULL};

static bool fits(const void *shape_)
{
    const heddle_matmul_batched_shape *shape = shape_;
    const int most = HEDDLE_PRODUCT_MOST_SIZE;
    return shape->m < most && shape->n < most && shape->k < most;
}

static size_t workspace(const void *shape, int threads)
{
    (void)threads;
    heddle_product product = heddle_matmul_batched_product(shape);
    return heddle_product_workspace(&product);
}

// Slowest first.
// Tables of addresses for cuBLAS: of every a, b and output.
HEDDLE_WORKSPACE(pointers_workspace, heddle_matmul_batched_shape, 3 * (size_t)shape->batch * sizeof(void *))

static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_matmul_batched_forward_cpu_naive,
     "four loops: two loads per multiplication", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element of all outputs: two loads per multiplication",
     NULL, NULL},
    {"cublas_pointers", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "cuBLAS, given the address of every matrix", NULL,
     pointers_workspace, .gpu_only = "cuBLAS"},
    {"cublas", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "cuBLAS, given the stride between matrices", NULL, NULL,
     .gpu_only = "cuBLAS"},
    {"02_tuned", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "matmul's tuned kernel, with the tiles of all products in one grid",
     fits, workspace, .shared_bytes = HEDDLE_PRODUCT_SHARED_BYTES},
};

const heddle_op heddle_op_matmul_batched_forward = {
    .name = "matmul_batched_forward",
    .ladder_name = "matmul_batched",
    .summary = "many matrix products of one shape: alpha * a * b + beta * output for each",
    .shape_size = sizeof(heddle_matmul_batched_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .cost = cost,
    .reference = reference,
    .reduction = reduction,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};

// matmul_int8: a product of bytes, summed in int32 and converted to float32 by one scale per row of each operand. Its
// cost, reference and ladder.

#include "ops/matmul_int8/matmul_int8.h"

#include <limits.h>

#include "heddle/random.h"
#include "ops/define.h"
#include "ops/matmul/pack.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_matmul_int8_shape, m, "rows of a and of the output")},
    {HEDDLE_REQUIRED_INT(heddle_matmul_int8_shape, n, "rows of b, columns of the output")},
    {HEDDLE_REQUIRED_INT(heddle_matmul_int8_shape, k, "columns of a and b")},
};

HEDDLE_DIMS(dims_a, heddle_matmul_int8_shape, shape->m, shape->k)
HEDDLE_DIMS(dims_b, heddle_matmul_int8_shape, shape->n, shape->k)
HEDDLE_DIMS(dims_scale_a, heddle_matmul_int8_shape, shape->m)
HEDDLE_DIMS(dims_scale_b, heddle_matmul_int8_shape, shape->n)
HEDDLE_DIMS(dims_output, heddle_matmul_int8_shape, shape->m, shape->n)

#define BYTES(text, size)                                                                                              \
    .name = (text), .role = HEDDLE_INPUT, .dtype = HEDDLE_I8, .values = HEDDLE_VALUES_OWN, .dims = (size)
static const heddle_operand operands[] = {
    {BYTES("a", dims_a)},
    {BYTES("b", dims_b)},
    {HEDDLE_FLOAT_INPUT("scale_a", HEDDLE_VALUES_POSITIVE, dims_scale_a)},
    {HEDDLE_FLOAT_INPUT("scale_b", HEDDLE_VALUES_POSITIVE, dims_scale_b)},
    {HEDDLE_FLOAT_OUTPUT("output", dims_output)},
};

// Every byte that a symmetric scale gives.
static void fill(const void *shape, int operand, uint64_t seed, double *values)
{
    enum { LEVELS = 255, MIDDLE = 127 };
    heddle_random random = heddle_random_make(seed, (uint64_t)operand);
    size_t elements = heddle_operand_elements(&heddle_op_matmul_int8, operand, shape);
    for (size_t i = 0; i < elements; i++)
        values[i] = (double)heddle_random_below(&random, LEVELS) - MIDDLE;
}

// 128 * 128 * k has to fit in an int32: a byte may be -128, though no symmetric scale gives it.
static heddle_status validate(const void *shape_)
{
    enum { MOST_K = INT_MAX / (128 * 128) };
    const heddle_matmul_int8_shape *shape = shape_;
    if (shape->k > MOST_K)
        return heddle_fail(HEDDLE_INVALID, "matmul_int8: k is %d; beyond %d a sum may not fit int32", shape->k, MOST_K);
    return HEDDLE_OK;
}

HEDDLE_COST(cost, operands, heddle_matmul_int8_shape, 2.0 * shape->m * shape->n * shape->k)

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_matmul_int8_shape *shape = shape_;
    for (int i = 0; i < shape->m; i++)
        for (int j = 0; j < shape->n; j++) {
            const double *row_a = input[0] + (size_t)i * shape->k, *row_b = input[1] + (size_t)j * shape->k;
            double sum = 0;
            for (int p = 0; p < shape->k; p++)
                sum += row_a[p] * row_b[p];
            output[0][(size_t)i * shape->n + j] = input[2][i] * input[3][j] * sum;
        }
}

// Ragged in every dimension first; then rows of 16 bytes, as TMA and cuBLAS need, with partly filled tiles; then those
// that go round the ring of stages.
static const char *const test_shapes[] = {"m=0 n=3 k=2",
                                          "m=4 n=3 k=0",
                                          "m=1 n=1 k=1",
                                          "m=1 n=7 k=31",
                                          "m=17 n=19 k=23",
                                          "m=65 n=37 k=259",
                                          "m=33 n=66 k=100",
                                          "m=129 n=130 k=64",
                                          "m=150 n=140 k=208",
                                          "m=267 n=82 k=1000",
                                          "m=24 n=80 k=1936",
                                          "m=264 n=528 k=32",
                                          NULL};
// The last two give each of a GPU's blocks several tiles, of 128 and of 256 columns, and are checked there.
static const char *const bench_shapes[] = {"m=2048 n=2048 k=2048",
                                           "m=4096 n=4096 k=4096",
                                           "m=1000 n=1000 k=1000",
                                           "m=1024 n=128 k=3136",
                                           "m=3 n=17001 k=33",
                                           "m=8 n=33776 k=16",
                                           NULL};

// Room for copies of a and b with rows of a multiple of 16 bytes.
HEDDLE_WORKSPACE(pack_workspace, heddle_matmul_int8_shape,
                 heddle_pack_bytes((size_t)shape->m, (size_t)shape->k, 1) +
                     heddle_pack_bytes((size_t)shape->n, (size_t)shape->k, 1))

// cuBLAS needs rows of whole words in the result, too. Its sums, as int32, are in the workspace.
HEDDLE_OF_SHAPE(bool, cublas_takes, heddle_matmul_int8_shape, shape->n % 4 == 0 && shape->k > 0)
HEDDLE_WORKSPACE(cublas_workspace, heddle_matmul_int8_shape,
                 pack_workspace(shape, threads) + (size_t)shape->m * (size_t)shape->n * sizeof(int32_t))

// Slowest first.
static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_matmul_int8_cpu_naive, "three loops, one thread", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element: two byte loads per multiplication", NULL,
     NULL},
    {"02_dp4a", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "tiles in shared memory; four products and their sum in one instruction", NULL, NULL},
    {"cublas", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "cuBLAS on tensor cores, then a kernel that scales its int32 sums",
     cublas_takes, cublas_workspace, .capability = 80, .gpu_only = "cuBLAS"},
    {"03_mma", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "tensor cores: 16 by 8 by 32 products per instruction, three stages",
     NULL, pack_workspace, .capability = 80},
    {"04_wgmma", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "persistent clusters with wgmma on bytes, copied first if rows are not aligned: limited by tensor cores", NULL,
     pack_workspace, .capability = 90, .gpu_only = "wgmma and TMA"},
};

const heddle_op heddle_op_matmul_int8 = {
    .name = "matmul_int8",
    .ladder_name = "matmul_int8",
    .summary = "matrix product of bytes, dequantised",
    .shape_size = sizeof(heddle_matmul_int8_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .cost = cost,
    .reference = reference,
    .fill = fill,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};

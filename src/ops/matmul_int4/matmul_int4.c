// matmul_int4: the product of decoding a language model whose weights have 4 bits, with a scale and a zero point per
// group. Its cost, reference and ladder.
//
// The output is float32, as matmul_int8's is, although the input is fp16: it is the smallest operand by far, it cannot
// overflow, and the sums are held to float32's roundings. No rung rounds anything but sums: weights and their zero
// points are exact in fp16, and a product of two fp16 numbers is exact in float32.

#include "ops/matmul_int4/matmul_int4.h"

#include <string.h>

#include "ops/define.h"
#include "ops/matmul_int4/weights.h"

void heddle_matmul_int4_pack(const heddle_matmul_int4_shape *shape, const uint8_t *values, uint8_t *weight)
{
    const size_t rows = (size_t)shape->n, row_bytes = (size_t)heddle_int4_row_bytes(shape->k);
    if (rows * row_bytes > 0)
        memset(weight, 0, rows * row_bytes);
    for (size_t j = 0; j < rows; j++, weight += row_bytes, values += shape->k)
        for (int p = 0; p < shape->k; p++) {
            const size_t bit = heddle_int4_bit(p);
            weight[bit / 8] = (uint8_t)(weight[bit / 8] | (values[p] & 15) << bit % 8);
        }
}

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_matmul_int4_shape, m, "rows of input and output: tokens")},
    {HEDDLE_REQUIRED_INT(heddle_matmul_int4_shape, n, "rows of weights, columns of the output")},
    {HEDDLE_REQUIRED_INT(heddle_matmul_int4_shape, k, "columns of input and weights")},
    {HEDDLE_OPTIONAL_INT(heddle_matmul_int4_shape, group, 128, "weights of a row that share a scale; 32, 64, ...")},
};

HEDDLE_DIMS(dims_input, heddle_matmul_int4_shape, shape->m, shape->k)
HEDDLE_DIMS(dims_weight, heddle_matmul_int4_shape, shape->n, heddle_int4_row_bytes(shape->k))
HEDDLE_DIMS(dims_groups, heddle_matmul_int4_shape, shape->n, heddle_int4_groups(shape))
HEDDLE_DIMS(dims_output, heddle_matmul_int4_shape, shape->m, shape->n)

static int zero_points(const void *shape)
{
    enum { ZERO_POINTS = 16 }; // the values of a weight: beyond them all weights of a group would have one sign
    (void)shape;
    return ZERO_POINTS;
}

#define HALVES(text, contents, size)                                                                                   \
    .name = (text), .role = HEDDLE_INPUT, .dtype = HEDDLE_F16, .values = (contents), .dims = (size)
#define BYTES(text, contents, size)                                                                                    \
    .name = (text), .role = HEDDLE_INPUT, .dtype = HEDDLE_U8, .values = (contents), .dims = (size)
static const heddle_operand operands[] = {
    {HALVES("input", HEDDLE_VALUES_NORMAL, dims_input)},
    {BYTES("weight", HEDDLE_VALUES_BYTES, dims_weight)},
    {HALVES("scale", HEDDLE_VALUES_POSITIVE, dims_groups)},
    {BYTES("zero", HEDDLE_VALUES_LABELS, dims_groups), .limit = zero_points},
    {HEDDLE_FLOAT_OUTPUT("output", dims_output)},
};

static heddle_status validate(const void *shape_)
{
    const heddle_matmul_int4_shape *shape = shape_;
    if (shape->m < 0 || shape->n < 0 || shape->k < 0)
        return heddle_fail(HEDDLE_INVALID, "matmul_int4: m=%d n=%d k=%d: none may be negative", shape->m, shape->n,
                           shape->k);
    // Then a chunk has one scale.
    if (shape->group < HEDDLE_INT4_CHUNK || shape->group % HEDDLE_INT4_CHUNK != 0)
        return heddle_fail(HEDDLE_INVALID, "matmul_int4: group is %d, and must be a multiple of %d", shape->group,
                           HEDDLE_INT4_CHUNK);
    return HEDDLE_OK;
}

HEDDLE_COST(cost, operands, heddle_matmul_int4_shape, 2.0 * shape->m * shape->n * shape->k)
HEDDLE_OF_SHAPE(int64_t, reduction, heddle_matmul_int4_shape, shape->k)

// A weight is unpacked once for all rows of the input.
static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_matmul_int4_shape *shape = shape_;
    const size_t m = (size_t)shape->m, n = (size_t)shape->n, k = (size_t)shape->k;
    const size_t row_bytes = (size_t)heddle_int4_row_bytes(shape->k), groups = (size_t)heddle_int4_groups(shape);
    for (size_t i = 0; i < m * n; i++)
        output[0][i] = 0;
    for (size_t j = 0; j < n; j++)
        for (size_t p = 0; p < k; p++) {
            const size_t bit = heddle_int4_bit((int)p), group = j * groups + p / (size_t)shape->group;
            const int packed = (int)input[1][j * row_bytes + bit / 8];
            const double weight = input[2][group] * ((packed >> bit % 8 & 15) - input[3][group]);
            for (size_t i = 0; i < m; i++)
                output[0][i * n + j] += input[0][i * k + p] * weight;
        }
}

// Rows that end within a chunk, within a group and within a tile of every rung.
static const char *const test_shapes[] = {"m=0 n=3 k=2",
                                          "m=4 n=3 k=0",
                                          "m=1 n=1 k=1",
                                          "m=1 n=7 k=31",
                                          "m=5 n=3 k=97 group=32",
                                          "m=3 n=13 k=264",
                                          "m=17 n=19 k=129",
                                          "m=8 n=33 k=448 group=64",
                                          "m=9 n=34 k=1304 group=256",
                                          "m=1 n=37 k=1160",
                                          "m=1 n=2 k=8200",
                                          "m=6 n=5 k=2083",
                                          "m=35 n=67 k=136",
                                          NULL};
// Layers of a language model of 8 billion parameters, for one token, 8 and 16: a square product, and the two of a
// feed-forward layer.
static const char *const bench_shapes[] = {
    "m=1 n=4096 k=4096",   "m=8 n=4096 k=4096",  "m=16 n=4096 k=4096", "m=1 n=14336 k=4096",  "m=8 n=14336 k=4096",
    "m=16 n=14336 k=4096", "m=1 n=4096 k=14336", "m=8 n=4096 k=14336", "m=16 n=4096 k=14336", NULL};

// A warp of 04_mma_sync adds up 128 of k before it scales the sum.
HEDDLE_OF_SHAPE(bool, mma_takes, heddle_matmul_int4_shape, shape->group % 128 == 0)

// The input as float32, and one row of weights per thread.
static size_t rows_workspace(const void *shape_, int threads)
{
    const heddle_matmul_int4_shape *shape = shape_;
    return ((size_t)shape->m + (size_t)threads) * (size_t)shape->k * sizeof(float);
}

// Slowest first.
static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_matmul_int4_cpu_naive,
     "three loops, one thread: weights are unpacked again for every row of the input", NULL, NULL},
    {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_matmul_int4_cpu_rows,
     "rows of weights over the threads, each unpacked once", NULL, rows_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element: a byte at a time, uncoalesced", NULL, NULL},
    {"02_warp_per_row", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one warp per row of weights, 32 of them per load; input in shared memory: a conversion per weight", NULL, NULL},
    {"03_half_pairs", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "two weights become fp16 by one bit operation; four rows per warp share the input: limited by multiplications",
     NULL, NULL},
    {"04_mma_sync", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "tensor cores, weights unpacked into their operands: limited by memory bandwidth up to m=16", mma_takes, NULL,
     .capability = 80},
};

const heddle_op heddle_op_matmul_int4 = {
    .name = "matmul_int4",
    .ladder_name = "matmul_int4",
    .summary = "matrix product of fp16 and weights of 4 bits in groups with a scale and a zero point",
    .shape_size = sizeof(heddle_matmul_int4_shape),
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

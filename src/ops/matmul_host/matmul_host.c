// matmul_host: output = a * b with all three matrices in host memory, which may be larger than the device's. Its
// shapes, cost, reference and ladder.

#include "ops/matmul_host/matmul_host.h"

#include <limits.h>

#include "ops/define.h"
#include "ops/matmul_host/plan.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_matmul_host_shape, m, "rows of a and of the output")},
    {HEDDLE_REQUIRED_INT(heddle_matmul_host_shape, n, "columns of b and of the output")},
    {HEDDLE_REQUIRED_INT(heddle_matmul_host_shape, k, "columns of a, rows of b")},
    {HEDDLE_OPTIONAL_INT(heddle_matmul_host_shape, memory, 4 << 20,
                         "KiB on the device for tiles; products may need some more")},
};

HEDDLE_DIMS(dims_a, heddle_matmul_host_shape, shape->m, shape->k)
HEDDLE_DIMS(dims_b, heddle_matmul_host_shape, shape->k, shape->n)
HEDDLE_DIMS(dims_output, heddle_matmul_host_shape, shape->m, shape->n)

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("a", HEDDLE_VALUES_NORMAL, dims_a), .on_host = true},
    {HEDDLE_FLOAT_INPUT("b", HEDDLE_VALUES_NORMAL, dims_b), .on_host = true},
    {HEDDLE_FLOAT_OUTPUT("output", dims_output), .on_host = true},
};

static heddle_status validate(const void *shape_)
{
    const heddle_matmul_host_shape *shape = shape_;
    if (shape->memory < HEDDLE_MATMUL_HOST_LEAST_KIB)
        return heddle_fail(HEDDLE_INVALID, "matmul_host: memory is %d KiB; tiles take at least %d", shape->memory,
                           HEDDLE_MATMUL_HOST_LEAST_KIB);
    return HEDDLE_OK;
}

HEDDLE_COST(cost, operands, heddle_matmul_host_shape, 2.0 * shape->m * shape->n * shape->k)

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_matmul_host_shape *shape = shape_;
    for (int i = 0; i < shape->m; i++)
        for (int j = 0; j < shape->n; j++) {
            double sum = 0;
            for (int p = 0; p < shape->k; p++)
                sum += input[0][(size_t)i * shape->k + p] * input[1][(size_t)p * shape->n + j];
            output[0][(size_t)i * shape->n + j] = sum;
        }
}

HEDDLE_OF_SHAPE(int64_t, reduction, heddle_matmul_host_shape, shape->k)

// Limits so small that there are several tiles and panels, or bands, with ragged ones at the ends.
static const char *const test_shapes[] = {"m=0 n=3 k=2",
                                          "m=4 n=3 k=0",
                                          "m=1 n=1 k=1",
                                          "m=13 n=7 k=31",
                                          "m=29 n=19 k=11 memory=4",
                                          "m=23 n=37 k=19 memory=8",
                                          "m=45 n=23 k=11 memory=8",
                                          "m=131 n=390 k=70 memory=264",
                                          "m=1000 n=3 k=2 memory=24",
                                          NULL};
// A small one with several tiles, then one limited by arithmetic and one limited by the link.
static const char *const bench_shapes[] = {"m=1024 n=1024 k=1024 memory=4096", "m=16384 n=16384 k=16384",
                                           "m=16384 n=16384 k=512", NULL};

// Rows in host memory are at most 2^31 - 1 bytes apart, as CUDA's 2D copies require, and tiles are counted in int.
static bool fits(const void *shape_)
{
    const heddle_matmul_host_shape *shape = shape_;
    const int most = HEDDLE_PRODUCT_MOST_SIZE, longest_row = 1 << 29;
    if (shape->m >= most || shape->n >= longest_row || shape->k >= longest_row)
        return false;
    heddle_matmul_host_plan plan = heddle_matmul_host_plan_of(shape);
    return (double)plan.tiles_m * plan.tiles_n <= INT_MAX;
}

static size_t workspace(const heddle_matmul_host_shape *shape, int sets, heddle_matmul_host_need *need)
{
    heddle_matmul_host_plan plan = heddle_matmul_host_plan_of(shape);
    return heddle_matmul_host_buffers(&plan, sets) + heddle_matmul_host_product_bytes(shape, &plan, need);
}

HEDDLE_WORKSPACE(one_set, heddle_matmul_host_shape, workspace(shape, 1, heddle_matmul_host_need_tuned))
HEDDLE_WORKSPACE(two_sets, heddle_matmul_host_shape, workspace(shape, 2, heddle_matmul_host_need_tuned))
HEDDLE_WORKSPACE(two_sets_in_parts, heddle_matmul_host_shape, workspace(shape, 2, heddle_matmul_host_need_parts))

// cuBLASXt rejects empty sums.
HEDDLE_OF_SHAPE(bool, has_sums, heddle_matmul_host_shape, shape->k > 0)

#define OPENBLAS                                                                                                       \
    {                                                                                                                  \
        "cpu_openblas", HEDDLE_CPU, HEDDLE_VENDOR, heddle_matmul_host_cpu_openblas,                                    \
            "OpenBLAS on pieces that depend only on the shape", NULL, heddle_matmul_host_cpu_openblas_workspace        \
    }

// Slowest first; gemm.h decides the place of OpenBLAS.
static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_matmul_host_cpu_naive, "three loops: two loads per multiplication",
     NULL, NULL},
#if HEDDLE_HAVE_OPENBLAS && HEDDLE_BLOCKED_BEATS_OPENBLAS
    OPENBLAS,
#endif
    {"cpu_blocked", HEDDLE_CPU, HEDDLE_TUNED, heddle_matmul_host_cpu_blocked,
     "matmul's packed panels, a tile of the result in registers, all threads", NULL,
     heddle_matmul_host_cpu_blocked_workspace},
#if HEDDLE_HAVE_OPENBLAS && !HEDDLE_BLOCKED_BEATS_OPENBLAS
    OPENBLAS,
#endif
    {"01_one_stream", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "tile after tile: panels in, product, tile out; copies and products do not overlap", fits, one_set,
     .shared_bytes = HEDDLE_PRODUCT_SHARED_BYTES},
    {"02_streams", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "double buffers, one stream per direction of the link and one for products: limited by the slowest", fits,
     two_sets, .shared_bytes = HEDDLE_PRODUCT_SHARED_BYTES},
    {"03_streams_tf32x3", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "the same with products of fp32 class on tensor cores: limited by them, or by the link if tiles are small", fits,
     two_sets_in_parts, .arithmetic = HEDDLE_TF32X3, .capability = 80},
    {"cublas_xt", HEDDLE_CUDA, HEDDLE_VENDOR, NULL,
     "cuBLASXt on blocks of 8192: allocates its own memory and blocks the host", has_sums, NULL, .gpu_only = "cuBLAS"},
};

const heddle_op heddle_op_matmul_host = {
    .name = "matmul_host",
    .ladder_name = "matmul_host",
    .summary = "matrix product of matrices in host memory that may be larger than the device's",
    .shape_size = sizeof(heddle_matmul_host_shape),
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

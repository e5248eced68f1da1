// matmul_bf16: output = alpha * op(a) * op(b) + beta * output, all three bf16, summed in float32. Its cost, and its
// ladder up the tensor cores; it shares its shapes and reference with matmul.

#include "ops/matmul_bf16/matmul_bf16.h"

#include "ops/define.h"
#include "ops/matmul/matmul.h"

#define BF16(text, part, size)                                                                                         \
    .name = (text), .role = (part), .dtype = HEDDLE_BF16, .values = HEDDLE_VALUES_NORMAL, .dims = (size)

static const heddle_operand forward_operands[] = {
    {BF16("a", HEDDLE_INPUT, heddle_matmul_dims_a)},
    {BF16("b", HEDDLE_INPUT, heddle_matmul_dims_b)},
    {BF16("output", HEDDLE_UPDATE, heddle_matmul_dims_output)},
};

static heddle_cost forward_cost(const void *shape_)
{
    const heddle_matmul_shape *shape = shape_;
    double m = shape->m, n = shape->n, k = shape->k, size = sizeof(uint16_t);
    return (heddle_cost){.flops = 2 * m * n * k,
                         .bytes_read = size * (m * k + k * n + (shape->beta != 0.0f ? m * n : 0)),
                         .bytes_written = size * m * n};
}

// What TMA accepts: rows of every operand are a multiple of 16 bytes long, and no operand is empty.
static bool tma_takes(const void *shape_)
{
    const heddle_matmul_shape *shape = shape_;
    const int in_row = 16 / (int)sizeof(uint16_t);
    int row_a = shape->transpose_a ? shape->m : shape->k, row_b = shape->transpose_b ? shape->k : shape->n;
    return shape->m > 0 && shape->n > 0 && shape->k > 0 && row_a % in_row == 0 && row_b % in_row == 0 &&
           shape->n % in_row == 0;
}

// Whether tiles are so few that their k should be split: less than a full tile of rows, or work for less than half of
// an H200 (rung 6 computes 256 by 64 or more with two of its 132 SMs). Nor does rung 6 take every shape.
static bool is_split(const void *shape_)
{
    const heddle_matmul_shape *shape = shape_;
    const int few_rows = 128, rows = 256, columns = 64, most = 132 / 2 / 2;
    return !tma_takes(shape) || shape->m <= few_rows ||
           ((long long)shape->m + rows - 1) / rows * (((long long)shape->n + columns - 1) / columns) <= most;
}

HEDDLE_WORKSPACE(split_workspace, heddle_matmul_shape, heddle_split_workspace(shape, sizeof(uint16_t)))

// Each layout twice: ragged in every dimension, and as TMA needs it (rows of 16 bytes) with partly filled tiles. The
// last are for the widths of tiles of rungs 6 and 7.
static const char *const forward_test_shapes[] = {"m=0 n=3 k=2",
                                                  "m=4 n=3 k=0 beta=2",
                                                  "m=1 n=1 k=1",
                                                  "m=1 n=7 k=31",
                                                  "m=13 n=1 k=5",
                                                  "m=17 n=19 k=23 transpose_a=1",
                                                  "m=9 n=25 k=7 transpose_b=1 alpha=-0.5",
                                                  "m=11 n=13 k=3 transpose_a=1 transpose_b=1 beta=2",
                                                  "m=65 n=37 k=259 beta=-0.25",
                                                  "m=131 n=136 k=200 beta=0.5",
                                                  "m=136 n=264 k=75 transpose_a=1",
                                                  "m=267 n=72 k=136 transpose_b=1 alpha=3",
                                                  "m=144 n=152 k=328 transpose_a=1 transpose_b=1 beta=-1",
                                                  "m=264 n=520 k=24",
                                                  "m=24 n=72 k=328 transpose_a=1 alpha=2",
                                                  "m=8 n=2184 k=136 transpose_b=1",
                                                  "m=72 n=2056 k=16",
                                                  NULL};
static const char *const bench_shapes[] = {"m=4096 n=4096 k=4096",
                                           "m=8192 n=8192 k=8192",
                                           "m=4096 n=4096 k=4096 transpose_b=1",
                                           "m=8192 n=8192 k=8192 transpose_b=1",
                                           "m=2048 n=2048 k=2048",
                                           "m=1024 n=1024 k=1024",
                                           "m=4001 n=4001 k=4001",
                                           "m=64 n=4096 k=4096",
                                           "m=8 n=17000 k=8",
                                           NULL};

#define HOPPER .capability = 90, .gpu_only = "wgmma and TMA"

static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_matmul_bf16_forward_cpu_naive,
     "three loops: two loads per multiplication", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element of the output: two loads per multiplication",
     NULL, NULL},
    {"02_wmma", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "tensor cores by wmma on tiles in shared memory: waits for every tile",
     NULL, NULL, .capability = 80},
    {"03_mma_sync", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "mma.sync and ldmatrix on swizzled tiles, cp.async ahead: all operands pass through registers", NULL, NULL,
     .capability = 80, .shared_bytes = HEDDLE_MATMUL_RING_BYTES},
    {"cublas", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "cuBLAS: limited by the tensor cores", NULL, NULL, .capability = 80,
     .gpu_only = "cuBLAS"},
    {"cublas_lt", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "cuBLASLt, the fastest of its algorithms by trial", NULL, NULL,
     .capability = 80, .gpu_only = "cuBLAS"},
    {"04_wgmma_tma", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "wgmma straight from shared memory, tiles by TMA: loads and products alternate", tma_takes, NULL, HOPPER},
    {"05_wgmma_producer_consumer", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one warpgroup loads, two multiply 128 x 256: every tile starts and ends alone", tma_takes, NULL, HOPPER},
    {"06_wgmma_persistent_clusters", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "persistent blocks, pairs that share their loads, stores beside the next tile's loads: limited by tensor cores "
     "and power",
     tma_takes, NULL, HOPPER},
    {"07_wgmma_split_k", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "the blocks of a cluster divide k and add up through distributed shared memory: limited by reading b", NULL,
     split_workspace, HOPPER, .pays = is_split},
};

const heddle_op heddle_op_matmul_bf16_forward = {
    .name = "matmul_bf16_forward",
    .ladder_name = "matmul_bf16",
    .summary = "matrix product of bf16, summed in float32: alpha * a * b + beta * output",
    .shape_size = sizeof(heddle_matmul_shape),
    HEDDLE_FIELDS(heddle_matmul_fields),
    HEDDLE_OPERANDS(forward_operands),
    .validate = heddle_matmul_validate,
    .cost = forward_cost,
    .reference = heddle_matmul_reference,
    .reduction = heddle_matmul_reduction,
    .test_shapes = forward_test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(forward_ladder),
};

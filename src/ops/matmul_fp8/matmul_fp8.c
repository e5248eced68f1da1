// matmul_fp8: a product of e4m3 numbers, summed in float32, scaled by one number per operand and rounded to bf16. Its
// cost, reference and ladder.
//
// A product of two e4m3 numbers has 8 bits and is exact in float32, so that only sums are rounded. Hopper's tensor
// cores keep about 14 bits of a sum of such products, however it is stored: rungs that use them have `sum_bits`, and
// add up what they give in float32 after every 128 of k (ops/tolerance.h).

#include "ops/matmul_fp8/matmul_fp8.h"

#include "ops/define.h"
#include "ops/matmul/pack.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_matmul_fp8_shape, m, "rows of a and of the output")},
    {HEDDLE_REQUIRED_INT(heddle_matmul_fp8_shape, n, "rows of b, columns of the output")},
    {HEDDLE_REQUIRED_INT(heddle_matmul_fp8_shape, k, "columns of a and b")},
};

HEDDLE_DIMS(dims_a, heddle_matmul_fp8_shape, shape->m, shape->k)
HEDDLE_DIMS(dims_b, heddle_matmul_fp8_shape, shape->n, shape->k)
HEDDLE_DIMS(dims_scale, heddle_matmul_fp8_shape, 1)
HEDDLE_DIMS(dims_output, heddle_matmul_fp8_shape, shape->m, shape->n)

#define E4M3(text, size)                                                                                               \
    .name = (text), .role = HEDDLE_INPUT, .dtype = HEDDLE_F8_E4M3, .values = HEDDLE_VALUES_NORMAL, .dims = (size)
static const heddle_operand operands[] = {
    {E4M3("a", dims_a)},
    {E4M3("b", dims_b)},
    {HEDDLE_FLOAT_INPUT("scale_a", HEDDLE_VALUES_POSITIVE, dims_scale)},
    {HEDDLE_FLOAT_INPUT("scale_b", HEDDLE_VALUES_POSITIVE, dims_scale)},
    {.name = "output", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_BF16, .dims = dims_output},
};

HEDDLE_COST(cost, operands, heddle_matmul_fp8_shape, 2.0 * shape->m * shape->n * shape->k)
HEDDLE_OF_SHAPE(int64_t, reduction, heddle_matmul_fp8_shape, shape->k)

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_matmul_fp8_shape *shape = shape_;
    const size_t m = (size_t)shape->m, n = (size_t)shape->n, k = (size_t)shape->k;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            const double *row_a = input[0] + i * k, *row_b = input[1] + j * k;
            double sum = 0;
            for (size_t p = 0; p < k; p++)
                sum += row_a[p] * row_b[p];
            output[0][i * n + j] = input[2][0] * input[3][0] * sum;
        }
}

// Ragged in every dimension first; then rows of 16 bytes, as TMA and cuBLASLt need, with partly filled tiles; then
// those that go round the ring of stages.
static const char *const test_shapes[] = {
    "m=0 n=3 k=2",      "m=4 n=3 k=0",       "m=1 n=1 k=1",      "m=1 n=7 k=31",
    "m=13 n=1 k=5",     "m=17 n=19 k=23",    "m=65 n=37 k=259",  "m=131 n=137 k=200",
    "m=5 n=16 k=16",    "m=131 n=136 k=208", "m=267 n=80 k=144", "m=144 n=160 k=336",
    "m=24 n=80 k=1936", "m=264 n=528 k=32",  "m=8 n=2192 k=272", NULL};
// Layers of a language model of 8 billion parameters for a few tokens; last, several tiles for each of a GPU's blocks.
static const char *const bench_shapes[] = {"m=4096 n=4096 k=4096",
                                           "m=8192 n=8192 k=8192",
                                           "m=2048 n=2048 k=2048",
                                           "m=1024 n=1024 k=1024",
                                           "m=4001 n=4001 k=4001",
                                           "m=4000 n=4016 k=4048",
                                           "m=1 n=4096 k=4096",
                                           "m=16 n=14336 k=4096",
                                           "m=64 n=4096 k=14336",
                                           "m=8 n=17008 k=16",
                                           NULL};

// Room for copies of a and b with rows of a multiple of 16 bytes, as TMA and cuBLASLt need.
HEDDLE_WORKSPACE(pack_workspace, heddle_matmul_fp8_shape,
                 heddle_pack_bytes((size_t)shape->m, (size_t)shape->k, 1) +
                     heddle_pack_bytes((size_t)shape->n, (size_t)shape->k, 1))

// cuBLASLt has no algorithm for other counts of rows of b than multiples of 16. No operand may be empty. Its output
// and its scales may need copies, too.
HEDDLE_OF_SHAPE(bool, cublas_takes, heddle_matmul_fp8_shape,
                shape->m > 0 && shape->n > 0 && shape->k > 0 && shape->n % 16 == 0)
HEDDLE_WORKSPACE(cublas_workspace, heddle_matmul_fp8_shape,
                 pack_workspace(shape, threads) + 2 * HEDDLE_PACK_ALIGNMENT +
                     (size_t)shape->m * (size_t)shape->n * sizeof(uint16_t))

enum { HOPPER_SUM_BITS = 14 };

// Slowest first.
static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_matmul_fp8_cpu_naive, "three loops, one thread", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per element: two byte loads and two conversions per multiplication", NULL, NULL},
    {"02_tiled", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "16 numbers per load, converted once per tile in shared memory: limited by float32 multiplications", NULL, NULL},
    {"03_half_mma", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "tensor cores by mma.sync; e4m3 becomes fp16 in registers, exactly", NULL, NULL, .capability = 80},
    {"cublas_lt", HEDDLE_CUDA, HEDDLE_VENDOR, NULL,
     "cuBLASLt, the fastest of its algorithms by trial, without its fast accumulation", cublas_takes, cublas_workspace,
     .capability = 90, .gpu_only = "cuBLAS", .sum_bits = HOPPER_SUM_BITS},
    {"04_wgmma", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "persistent clusters with wgmma on e4m3; sums promoted to float32 every 128 of k: limited by tensor cores", NULL,
     pack_workspace, .capability = 90, .gpu_only = "wgmma and TMA", .sum_bits = HOPPER_SUM_BITS},
};

const heddle_op heddle_op_matmul_fp8 = {
    .name = "matmul_fp8",
    .ladder_name = "matmul_fp8",
    .summary = "matrix product of fp8 (e4m3) with a scale per operand, summed in float32, to bf16",
    .shape_size = sizeof(heddle_matmul_fp8_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .cost = cost,
    .reference = reference,
    .reduction = reduction,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};

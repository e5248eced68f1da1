// matmul: output = alpha * op(a) * op(b) + beta * output. Its shapes, cost, reference and ladder.

#include "ops/matmul/matmul.h"

#include "ops/define.h"
#include "ops/matmul/pack.h"
#include "ops/matmul/parts.h"
#include "ops/matmul/tuned.h"

const heddle_field heddle_matmul_fields[HEDDLE_MATMUL_FIELDS] = {
    {HEDDLE_REQUIRED_INT(heddle_matmul_shape, m, "rows of a and of the output")},
    {HEDDLE_REQUIRED_INT(heddle_matmul_shape, n, "columns of b and of the output")},
    {HEDDLE_REQUIRED_INT(heddle_matmul_shape, k, "columns of a, rows of b")},
    {HEDDLE_OPTIONAL_INT(heddle_matmul_shape, transpose_a, 0, "1: a is stored (k, m)")},
    {HEDDLE_OPTIONAL_INT(heddle_matmul_shape, transpose_b, 0, "1: b is stored (n, k)")},
    {HEDDLE_OPTIONAL_FLOAT(heddle_matmul_shape, alpha, 1, "factor of the product")},
    {HEDDLE_OPTIONAL_FLOAT(heddle_matmul_shape, beta, 0, "factor of the output's old value; 0: it is not read")},
};

HEDDLE_SHARED_DIMS(heddle_matmul_dims_a, heddle_matmul_shape, shape->transpose_a ? shape->k : shape->m,
                   shape->transpose_a ? shape->m : shape->k)
HEDDLE_SHARED_DIMS(heddle_matmul_dims_b, heddle_matmul_shape, shape->transpose_b ? shape->n : shape->k,
                   shape->transpose_b ? shape->k : shape->n)
HEDDLE_SHARED_DIMS(heddle_matmul_dims_output, heddle_matmul_shape, shape->m, shape->n)

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("a", HEDDLE_VALUES_NORMAL, heddle_matmul_dims_a)},
    {HEDDLE_FLOAT_INPUT("b", HEDDLE_VALUES_NORMAL, heddle_matmul_dims_b)},
    {HEDDLE_FLOAT_UPDATE("output", HEDDLE_VALUES_NORMAL, heddle_matmul_dims_output)},
};

static const heddle_operand backward_operands[] = {
    {HEDDLE_FLOAT_INPUT("a", HEDDLE_VALUES_NORMAL, heddle_matmul_dims_a)},
    {HEDDLE_FLOAT_INPUT("b", HEDDLE_VALUES_NORMAL, heddle_matmul_dims_b)},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, heddle_matmul_dims_output)},
    {HEDDLE_FLOAT_OUTPUT("grad_a", heddle_matmul_dims_a), .optional = true},
    {HEDDLE_FLOAT_OUTPUT("grad_b", heddle_matmul_dims_b), .optional = true},
};

heddle_status heddle_matmul_validate(const void *shape_)
{
    const heddle_matmul_shape *shape = shape_;
    if (shape->transpose_a > 1 || shape->transpose_b > 1)
        return heddle_fail(HEDDLE_INVALID, "matmul: transpose_a and transpose_b are 0 or 1, not %d and %d",
                           shape->transpose_a, shape->transpose_b);
    return HEDDLE_OK;
}

static heddle_status backward_validate(const void *shape_)
{
    const heddle_matmul_shape *shape = shape_;
    if (shape->beta != 0.0f)
        return heddle_fail(
            HEDDLE_INVALID,
            "matmul_backward: beta is %g, but gradients are only defined for beta 0: the output's old value is gone",
            shape->beta);
    return heddle_matmul_validate(shape_);
}

static heddle_cost forward_cost(const void *shape_)
{
    const heddle_matmul_shape *shape = shape_;
    double m = shape->m, n = shape->n, k = shape->k;
    return (heddle_cost){.flops = 2 * m * n * k,
                         .bytes_read = sizeof(float) * (m * k + k * n + (shape->beta != 0.0f ? m * n : 0)),
                         .bytes_written = sizeof(float) * m * n};
}

HEDDLE_COST(backward_cost, backward_operands, heddle_matmul_shape, 4.0 * shape->m * shape->n * shape->k)

static size_t place_a(const heddle_matmul_shape *shape, int i, int p)
{
    return shape->transpose_a ? (size_t)p * shape->m + i : (size_t)i * shape->k + p;
}

static size_t place_b(const heddle_matmul_shape *shape, int p, int j)
{
    return shape->transpose_b ? (size_t)j * shape->k + p : (size_t)p * shape->n + j;
}

void heddle_matmul_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_matmul_shape *shape = shape_;
    for (int i = 0; i < shape->m; i++)
        for (int j = 0; j < shape->n; j++) {
            double sum = 0;
            for (int p = 0; p < shape->k; p++)
                sum += input[0][place_a(shape, i, p)] * input[1][place_b(shape, p, j)];
            double *place = &output[0][(size_t)i * shape->n + j];
            *place = shape->alpha * sum + (shape->beta == 0.0f ? 0 : shape->beta * *place);
        }
}

static void zero(double *values, size_t count)
{
    for (size_t i = 0; values && i < count; i++)
        values[i] = 0;
}

static void backward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_matmul_shape *shape = shape_;
    zero(output[0], (size_t)shape->m * shape->k);
    zero(output[1], (size_t)shape->k * shape->n);
    for (int i = 0; i < shape->m; i++)
        for (int j = 0; j < shape->n; j++) {
            double grad = shape->alpha * input[2][(size_t)i * shape->n + j];
            for (int p = 0; p < shape->k; p++) {
                if (output[0])
                    output[0][place_a(shape, i, p)] += grad * input[1][place_b(shape, p, j)];
                if (output[1])
                    output[1][place_b(shape, p, j)] += grad * input[0][place_a(shape, i, p)];
            }
        }
}

HEDDLE_SHARED_OF_SHAPE(int64_t, heddle_matmul_reduction, heddle_matmul_shape, shape->k)
HEDDLE_OF_SHAPE(int64_t, backward_reduction, heddle_matmul_shape, shape->m > shape->n ? shape->m : shape->n)

// The last four have rows of 16 bytes, as TMA needs, and partly filled tiles.
static const char *const forward_test_shapes[] = {"m=0 n=3 k=2",
                                                  "m=4 n=3 k=0",
                                                  "m=1 n=1 k=1",
                                                  "m=1 n=7 k=31",
                                                  "m=13 n=1 k=5",
                                                  "m=17 n=19 k=23 transpose_a=1",
                                                  "m=9 n=25 k=7 transpose_b=1 alpha=-0.5",
                                                  "m=11 n=13 k=3 transpose_a=1 transpose_b=1 beta=2",
                                                  "m=65 n=37 k=259 beta=-0.25",
                                                  "m=31 n=401 k=67",
                                                  "m=65 n=61 k=521 transpose_b=1",
                                                  "m=197 n=211 k=37 alpha=3 transpose_b=1",
                                                  "m=131 n=268 k=36 beta=0.5",
                                                  "m=268 n=132 k=36 transpose_a=1",
                                                  "m=267 n=132 k=68 transpose_b=1",
                                                  "m=132 n=260 k=28 transpose_a=1 transpose_b=1 alpha=2",
                                                  NULL};
static const char *const backward_test_shapes[] = {"m=0 n=3 k=2",
                                                   "m=4 n=3 k=0",
                                                   "m=1 n=1 k=1",
                                                   "m=1 n=7 k=31",
                                                   "m=17 n=19 k=23 transpose_a=1",
                                                   "m=9 n=25 k=7 transpose_b=1 alpha=-0.5",
                                                   "m=11 n=13 k=3 transpose_a=1 transpose_b=1",
                                                   "m=65 n=37 k=259",
                                                   "m=197 n=211 k=37 alpha=3",
                                                   NULL};
// Square ones, ragged ones, then the CNN's linear layer at batch 64 and 256, as its products.
static const char *const bench_shapes[] = {"m=1024 n=1024 k=1024",
                                           "m=2048 n=2048 k=2048",
                                           "m=4096 n=4096 k=4096",
                                           "m=8192 n=8192 k=8192",
                                           "m=1000 n=1000 k=1000",
                                           "m=4095 n=4095 k=4095",
                                           "m=2047 n=1025 k=513",
                                           "m=127 n=8191 k=333",
                                           "m=64 n=128 k=3136 transpose_b=1",
                                           "m=64 n=3136 k=128",
                                           "m=128 n=3136 k=64 transpose_a=1",
                                           "m=256 n=128 k=3136 transpose_b=1",
                                           "m=256 n=3136 k=128",
                                           "m=128 n=3136 k=256 transpose_a=1",
                                           NULL};

static bool forward_fits(const void *shape_)
{
    const heddle_matmul_shape *shape = shape_;
    const int most = HEDDLE_PRODUCT_MOST_SIZE;
    return shape->m < most && shape->n < most && shape->k < most;
}

static size_t forward_workspace(const void *shape, int threads)
{
    (void)threads;
    heddle_product product = heddle_product_forward(shape);
    return heddle_product_workspace(&product);
}

static size_t backward_workspace(const void *shape, int threads)
{
    (void)threads;
    heddle_product grad_a = heddle_product_grad_a(shape);
    heddle_product grad_b = heddle_product_grad_b(shape);
    size_t for_a = heddle_product_workspace(&grad_a), for_b = heddle_product_workspace(&grad_b);
    return for_a > for_b ? for_a : for_b;
}

HEDDLE_WORKSPACE(tf32x3_workspace, heddle_matmul_shape, heddle_tf32x3_workspace(shape))
HEDDLE_WORKSPACE(bf16x6_workspace, heddle_matmul_shape, heddle_bf16x6_workspace(shape))

// The one layout that CUTLASS's kernels are compiled for.
HEDDLE_OF_SHAPE(bool, cutlass_takes, heddle_matmul_shape, !shape->transpose_a && !shape->transpose_b && shape->k > 0)

// What TMA accepts: rows of every operand are a multiple of 16 bytes long, and no operand is empty.
static bool tf32_tma_takes(const void *shape_)
{
    const heddle_matmul_shape *shape = shape_;
    const int in_row = 16 / (int)sizeof(float);
    return shape->m > 0 && shape->n > 0 && shape->k > 0 && shape->n % in_row == 0 && shape->k % in_row == 0 &&
           (!shape->transpose_a || shape->m % in_row == 0);
}

// The one layout in which both operands lie along k, as wgmma needs for floats.
static bool tf32_tma_takes_as_stored(const void *shape_)
{
    const heddle_matmul_shape *shape = shape_;
    return !shape->transpose_a && shape->transpose_b && tf32_tma_takes(shape);
}

// Whether rung 14 does not take the product, or its tiles of 256 by 256, each on two SMs, occupy at most half of an
// H200's 132.
HEDDLE_OF_SHAPE(bool, tf32_is_split, heddle_matmul_shape,
                !tf32_tma_takes(shape) || ((long long)shape->m + 255) / 256 * (((long long)shape->n + 255) / 256) <= 33)

// Of an operand with `rows` rows along k, or stored (k, rows).
static size_t split_copy_bytes(int rows, int k, bool m_major, size_t element_bytes)
{
    if (m_major && element_bytes == sizeof(float))
        return heddle_pack_bytes((size_t)rows, (size_t)k, element_bytes);
    const size_t down = (size_t)(m_major ? k : rows), across = (size_t)(m_major ? rows : k);
    return heddle_pack_pitch(across, element_bytes) == across * element_bytes
               ? 0
               : heddle_pack_bytes(down, across, element_bytes);
}

size_t heddle_split_workspace(const heddle_matmul_shape *shape, size_t element_bytes)
{
    return split_copy_bytes(shape->m, shape->k, shape->transpose_a, element_bytes) +
           split_copy_bytes(shape->n, shape->k, !shape->transpose_b, element_bytes);
}

HEDDLE_WORKSPACE(split_workspace, heddle_matmul_shape, heddle_split_workspace(shape, sizeof(float)))

// If neither lies along k, a is transposed first.
HEDDLE_WORKSPACE(tf32_workspace, heddle_matmul_shape,
                 shape->transpose_a && !shape->transpose_b ? sizeof(float) * shape->m * shape->k : 0)

#define HOPPER .capability = 90, .gpu_only = "wgmma and TMA"

// Slowest first; gemm.h decides the place of OpenBLAS.
#define OPENBLAS_FORWARD                                                                                               \
    {                                                                                                                  \
        "cpu_openblas", HEDDLE_CPU, HEDDLE_VENDOR, heddle_matmul_forward_cpu_openblas,                                 \
            "OpenBLAS on pieces that depend only on the shape", NULL, heddle_matmul_forward_cpu_openblas_workspace     \
    }
#define OPENBLAS_BACKWARD                                                                                              \
    {                                                                                                                  \
        "cpu_openblas", HEDDLE_CPU, HEDDLE_VENDOR, heddle_matmul_backward_cpu_openblas,                                \
            "two products by OpenBLAS on pieces that depend only on the shape", NULL,                                  \
            heddle_matmul_backward_cpu_openblas_workspace                                                              \
    }

static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_matmul_forward_cpu_naive,
     "three loops: two loads per multiplication", NULL, NULL},
#if HEDDLE_HAVE_OPENBLAS && HEDDLE_BLOCKED_BEATS_OPENBLAS
    OPENBLAS_FORWARD,
#endif
    {"cpu_blocked", HEDDLE_CPU, HEDDLE_TUNED, heddle_matmul_forward_cpu_blocked,
     "packed panels, a tile of the result in registers, all threads", NULL,
     heddle_matmul_forward_cpu_blocked_workspace},
#if HEDDLE_HAVE_OPENBLAS && !HEDDLE_BLOCKED_BEATS_OPENBLAS
    OPENBLAS_FORWARD,
#endif
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per element, down the columns: a warp's loads of a and its stores are 32 sectors each", NULL, NULL},
    {"02_coalesced", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "the same along the rows: coalesced, but two loads per multiplication", NULL, NULL},
    {"03_shared_tiles", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "32 by 32 tiles in shared memory: two shared memory loads per multiplication", NULL, NULL},
    {"04_register_tiles_1d", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "8 elements of a column per thread: 9 shared memory loads for 8 multiplications", NULL, NULL},
    {"05_register_tiles_2d", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "8 by 8 elements per thread: 16 loads for 64 multiplications", NULL, NULL},
    {"06_vectorised_loads", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "four floats per load, a transposed while it is loaded: 4 loads for 64, with bank conflicts", NULL, NULL},
    {"07_no_bank_conflicts", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "padded rows, and columns in two halves: a warp reads 144 floats per step of k", NULL, NULL},
    {"08_warp_tiles", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "64 by 32 elements per warp: 96 floats per step of k; loads and multiplications alternate", NULL, NULL},
    {"09_double_buffered", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "cp.async loads the next tile meanwhile: one tile size for all shapes", NULL, NULL},
    {"10_tuned", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "a tiling for each shape, up to 8 by 16 elements per thread, k split if tiles are few: limited by issue slots",
     forward_fits, forward_workspace, .shared_bytes = HEDDLE_PRODUCT_SHARED_BYTES},
    // Before the tf32 rungs: a request for tf32 may use these as well, and the last suitable rung is chosen.
    {"15_tf32x3_mma_sync", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "float32 in two tf32 parts, three products by mma.sync, sums in float32: limited by mma.sync and by splitting",
     forward_fits, tf32x3_workspace, .arithmetic = HEDDLE_TF32X3, .capability = 80},
    {"16_bf16x6_wgmma", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "float32 in three bfloat16 parts, packed once, six products by wgmma, sums in float32: limited by tensor cores "
     "and power",
     forward_fits, bf16x6_workspace, .arithmetic = HEDDLE_TF32X3, HOPPER},
    {"11_tf32_wmma", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "tensor cores by wmma on tiles in shared memory: waits for every tile", NULL, NULL, .arithmetic = HEDDLE_TF32,
     .capability = 80},
    {"12_tf32_mma_sync", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "mma.sync and ldmatrix on swizzled tiles, cp.async ahead: all operands pass through registers", NULL, NULL,
     .arithmetic = HEDDLE_TF32, .capability = 80, .shared_bytes = HEDDLE_MATMUL_RING_BYTES},
    {"13_tf32_wgmma_tma", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "wgmma straight from shared memory, tiles by TMA, for b stored (n, k): loads and products alternate",
     tf32_tma_takes_as_stored, NULL, .arithmetic = HEDDLE_TF32, HOPPER},
    {"14_tf32_wgmma_persistent_clusters", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "persistent blocks, pairs that share their loads, one operand through registers: limited by tensor cores and "
     "power",
     tf32_tma_takes, tf32_workspace, .arithmetic = HEDDLE_TF32, HOPPER},
    {"17_tf32_wgmma_split_k", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "the blocks of a cluster divide k and add up through distributed shared memory; operands that do not lie along k "
     "are copied first: limited by L2",
     NULL, split_workspace, .arithmetic = HEDDLE_TF32, HOPPER, .pays = tf32_is_split},
    {"cutlass", HEDDLE_CUDA, HEDDLE_VENDOR, NULL,
     "CUTLASS, tiles of 128 or 64 by 128, untransposed matrices: limited by the float32 units", cutlass_takes, NULL,
     .capability = 80, .gpu_only = "CUTLASS"},
    {"cublas", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "cuBLAS in float32: limited by the float32 units", NULL, NULL,
     .gpu_only = "cuBLAS"},
    {"cublas_lt", HEDDLE_CUDA, HEDDLE_VENDOR, NULL,
     "cuBLASLt, the fastest of its algorithms by trial: limited by the float32 units", NULL, NULL,
     .gpu_only = "cuBLAS"},
    {"cublas_tf32", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "cuBLAS on tensor cores: float32 rounded to 10 bits of mantissa",
     NULL, NULL, .arithmetic = HEDDLE_TF32, .capability = 80, .gpu_only = "cuBLAS"},
};

static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_matmul_backward_cpu_naive,
     "three loops for each gradient: two loads per multiplication", NULL, NULL},
#if HEDDLE_HAVE_OPENBLAS && HEDDLE_BLOCKED_BEATS_OPENBLAS
    OPENBLAS_BACKWARD,
#endif
    {"cpu_blocked", HEDDLE_CPU, HEDDLE_TUNED, heddle_matmul_backward_cpu_blocked,
     "two products of packed panels, a tile of the result in registers, all threads", NULL,
     heddle_matmul_backward_cpu_blocked_workspace},
#if HEDDLE_HAVE_OPENBLAS && !HEDDLE_BLOCKED_BEATS_OPENBLAS
    OPENBLAS_BACKWARD,
#endif
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per element of each gradient: two loads per multiplication", NULL, NULL},
    {"10_tuned", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "two products by the forward operator's tuned kernel", forward_fits,
     backward_workspace, .shared_bytes = HEDDLE_PRODUCT_SHARED_BYTES},
    {"cublas", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "two products by cuBLAS in float32: limited by the float32 units",
     NULL, NULL, .gpu_only = "cuBLAS"},
    {"cublas_tf32", HEDDLE_CUDA, HEDDLE_VENDOR, NULL,
     "two products by cuBLAS on tensor cores: float32 rounded to 10 bits of mantissa", NULL, NULL,
     .arithmetic = HEDDLE_TF32, .capability = 80, .gpu_only = "cuBLAS"},
};

static const heddle_op *const gradients[] = {&heddle_op_matmul_backward, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "matmul", .shape_size = sizeof(heddle_matmul_shape), HEDDLE_FIELDS(heddle_matmul_fields),           \
    .bench_shapes = bench_shapes

const heddle_op heddle_op_matmul_forward = {
    .name = "matmul_forward",
    .summary = "matrix product: alpha * a * b + beta * output",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .validate = heddle_matmul_validate,
    .cost = forward_cost,
    .reference = heddle_matmul_reference,
    .reduction = heddle_matmul_reduction,
    .test_shapes = forward_test_shapes,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_matmul_backward = {
    .name = "matmul_backward",
    .summary = "gradients of a matrix product",
    SHARED,
    HEDDLE_OPERANDS(backward_operands),
    .validate = backward_validate,
    .cost = backward_cost,
    .reference = backward_reference,
    .reduction = backward_reduction,
    .test_shapes = backward_test_shapes,
    HEDDLE_LADDER(backward_ladder),
};

// attention: softmax(q kᵀ / sqrt(size)) v for each head, and its gradients. Its operands, costs, shapes and ladders;
// the reference is in reference.c.

#include "ops/attention/attention.h"

#include "ops/define.h"

typedef heddle_attention_shape attention_shape;

static const heddle_field fields[] = {
    {HEDDLE_OPTIONAL_INT(attention_shape, batch, 1, "samples")},
    {HEDDLE_OPTIONAL_INT(attention_shape, heads, 1, "heads of each sample")},
    {HEDDLE_REQUIRED_INT(attention_shape, queries, "length of the sequence that asks")},
    {HEDDLE_REQUIRED_INT(attention_shape, keys, "length of the sequence that is asked")},
    {HEDDLE_REQUIRED_INT(attention_shape, size, "numbers of a head, 1 to 128")},
    {HEDDLE_OPTIONAL_INT(attention_shape, causal, 0, "1: query i sees keys 0 to i alone")},
};

HEDDLE_DIMS(dims_q, attention_shape, shape->batch, shape->heads, shape->queries, shape->size)
HEDDLE_DIMS(dims_k, attention_shape, shape->batch, shape->heads, shape->keys, shape->size)
HEDDLE_DIMS(dims_rows, attention_shape, shape->batch, shape->heads, shape->queries)

// Element: of all operands but the logs of sums.
#define READ(text, contents, size, element)                                                                            \
    {                                                                                                                  \
        .name = (text), .role = HEDDLE_INPUT, .dtype = (element), .values = (contents), .dims = (size)                 \
    }
#define WRITTEN(text, size, element)                                                                                   \
    {                                                                                                                  \
        .name = (text), .role = HEDDLE_OUTPUT, .dtype = (element), .dims = (size), .by_row = true                      \
    }
#define FORWARD(element)                                                                                               \
    READ("q", HEDDLE_VALUES_NORMAL, dims_q, element), READ("k", HEDDLE_VALUES_NORMAL, dims_k, element),                \
        READ("v", HEDDLE_VALUES_NORMAL, dims_k, element), WRITTEN("output", dims_q, element),                          \
    {                                                                                                                  \
        HEDDLE_FLOAT_OUTPUT("log_sums", dims_rows)                                                                     \
    }
#define BACKWARD(element)                                                                                              \
    READ("q", HEDDLE_VALUES_NORMAL, dims_q, element), READ("k", HEDDLE_VALUES_NORMAL, dims_k, element),                \
        READ("v", HEDDLE_VALUES_NORMAL, dims_k, element), READ("output", HEDDLE_VALUES_SAVED, dims_q, element),        \
        READ("log_sums", HEDDLE_VALUES_SAVED, dims_rows, HEDDLE_F32),                                                  \
        READ("grad_output", HEDDLE_VALUES_NORMAL, dims_q, element), WRITTEN("grad_q", dims_q, element),                \
        WRITTEN("grad_k", dims_k, element), WRITTEN("grad_v", dims_k, element)

static const heddle_operand forward_operands[] = {FORWARD(HEDDLE_F32)};
static const heddle_operand backward_operands[] = {BACKWARD(HEDDLE_F32)};
static const heddle_operand bf16_forward_operands[] = {FORWARD(HEDDLE_BF16)};
static const heddle_operand bf16_backward_operands[] = {BACKWARD(HEDDLE_BF16)};
static const heddle_operand fp16_forward_operands[] = {FORWARD(HEDDLE_F16)};
static const heddle_operand fp16_backward_operands[] = {BACKWARD(HEDDLE_F16)};

static heddle_status validate(const void *shape_)
{
    const attention_shape *shape = shape_;
    if (shape->batch < 0 || shape->heads < 0 || shape->queries < 0)
        return heddle_fail(HEDDLE_INVALID, "attention of batch=%d heads=%d queries=%d: none may be negative",
                           shape->batch, shape->heads, shape->queries);
    if (shape->keys < 1)
        return heddle_fail(HEDDLE_INVALID, "attention of keys=%d: a query needs at least one key", shape->keys);
    if (shape->size < 1 || shape->size > HEDDLE_ATTENTION_SIZE)
        return heddle_fail(HEDDLE_INVALID, "attention of size=%d: heads of 1 to %d numbers are implemented",
                           shape->size, HEDDLE_ATTENTION_SIZE);
    if (shape->causal != 0 && shape->causal != 1)
        return heddle_fail(HEDDLE_INVALID, "attention of causal=%d: it is 0 or 1", shape->causal);
    return HEDDLE_OK;
}

// --- cost ------------------------------------------------------------------------------------------------------------

// Queries times the keys they see, of all heads.
static double pairs(const attention_shape *shape)
{
    double queries = shape->queries, keys = shape->keys;
    double hidden = shape->causal && queries < keys ? queries : keys; // of them the first see less than all keys
    return (double)shape->batch * shape->heads *
           (shape->causal ? queries * keys - hidden * keys + hidden * (hidden + 1) / 2 : queries * keys);
}

// Two products of matrices forward, five backward, two operations for each of their terms.
HEDDLE_COST(forward_cost, forward_operands, attention_shape, 4 * pairs(shape) * shape->size)
HEDDLE_COST(backward_cost, backward_operands, attention_shape, 10 * pairs(shape) * shape->size)
HEDDLE_COST(forward_cost_16, bf16_forward_operands, attention_shape, 4 * pairs(shape) * shape->size)
HEDDLE_COST(backward_cost_16, bf16_backward_operands, attention_shape, 10 * pairs(shape) * shape->size)

// A score is a sum over the head, a result one over the sequence.
static int64_t reduction(const void *shape_)
{
    const attention_shape *shape = shape_;
    return (int64_t)shape->size + (shape->queries > shape->keys ? shape->queries : shape->keys);
}

// --- shapes ----------------------------------------------------------------------------------------------------------

// Ones and primes; several tiles of keys and of queries that end early; heads of the widest tile, whose last keys no
// query sees. In 16 bits more tiles than fit into shared memory at once; fp16 has the code of bf16.
static const char *const test_shapes[] = {"batch=0 queries=3 keys=5 size=4",
                                          "heads=3 queries=0 keys=2 size=8",
                                          "queries=1 keys=1 size=1",
                                          "batch=2 queries=7 keys=3 size=5 causal=1",
                                          "queries=5 keys=67 size=64",
                                          "queries=259 keys=9 size=24 causal=1",
                                          "queries=5 keys=131 size=128 causal=1",
                                          NULL};
static const char *const test_shapes_16[] = {
    "heads=3 queries=0 keys=2 size=8",     "batch=2 queries=3 keys=7 size=5",     "queries=5 keys=257 size=64",
    "queries=259 keys=9 size=24 causal=1", "queries=9 keys=70 size=128 causal=1", NULL};
static const char *const fp16_test_shapes[] = {"queries=259 keys=7 size=64", "queries=9 keys=70 size=128 causal=1",
                                               NULL};

// The first is short enough for a CPU; the others need the device's reference. The last but one has heads of several
// tiles that end early, more than there are SMs, in Hopper's rungs.
static const char *const forward_bench_shapes[] = {
    "heads=8 queries=1024 keys=1024 size=64 causal=1",   "batch=4 heads=16 queries=2048 keys=2048 size=64 causal=1",
    "batch=4 heads=16 queries=2048 keys=2048 size=64",   "batch=4 heads=16 queries=2048 keys=2048 size=128 causal=1",
    "batch=4 heads=16 queries=2048 keys=2048 size=128",  "batch=2 heads=71 queries=300 keys=181 size=128",
    "heads=16 queries=8192 keys=8192 size=128 causal=1", NULL};
static const char *const backward_bench_shapes[] = {"heads=8 queries=1024 keys=1024 size=64 causal=1",
                                                    "heads=16 queries=2048 keys=2048 size=64 causal=1",
                                                    "heads=16 queries=2048 keys=2048 size=64",
                                                    "heads=16 queries=2048 keys=2048 size=128 causal=1",
                                                    "batch=2 heads=71 queries=300 keys=181 size=128",
                                                    "heads=8 queries=2048 keys=2048 size=128",
                                                    NULL};

// --- ladders, slowest first ------------------------------------------------------------------------------------------

// One number per query.
HEDDLE_WORKSPACE(means_workspace, attention_shape,
                 sizeof(float) * (size_t)shape->batch * (size_t)shape->heads * (size_t)shape->queries)

// Rung 7's: two numbers and the sums of grad_q per query, in whole tiles.
static size_t pass_workspace(const void *shape_, int threads)
{
    const attention_shape *shape = shape_;
    const size_t tile = HEDDLE_ATTENTION_PASS_QUERIES(shape->size), tiles = ((size_t)shape->queries + tile - 1) / tile;
    (void)threads;
    return sizeof(float) * (size_t)shape->batch * (size_t)shape->heads * tiles * tile * ((size_t)shape->size + 2);
}

static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_attention_forward_cpu_naive,
     "one query and one key at a time: every score is computed twice", NULL, NULL},
    {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_attention_forward_cpu_rows,
     "queries over the threads, vectors along each row: k and v are read for each query", NULL,
     heddle_attention_forward_cpu_rows_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per query: scores are computed three times, k and v come from global memory", NULL, NULL},
    {"02_tiled", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "tiles of k and v in shared memory, two passes over them: scores are computed twice", NULL, NULL},
    {"03_online", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "online softmax, one pass over the keys: limited by loads from shared memory", NULL, NULL},
    {"04_flash", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "128 queries per block, all sums in registers: limited by multiplications and by waits for tiles", NULL, NULL,
     .shared_bytes = HEDDLE_ATTENTION_FLASH_BYTES},
};
static const heddle_rung backward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_attention_backward_cpu_naive, "one query and one key at a time",
     NULL, NULL},
    {"cpu_rows", HEDDLE_CPU, HEDDLE_TUNED, heddle_attention_backward_cpu_rows,
     "queries, then keys over the threads, vectors along each row", NULL, heddle_attention_backward_cpu_rows_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per query, then one per key: all from global memory",
     NULL, NULL},
    {"04_flash", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "weights computed again tile by tile, once for queries and once for keys: no atomics", NULL, means_workspace,
     .shared_bytes = HEDDLE_ATTENTION_FLASH_BACKWARD_BYTES},
};

// In 16 bits; `type` is bf16 or fp16, by whose roundoff the weights are off.
#define FORWARD_16(type, rounded)                                                                                      \
    {"cpu_naive",                                                                                                      \
     HEDDLE_CPU,                                                                                                       \
     HEDDLE_NAIVE,                                                                                                     \
     heddle_attention_##type##_forward_cpu_naive,                                                                      \
     "one query and one key at a time, in float32",                                                                    \
     NULL,                                                                                                             \
     NULL},                                                                                                            \
        {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per query, in float32: all from global memory",      \
         NULL,       NULL},                                                                                            \
        {"05_mma_sync",                                                                                                \
         HEDDLE_CUDA,                                                                                                  \
         HEDDLE_TUNED,                                                                                                 \
         NULL,                                                                                                         \
         "flash attention by mma.sync, weights in registers: tensor cores wait for loads and exponentials",            \
         NULL,                                                                                                         \
         NULL,                                                                                                         \
         .arithmetic = (rounded),                                                                                      \
         .capability = 80},                                                                                            \
    {                                                                                                                  \
        "06_wgmma_tma", HEDDLE_CUDA, HEDDLE_TUNED, NULL,                                                               \
            "wgmma from shared memory, tiles by TMA from a thread of its own, exponentials beside products",           \
            hopper_takes, NULL, .arithmetic = (rounded), .capability = 90, .gpu_only = "wgmma and TMA"                 \
    }
#define BACKWARD_16(type, rounded)                                                                                     \
    {"cpu_naive",                                                                                                      \
     HEDDLE_CPU,                                                                                                       \
     HEDDLE_NAIVE,                                                                                                     \
     heddle_attention_##type##_backward_cpu_naive,                                                                     \
     "one query and one key at a time, in float32",                                                                    \
     NULL,                                                                                                             \
     NULL},                                                                                                            \
        {"01_naive",                                                                                                   \
         HEDDLE_CUDA,                                                                                                  \
         HEDDLE_NAIVE,                                                                                                 \
         NULL,                                                                                                         \
         "one thread per query, then one per key, in float32: all from global memory",                                 \
         NULL,                                                                                                         \
         NULL},                                                                                                        \
        {"05_mma_sync",                                                                                                \
         HEDDLE_CUDA,                                                                                                  \
         HEDDLE_TUNED,                                                                                                 \
         NULL,                                                                                                         \
         "mma.sync, once for queries and once for keys: no atomics, seven products instead of five",                   \
         NULL,                                                                                                         \
         means_workspace,                                                                                              \
         .arithmetic = (rounded),                                                                                      \
         .capability = 80},                                                                                            \
    {                                                                                                                  \
        "07_wgmma_one_pass", HEDDLE_CUDA, HEDDLE_TUNED, NULL,                                                          \
            "wgmma and TMA, five products in one pass: grad_q by atomics, its last bits differ from run to run",       \
            hopper_takes, pass_workspace, .arithmetic = (rounded), .capability = 90, .gpu_only = "wgmma and TMA",      \
                                          .unordered = true                                                            \
    }

HEDDLE_OF_SHAPE(bool, hopper_takes, attention_shape,
                (shape->size == 64 || shape->size == 128) && shape->batch > 0 && shape->heads > 0 && shape->queries > 0)

static const heddle_rung bf16_forward_ladder[] = {FORWARD_16(bf16, HEDDLE_BFLOAT)};
static const heddle_rung bf16_backward_ladder[] = {BACKWARD_16(bf16, HEDDLE_BFLOAT)};
static const heddle_rung fp16_forward_ladder[] = {FORWARD_16(fp16, HEDDLE_FP16)};
static const heddle_rung fp16_backward_ladder[] = {BACKWARD_16(fp16, HEDDLE_FP16)};

static const heddle_op *const gradients[] = {&heddle_op_attention_backward, NULL};
static const heddle_op *const bf16_gradients[] = {&heddle_op_attention_bf16_backward, NULL};
static const heddle_op *const fp16_gradients[] = {&heddle_op_attention_fp16_backward, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "attention", .shape_size = sizeof(attention_shape), HEDDLE_FIELDS(fields), .validate = validate,    \
    .reduction = reduction

const heddle_op heddle_op_attention_forward = {
    .name = "attention_forward",
    .summary = "scaled dot-product attention of each head: softmax(q kT / sqrt(size)) v",
    SHARED,
    .test_shapes = test_shapes,
    HEDDLE_OPERANDS(forward_operands),
    .cost = forward_cost,
    .reference = heddle_attention_forward_reference,
    .bench_shapes = forward_bench_shapes,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_attention_backward = {
    .name = "attention_backward",
    .summary = "gradient of attention; the probabilities are computed again from the logs of their sums",
    SHARED,
    .test_shapes = test_shapes,
    HEDDLE_OPERANDS(backward_operands),
    .cost = backward_cost,
    .reference = heddle_attention_backward_reference,
    .bench_shapes = backward_bench_shapes,
    HEDDLE_LADDER(backward_ladder),
};

const heddle_op heddle_op_attention_bf16_forward = {
    .name = "attention_bf16_forward",
    .summary = "attention of bf16: weights rounded to it, sums in float32",
    SHARED,
    .test_shapes = test_shapes_16,
    HEDDLE_OPERANDS(bf16_forward_operands),
    .cost = forward_cost_16,
    .reference = heddle_attention_forward_reference,
    .bench_shapes = forward_bench_shapes,
    .gradients = bf16_gradients,
    HEDDLE_LADDER(bf16_forward_ladder),
};

const heddle_op heddle_op_attention_bf16_backward = {
    .name = "attention_bf16_backward",
    .summary = "gradient of attention of bf16",
    SHARED,
    .test_shapes = test_shapes_16,
    HEDDLE_OPERANDS(bf16_backward_operands),
    .cost = backward_cost_16,
    .reference = heddle_attention_backward_reference,
    .bench_shapes = backward_bench_shapes,
    HEDDLE_LADDER(bf16_backward_ladder),
};

const heddle_op heddle_op_attention_fp16_forward = {
    .name = "attention_fp16_forward",
    .summary = "attention of fp16: weights rounded to it, sums in float32",
    SHARED,
    .test_shapes = fp16_test_shapes,
    HEDDLE_OPERANDS(fp16_forward_operands),
    .cost = forward_cost_16,
    .reference = heddle_attention_forward_reference,
    .bench_shapes = forward_bench_shapes,
    .gradients = fp16_gradients,
    HEDDLE_LADDER(fp16_forward_ladder),
};

const heddle_op heddle_op_attention_fp16_backward = {
    .name = "attention_fp16_backward",
    .summary = "gradient of attention of fp16",
    SHARED,
    .test_shapes = fp16_test_shapes,
    HEDDLE_OPERANDS(fp16_backward_operands),
    .cost = backward_cost_16,
    .reference = heddle_attention_backward_reference,
    .bench_shapes = backward_bench_shapes,
    HEDDLE_LADDER(fp16_backward_ladder),
};

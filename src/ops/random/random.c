// random: bits, uniform and normal numbers by Philox 4x32-10, word for word the same as cuRAND's. Costs, references and
// ladders.
//
// Element i has word p = position + i of the output's words: word p % 4 of block p / 4. The blocks come from
// `sequences` sequences in turn: block b is block b / sequences of sequence `sequence` + b % sequences. In Philox's
// terms key = seed and counter = {block, sequence}, 64 bits each.
//     sequences = 1       cuRAND's device API: curand_init(seed, sequence, position), then one curand() per element.
//     sequences = 65536   cuRAND's host API, for sequence 0: seed, offset = position, in the default and legacy order.
//                         Also what 65536 threads would write that take a block each, round after round.
// A normal number is half of the Box-Muller transform of two words, at an even place and the odd one after it: p and p
// + 1 for even p (radius times sine), p - 1 and p for odd (times cosine). The pairing goes by p, as in cuRAND's host
// API; the device API pairs from its starting place, which is the same if that is even.

#include "ops/random/random.h"

#include <math.h>

#include "heddle/random.h"
#include "ops/define.h"

// The three shapes begin alike.
#define COMMON_FIELDS(shape)                                                                                           \
    {HEDDLE_REQUIRED_INT(shape, n, "numbers")},                                                                        \
    {                                                                                                                  \
        HEDDLE_OPTIONAL_INT(shape, sequences, 1,                                                                       \
                            "that blocks of four words come from in turn; 65536: the order of cuRAND's host API")      \
    }

static const heddle_field bits_fields[] = {COMMON_FIELDS(heddle_random_bits_shape)};

static const heddle_field uniform_fields[] = {
    COMMON_FIELDS(heddle_random_uniform_shape),
    {HEDDLE_OPTIONAL_FLOAT(heddle_random_uniform_shape, low, 0,
                           "lower limit; numbers are above it, or equal to it by rounding")},
    {HEDDLE_OPTIONAL_FLOAT(heddle_random_uniform_shape, high, 1, "upper limit, included")},
};

static const heddle_field normal_fields[] = {
    COMMON_FIELDS(heddle_random_normal_shape),
    {HEDDLE_OPTIONAL_FLOAT(heddle_random_normal_shape, mean, 0, "mean of the numbers")},
    {HEDDLE_OPTIONAL_FLOAT(heddle_random_normal_shape, deviation, 1, "standard deviation of the numbers")},
};

static const heddle_random_bits_shape *common(const void *shape)
{
    return shape;
}

HEDDLE_DIMS(dims_numbers, heddle_random_bits_shape, shape->n)
HEDDLE_DIMS(dims_random, void, HEDDLE_RANDOM_STATE)

static const heddle_operand bits_operands[] = {
    {.name = "random", .role = HEDDLE_INPUT, .dtype = HEDDLE_I64, .values = HEDDLE_VALUES_OWN, .dims = dims_random},
    {.name = "output", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims_numbers},
};

static const heddle_operand float_operands[] = {
    {.name = "random", .role = HEDDLE_INPUT, .dtype = HEDDLE_I64, .values = HEDDLE_VALUES_OWN, .dims = dims_random},
    {HEDDLE_FLOAT_OUTPUT("output", dims_numbers)},
};

// Large, to test the high halves of the state and the wrap of the counter's low half, which with one or few sequences
// comes after as few as 16 words. A ragged number of numbers begins inside a block. cuRAND's host API begins at
// sequence 0.
static void fill(const void *shape, int operand, uint64_t seed, double *values)
{
    (void)operand;
    bool host_order = common(shape)->sequences == HEDDLE_RANDOM_HOST_SEQUENCES;
    double turns = fmin(common(shape)->sequences, HEDDLE_RANDOM_HOST_SEQUENCES);
    values[HEDDLE_RANDOM_SEED] = (double)(0x123456789abcu + seed % 0x10000u);
    values[HEDDLE_RANDOM_SEQUENCE] = host_order ? 0 : (double)(0x700000000u + seed % 7u);
    values[HEDDLE_RANDOM_POSITION] = turns * (0x1p34 - 16) + common(shape)->n % HEDDLE_RANDOM_WORDS;
}

static heddle_status check_sequences(const char *op, int sequences)
{
    if (sequences < 1 || (sequences & (sequences - 1)) != 0)
        return heddle_fail(HEDDLE_INVALID, "%s: sequences is %d, and must be a power of two: 1, 2, 4, ...", op,
                           sequences);
    return HEDDLE_OK;
}

static heddle_status bits_validate(const void *shape)
{
    return check_sequences("random_bits", common(shape)->sequences);
}

static heddle_status uniform_validate(const void *shape_)
{
    const heddle_random_uniform_shape *shape = shape_;
    if (!isfinite(shape->low) || !isfinite(shape->high) || !isfinite(shape->high - shape->low))
        return heddle_fail(HEDDLE_INVALID,
                           "random_uniform: low is %g and high %g; both and their difference must be finite floats",
                           shape->low, shape->high);
    if (shape->low >= shape->high)
        return heddle_fail(HEDDLE_INVALID, "random_uniform: low is %g and high %g; low must be below high", shape->low,
                           shape->high);
    return check_sequences("random_uniform", shape->sequences);
}

static heddle_status normal_validate(const void *shape_)
{
    const heddle_random_normal_shape *shape = shape_;
    if (!isfinite(shape->mean) || !isfinite(shape->deviation))
        return heddle_fail(HEDDLE_INVALID, "random_normal: mean is %g and deviation %g; both must be finite",
                           shape->mean, shape->deviation);
    if (shape->deviation < 0.0f)
        return heddle_fail(HEDDLE_INVALID, "random_normal: deviation is %g, and must not be negative",
                           shape->deviation);
    return check_sequences("random_normal", shape->sequences);
}

// Only the state is read, and there is no agreed count of operations for a random number: the roofline counts bytes.
HEDDLE_COST(cost, float_operands, heddle_random_bits_shape, 0)

// --- the reference --------------------------------------------------------------------------------------------------

// Word p of the output's words; its block is cached for the next call.
typedef struct reader {
    uint64_t seed, sequence, sequences, block;
    bool is_there;
    uint32_t words[HEDDLE_RANDOM_WORDS];
} reader;

static reader reader_make(const void *shape, const double *state)
{
    return (reader){.seed = (uint64_t)state[HEDDLE_RANDOM_SEED],
                    .sequence = (uint64_t)state[HEDDLE_RANDOM_SEQUENCE],
                    .sequences = (uint64_t)common(shape)->sequences};
}

static uint32_t word_at(reader *from, uint64_t p)
{
    uint64_t block = p / HEDDLE_RANDOM_WORDS;
    if (!from->is_there || from->block != block) {
        uint64_t number = block / from->sequences, sequence = from->sequence + block % from->sequences;
        const uint32_t key[2] = {(uint32_t)from->seed, (uint32_t)(from->seed >> 32)};
        const uint32_t counter[4] = {(uint32_t)number, (uint32_t)(number >> 32), (uint32_t)sequence,
                                     (uint32_t)(sequence >> 32)};
        heddle_philox(counter, key, from->words);
        from->block = block;
        from->is_there = true;
    }
    return from->words[p % HEDDLE_RANDOM_WORDS];
}

static void bits_reference(const void *shape, const double *const *input, double *const *output)
{
    reader from = reader_make(shape, input[0]);
    uint64_t position = (uint64_t)input[0][HEDDLE_RANDOM_POSITION];
    for (int i = 0; i < common(shape)->n; i++)
        output[0][i] = (int32_t)word_at(&from, position + (uint64_t)i);
}

static double uniform_of(uint32_t word)
{
    return (float)((float)word * HEDDLE_RANDOM_STEP + HEDDLE_RANDOM_STEP / 2);
}

static void uniform_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_random_uniform_shape *shape = shape_;
    reader from = reader_make(shape, input[0]);
    uint64_t position = (uint64_t)input[0][HEDDLE_RANDOM_POSITION];
    for (int i = 0; i < shape->n; i++)
        output[0][i] =
            shape->low + ((double)shape->high - shape->low) * uniform_of(word_at(&from, position + (uint64_t)i));
}

// The uniform number and the angle are rounded to float before they are used, as part of the definition: otherwise a
// rounding of the angle, multiplied by a radius of up to 6.7, would be most of the difference.
static void normal_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_random_normal_shape *shape = shape_;
    reader from = reader_make(shape, input[0]);
    uint64_t position = (uint64_t)input[0][HEDDLE_RANDOM_POSITION];
    for (int i = 0; i < shape->n; i++) {
        uint64_t p = position + (uint64_t)i;
        double radius = sqrt(-2 * log(uniform_of(word_at(&from, p & ~(uint64_t)1))));
        double turned = (double)(float)word_at(&from, p | 1) * HEDDLE_RANDOM_ANGLE + HEDDLE_RANDOM_ANGLE / 2;
        double angle = (float)turned;
        output[0][i] = shape->mean + shape->deviation * radius * (p % 2 == 0 ? sin(angle) : cos(angle));
    }
}

// A normal number is not a sum, but uses a sine that hardware looks up: it is off by up to 2^-21 of a radius of up to
// 6.7, some fifty roundings of a float near 1. A sum of this length is allowed a hundred.
static int64_t normal_reduction(const void *shape)
{
    (void)shape;
    return 512;
}

// --- shapes and ladders ----------------------------------------------------------------------------------------------

static const char *const bits_test_shapes[] = {
    "n=0", "n=1", "n=31", "n=1021", "n=263 sequences=4", "n=1030 sequences=65536", "n=2052 sequences=1048576", NULL};
static const char *const uniform_test_shapes[] = {
    "n=0", "n=1", "n=31", "n=1021 low=-3 high=5", "n=263 sequences=4", "n=1030 sequences=65536", NULL};
static const char *const normal_test_shapes[] = {
    "n=0", "n=1", "n=31", "n=1021 mean=2 deviation=0.5", "n=263 sequences=4", "n=1031 sequences=65536", NULL};
// 256 MiB, five times an H200's L2, as one stream and in cuRAND's order; 1 GiB; then the size of a layer's noise.
static const char *const bench_shapes[] = {"n=67108864 sequences=65536",  "n=67108864",
                                           "n=268435456 sequences=65536", "n=268435456",
                                           "n=1048576 sequences=65536",   NULL};

static bool in_host_order(const void *shape)
{
    return common(shape)->sequences == HEDDLE_RANDOM_HOST_SEQUENCES;
}

// cuRAND's host API has no limits other than 0 and 1.
static bool uniform_in_host_order(const void *shape_)
{
    const heddle_random_uniform_shape *shape = shape_;
    return in_host_order(shape) && shape->low == 0.0f && shape->high == 1.0f;
}

// The three ladders have the same rungs, slowest first. `in_order`: what cuRAND's host API can do.
#define LADDER(kind, in_order)                                                                                         \
    static const heddle_rung kind##_ladder[] = {                                                                       \
        {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_random_##kind##_cpu_naive,                                      \
         "one thread, one Philox block per number", NULL, NULL},                                                       \
        {"cpu_vectorised", HEDDLE_CPU, HEDDLE_TUNED, heddle_random_##kind##_cpu_vectorised,                            \
         "Philox by vectors of blocks on all threads: limited by its ten rounds", NULL, NULL},                         \
        {"01_one_a_thread", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per number, one Philox block for each", NULL, \
         NULL},                                                                                                        \
        {"curand_device", HEDDLE_CUDA, HEDDLE_VENDOR, NULL,                                                            \
         "cuRAND's header in a kernel: curand_init and four numbers per thread", NULL, NULL},                          \
        {"02_four_a_thread", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "one Philox block per thread, 16 bytes per store", NULL, \
         NULL},                                                                                                        \
        {"curand_host", HEDDLE_CUDA, HEDDLE_VENDOR, NULL,                                                              \
         "cuRAND's library; copies seed and offset from the GPU, because it takes them from the host", in_order, NULL, \
         .gpu_only = "cuRAND"},                                                                                        \
        {"03_grid_stride", HEDDLE_CUDA, HEDDLE_TUNED, NULL,                                                            \
         "a grid that fills the GPU once: state and keys computed once per thread; limited by stores", NULL, NULL},    \
    }
LADDER(bits, in_host_order);
LADDER(uniform, uniform_in_host_order);
LADDER(normal, in_host_order);

const heddle_op heddle_op_random_bits = {
    .name = "random_bits",
    .ladder_name = "random",
    .summary = "32-bit random words: Philox 4x32-10, in cuRAND's order",
    .shape_size = sizeof(heddle_random_bits_shape),
    HEDDLE_FIELDS(bits_fields),
    HEDDLE_OPERANDS(bits_operands),
    .validate = bits_validate,
    .cost = cost,
    .reference = bits_reference,
    .exactness = HEDDLE_EXACT,
    .fill = fill,
    .test_shapes = bits_test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(bits_ladder),
};

const heddle_op heddle_op_random_uniform = {
    .name = "random_uniform",
    .ladder_name = "random",
    .summary = "uniform random numbers between two limits",
    .shape_size = sizeof(heddle_random_uniform_shape),
    HEDDLE_FIELDS(uniform_fields),
    HEDDLE_OPERANDS(float_operands),
    .validate = uniform_validate,
    .cost = cost,
    .reference = uniform_reference,
    .fill = fill,
    .test_shapes = uniform_test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(uniform_ladder),
};

const heddle_op heddle_op_random_normal = {
    .name = "random_normal",
    .ladder_name = "random",
    .summary = "normally distributed random numbers, by the Box-Muller transform",
    .shape_size = sizeof(heddle_random_normal_shape),
    HEDDLE_FIELDS(normal_fields),
    HEDDLE_OPERANDS(float_operands),
    .validate = normal_validate,
    .cost = cost,
    .reference = normal_reference,
    .reduction = normal_reduction,
    .fill = fill,
    .test_shapes = normal_test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(normal_ladder),
};

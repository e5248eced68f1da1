// sort: keys in ascending order, each with its value. Its cost, reference and ladder.

#include "ops/sort/sort.h"

#include <stdlib.h>
#include <string.h>

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_elements_shape, n, "keys, and values")},
};

HEDDLE_DIMS(dims, heddle_elements_shape, shape->n)
HEDDLE_OF_SHAPE(int, limit, heddle_elements_shape, shape->n > 0 ? shape->n : 1)

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("keys", HEDDLE_VALUES_NORMAL, dims)},
    {.name = "values",
     .role = HEDDLE_INPUT,
     .dtype = HEDDLE_I32,
     .values = HEDDLE_VALUES_LABELS,
     .dims = dims,
     .limit = limit},
    {HEDDLE_FLOAT_OUTPUT("sorted_keys", dims)},
    {.name = "sorted_values", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims},
};

// Each key is looked at once at least.
HEDDLE_COST(cost, operands, heddle_elements_shape, shape->n)

// --- the reference: a stable merge sort ------------------------------------------------------------------------------

typedef struct item {
    uint64_t bits; // of the key, ordered as keys are
    int index;
} item;

// As heddle_sort_bits, of float64: a float widened keeps its sign, and the bits of a NaN.
static uint64_t bits_of(double key)
{
    uint64_t bits = 0;
    if (key != 0)
        memcpy(&bits, &key, sizeof bits);
    return bits ^ (bits >> 63 ? UINT64_MAX : (uint64_t)1 << 63);
}

// from[begin, middle) and from[middle, end), each sorted, into to[begin, end). Of equal ones the left come first.
static void merge(const item *from, item *to, size_t begin, size_t middle, size_t end)
{
    size_t left = begin, right = middle;
    for (size_t i = begin; i < end; i++) {
        const bool take_left = left < middle && (right == end || from[left].bits <= from[right].bits);
        to[i] = from[take_left ? left++ : right++];
    }
}

// Returns which of the two has the result.
static const item *merge_sort(size_t n, item *first, item *second)
{
    for (size_t length = 1; length < n; length *= 2) {
        for (size_t begin = 0; begin < n; begin += 2 * length) {
            const size_t middle = begin + length < n ? begin + length : n;
            const size_t end = middle + length < n ? middle + length : n;
            merge(first, second, begin, middle, end);
        }
        item *merged = second;
        second = first;
        first = merged;
    }
    return first;
}

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_elements_shape *shape = shape_;
    const size_t n = (size_t)shape->n;
    item *items = malloc((2 * n + 1) * sizeof *items);
    for (size_t i = 0; items && i < n; i++)
        items[i] = (item){bits_of(input[0][i]), (int)i};
    const item *sorted = items ? merge_sort(n, items, items + n) : NULL;
    for (size_t i = 0; i < n; i++) { // values that no rung gives, if memory runs out
        output[0][i] = sorted ? input[0][sorted[i].index] : NAN;
        output[1][i] = sorted ? input[1][sorted[i].index] : NAN;
    }
    free(items);
}

// --- the ladder ------------------------------------------------------------------------------------------------------

// A word of key and index per element: 01_bitonic.cu, 02_bitonic_shared.cu; and twice: cpu_naive.c.
HEDDLE_WORKSPACE(words_workspace, heddle_elements_shape, (size_t)shape->n * sizeof(uint64_t))
HEDDLE_WORKSPACE(merge_workspace, heddle_elements_shape, 2 * (size_t)shape->n * sizeof(uint64_t))

enum { DIGITS = 256, PASSES = 4 };
HEDDLE_OF_SHAPE(size_t, tiles_of, heddle_elements_shape, ((size_t)shape->n + HEDDLE_SORT_TILE - 1) / HEDDLE_SORT_TILE)

// Keys and values between two passes, a count per digit and tile, and one per digit: 03_radix.cu.
HEDDLE_WORKSPACE(radix_workspace, heddle_elements_shape,
                 (2 * (size_t)shape->n + DIGITS * (tiles_of(shape) + 1)) * sizeof(int32_t))

// A 64-bit word per digit and tile, counts of every pass's digits, tickets; keys and values between two passes:
// 04_onesweep.cu.
HEDDLE_WORKSPACE(onesweep_workspace, heddle_elements_shape,
                 DIGITS *tiles_of(shape) * sizeof(uint64_t) +
                     (PASSES * (DIGITS + 1) + 2 * (size_t)shape->n) * sizeof(int32_t))

static const char *const test_shapes[] = {"n=0", "n=1", "n=2", "n=31", "n=257", "n=2048", "n=2053", "n=9001", NULL};
static const char *const bench_shapes[] = {"n=100000000", "n=1048576", NULL};

static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_sort_cpu_naive, "merge sort, one thread: n log n steps", NULL,
     merge_workspace},
    {"cpu_radix", HEDDLE_CPU, HEDDLE_TUNED, heddle_sort_cpu_radix,
     "digit after digit: all threads count pieces, then move them", NULL, heddle_sort_cpu_radix_workspace},
    {"01_bitonic", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "a network of comparisons in global memory: each of about (log n)²/2 steps is a pass over memory", NULL,
     words_workspace},
    {"02_bitonic_shared", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "the network's steps within a tile in shared memory, several to a pass", NULL, words_workspace},
    {"03_radix", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "four passes of 8 bits: count each tile's digits, add up, move by rank", NULL, radix_workspace},
    {"cub", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "CUB, DeviceRadixSort::SortPairs", NULL, NULL},
    {"04_onesweep", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "each pass reads keys once: a tile looks back for its digits' places, and is sorted before it is written", NULL,
     onesweep_workspace},
};

const heddle_op heddle_op_sort = {
    .name = "sort",
    .ladder_name = "sort",
    .summary = "keys in ascending order, each with its value; equal keys keep their order",
    .shape_size = sizeof(heddle_elements_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .cost = cost,
    .reference = reference,
    .exactness = HEDDLE_EXACT,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};

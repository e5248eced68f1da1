// histogram: how many values fall into each bin. Its cost, reference and ladder.

#include "ops/histogram/histogram.h"

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_histogram_shape, n, "values")},
    {HEDDLE_OPTIONAL_INT(heddle_histogram_shape, bins, 256, "bins; values are in [0, bins)")},
};

HEDDLE_DIMS(dims_values, heddle_histogram_shape, shape->n)
HEDDLE_DIMS(dims_counts, heddle_histogram_shape, shape->bins)

HEDDLE_OF_SHAPE(int, bins, heddle_histogram_shape, shape->bins)

static const heddle_operand operands[] = {
    {.name = "values",
     .role = HEDDLE_INPUT,
     .dtype = HEDDLE_I32,
     .values = HEDDLE_VALUES_LABELS,
     .dims = dims_values,
     .limit = bins},
    {.name = "counts", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims_counts},
};

static heddle_status validate(const void *shape_)
{
    const heddle_histogram_shape *shape = shape_;
    if (shape->bins < 1)
        return heddle_fail(HEDDLE_INVALID, "histogram: %d bins; at least 1 is needed", shape->bins);
    return HEDDLE_OK;
}

HEDDLE_COST(cost, operands, heddle_histogram_shape, shape->n)

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_histogram_shape *shape = shape_;
    for (int bin = 0; bin < shape->bins; bin++)
        output[0][bin] = 0;
    for (int i = 0; i < shape->n; i++)
        output[0][(int)input[0][i]]++;
}

static const char *const test_shapes[] = {"n=0",    "n=1 bins=1",        "n=31 bins=7",       "n=5000 bins=2",
                                          "n=5003", "n=20011 bins=1000", "n=3001 bins=20000", NULL};
static const char *const bench_shapes[] = {"n=268435456", "n=268435456 bins=8", "n=67108864 bins=4096", "n=1048576",
                                           NULL}; // 1 GiB first

// A block's own counts have to fit in its shared memory.
static bool fits_shared(const void *shape_)
{
    enum { MOST_BINS = 48 * 1024 / sizeof(int) };
    const heddle_histogram_shape *shape = shape_;
    return shape->bins <= MOST_BINS;
}

static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_histogram_cpu_naive, "one thread, one value at a time", NULL, NULL},
    {"01_global_atomics", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one atomic on global memory per value", NULL, NULL},
    {"02_privatised", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "each block counts in shared memory, and adds its counts once",
     fits_shared, NULL},
    {"cub", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "CUB, DeviceHistogram::HistogramEven", NULL, NULL},
    {"03_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "16 bytes per load; copies of the counts, so that fewer lanes conflict", fits_shared, NULL},
};

const heddle_op heddle_op_histogram = {
    .name = "histogram",
    .ladder_name = "histogram",
    .summary = "how many values fall into each bin",
    .shape_size = sizeof(heddle_histogram_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .cost = cost,
    .reference = reference,
    .exactness = HEDDLE_EXACT,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};

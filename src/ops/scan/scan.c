// scan: running sums, output[i] = input[0] + ... + input[i]. Its cost, reference and ladder.

#include "ops/scan/scan.h"

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_elements_shape, n, "elements")},
};

HEDDLE_DIMS(dims, heddle_elements_shape, shape->n)

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims)},
    {HEDDLE_FLOAT_OUTPUT("output", dims)},
};

HEDDLE_COST(cost, operands, heddle_elements_shape, shape->n)

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_elements_shape *shape = shape_;
    double sum = 0;
    for (int i = 0; i < shape->n; i++)
        output[0][i] = sum += input[0][i];
}

HEDDLE_OF_SHAPE(int64_t, reduction, heddle_elements_shape, shape->n)

// Sums of tiles, and of tiles of those: levels.h.
static size_t levels_workspace(const void *shape_, int threads)
{
    (void)threads;
    enum { LEAST_TILE = 256 };
    const heddle_elements_shape *shape = shape_;
    size_t sums = 0;
    for (size_t n = (size_t)shape->n; n > 1; n = (n + LEAST_TILE - 1) / LEAST_TILE)
        sums += (n + LEAST_TILE - 1) / LEAST_TILE;
    return sums * sizeof(float);
}

// One 64-bit word per tile, and the ticket counter: 03_decoupled_look_back.cu and 04_loads_ahead.cu.
static size_t look_back_workspace(const void *shape_, int threads)
{
    (void)threads;
    enum { TILE = 4096 };
    const heddle_elements_shape *shape = shape_;
    return (((size_t)shape->n + TILE - 1) / TILE + 1) * sizeof(uint64_t);
}

static const char *const test_shapes[] = {"n=0",    "n=1",     "n=31",     "n=257", "n=4096",
                                          "n=8209", "n=50021", "n=150001", NULL};
static const char *const bench_shapes[] = {"n=268435456", "n=1048576", NULL}; // 1 GiB first

static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_scan_cpu_naive, "one thread, one running sum", NULL, NULL},
    {"01_hillis_steele", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "every thread adds the value at a distance that doubles each round", NULL, levels_workspace},
    {"02_work_efficient", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "a tree up and down: two additions per element", NULL,
     levels_workspace},
    {"03_decoupled_look_back", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one pass: a tile looks back for the sum before it while others still run", NULL, look_back_workspace,
     .unordered = true},
    {"cub", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "CUB, DeviceScan::InclusiveSum: limited by memory bandwidth", NULL, NULL,
     .unordered = true},
    {"04_loads_ahead", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "blocks that stay load the next tile while this one looks back: limited by memory bandwidth", NULL,
     look_back_workspace, .unordered = true, .shared_bytes = HEDDLE_SCAN_TILE_BYTES},
};

const heddle_op heddle_op_scan = {
    .name = "scan",
    .ladder_name = "scan",
    .summary = "running sums",
    .shape_size = sizeof(heddle_elements_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .cost = cost,
    .reference = reference,
    .exactness = HEDDLE_SUMS,
    .reduction = reduction,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};

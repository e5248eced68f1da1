// select: the elements above a threshold, in their order, and how many there are. Its cost, reference and ladder.

#include "ops/select/select.h"

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_select_shape, n, "elements")},
    {HEDDLE_OPTIONAL_FLOAT(heddle_select_shape, threshold, 0, "an element above it is selected")},
};

HEDDLE_DIMS(dims, heddle_select_shape, shape->n)
HEDDLE_DIMS(dims_count, heddle_select_shape, 1)

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims)},
    {HEDDLE_FLOAT_OUTPUT("output", dims)},
    {.name = "count", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_I32, .dims = dims_count},
};

// One comparison per element. What is not selected is written as a zero.
HEDDLE_COST(cost, operands, heddle_select_shape, shape->n)

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_select_shape *shape = shape_;
    int count = 0;
    for (int i = 0; i < shape->n; i++)
        if (input[0][i] > shape->threshold)
            output[0][count++] = input[0][i];
    for (int i = count; i < shape->n; i++)
        output[0][i] = 0;
    output[1][0] = count;
}

// A place per element, and a total per block: 01_naive.cu.
static size_t places_workspace(const void *shape_, int threads)
{
    (void)threads;
    enum { THREADS = 256 };
    const heddle_select_shape *shape = shape_;
    const size_t n = (size_t)shape->n;
    return (n + (n + THREADS - 1) / THREADS) * sizeof(int32_t);
}

// A total per block: 02_ballots.cu.
static size_t totals_workspace(const void *shape_, int threads)
{
    (void)threads;
    enum { TILE = 4096 };
    const heddle_select_shape *shape = shape_;
    return ((size_t)shape->n + TILE - 1) / TILE * sizeof(int32_t);
}

// One 64-bit word per tile, and the ticket counter: 03_decoupled_look_back.cu.
static size_t look_back_workspace(const void *shape_, int threads)
{
    (void)threads;
    enum { TILE = 4096 };
    const heddle_select_shape *shape = shape_;
    return (((size_t)shape->n + TILE - 1) / TILE + 1) * sizeof(uint64_t);
}

// None, all, few and many of them; one tile and several.
static const char *const test_shapes[] = {"n=0",
                                          "n=1",
                                          "n=1 threshold=-100",
                                          "n=31 threshold=-0.5",
                                          "n=257",
                                          "n=4096 threshold=-100",
                                          "n=4097 threshold=100",
                                          "n=8209",
                                          "n=20011 threshold=1.5",
                                          NULL};
// Half of 1 GiB first; one in fifteen; a small one.
static const char *const bench_shapes[] = {"n=268435456", "n=268435456 threshold=1.5", "n=1048576", NULL};

static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_select_cpu_naive, "one thread, one element at a time", NULL, NULL},
    {"cpu_pieces", HEDDLE_CPU, HEDDLE_TUNED, heddle_select_cpu_pieces,
     "all threads count pieces, then move them, without a branch per element: memory-bound", NULL,
     heddle_select_cpu_pieces_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "flags, their running sums, a scatter: places go through memory",
     NULL, places_workspace},
    {"02_ballots", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "a warp's vote gives its places; the input is read twice", NULL,
     totals_workspace},
    {"cub", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, "CUB, DeviceSelect::If, and a kernel for the zeros", NULL, NULL},
    {"03_decoupled_look_back", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "one pass: a tile looks back for the number selected before it", NULL, look_back_workspace},
};

const heddle_op heddle_op_select = {
    .name = "select",
    .ladder_name = "select",
    .summary = "the elements above a threshold, in their order, then zeros; and how many there are",
    .shape_size = sizeof(heddle_select_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .cost = cost,
    .reference = reference,
    .exactness = HEDDLE_EXACT,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};

// shift and stencil: elements computed from their neighbours. Costs, references and ladders: these teach __syncthreads.

#include "ops/stencil/stencil.h"

#include "ops/define.h"

static const heddle_field shift_fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_elements_shape, n, "elements")},
};

static const heddle_field stencil_fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_stencil_shape, n, "elements")},
    {HEDDLE_OPTIONAL_INT(heddle_stencil_shape, radius, 3, "neighbours on either side that are added")},
};

HEDDLE_DIMS(shift_dims, heddle_elements_shape, shape->n)
HEDDLE_DIMS(stencil_dims, heddle_stencil_shape, shape->n)

static const heddle_operand shift_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, shift_dims)},
    {HEDDLE_FLOAT_OUTPUT("output", shift_dims)},
};

static const heddle_operand stencil_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, stencil_dims)},
    {HEDDLE_FLOAT_OUTPUT("output", stencil_dims)},
};

HEDDLE_COST(shift_cost, shift_operands, heddle_elements_shape, 0)
HEDDLE_COST(stencil_cost, stencil_operands, heddle_stencil_shape, 2.0 * shape->radius * shape->n)

static void shift_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_elements_shape *shape = shape_;
    for (int i = 0; i < shape->n; i++)
        output[0][i] = input[0][i + 1 < shape->n ? i + 1 : 0];
}

static void stencil_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_stencil_shape *shape = shape_;
    for (int i = 0; i < shape->n; i++) {
        output[0][i] = 0;
        for (int64_t j = (int64_t)i - shape->radius; j <= (int64_t)i + shape->radius; j++)
            output[0][i] += j >= 0 && j < shape->n ? input[0][j] : 0;
    }
}

HEDDLE_OF_SHAPE(int64_t, stencil_reduction, heddle_stencil_shape, 2 * (int64_t)shape->radius + 1)

static const char *const shift_test_shapes[] = {"n=0", "n=1", "n=2", "n=31", "n=256", "n=257", "n=1031", NULL};
static const char *const shift_bench_shapes[] = {"n=268435456", "n=1048576", NULL}; // 1 GiB first
static const char *const stencil_test_shapes[] = {
    "n=0", "n=1 radius=5", "n=31 radius=0", "n=33", "n=257 radius=1", "n=1031 radius=16", "n=1031 radius=100", NULL};
static const char *const stencil_bench_shapes[] = {"n=268435456", "n=268435456 radius=16", "n=1048576", NULL};

// The halo on both sides has to fit in a block's tile.
static bool fits_tile(const void *shape_)
{
    enum { MOST_RADIUS = 64 };
    const heddle_stencil_shape *shape = shape_;
    return shape->radius <= MOST_RADIUS;
}

static const heddle_rung shift_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_shift_cpu_naive, "one thread, one element at a time", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element, reading its right neighbour", NULL, NULL},
    {"02_shared_tiles", HEDDLE_CUDA, HEDDLE_TUNED, NULL, "through shared memory: a barrier between store and load",
     NULL, NULL},
};

static const heddle_rung stencil_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_stencil_cpu_naive, "one thread, all neighbours of each element",
     NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element: every input is loaded 2 radius + 1 times",
     NULL, NULL},
    {"02_shared_tiles", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "a tile with its halo in shared memory: each input is loaded once", fits_tile, NULL},
    {"03_running_sums", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "several neighbouring sums per thread, each computed from the one before", fits_tile, NULL},
};

const heddle_op heddle_op_shift = {
    .name = "shift",
    .ladder_name = "stencil",
    .summary = "every element moves one place to the front, the first to the end",
    .shape_size = sizeof(heddle_elements_shape),
    HEDDLE_FIELDS(shift_fields),
    HEDDLE_OPERANDS(shift_operands),
    .cost = shift_cost,
    .reference = shift_reference,
    .exactness = HEDDLE_EXACT,
    .test_shapes = shift_test_shapes,
    .bench_shapes = shift_bench_shapes,
    HEDDLE_LADDER(shift_ladder),
};

const heddle_op heddle_op_stencil = {
    .name = "stencil",
    .ladder_name = "stencil",
    .summary = "sums of neighbours",
    .shape_size = sizeof(heddle_stencil_shape),
    HEDDLE_FIELDS(stencil_fields),
    HEDDLE_OPERANDS(stencil_operands),
    .cost = stencil_cost,
    .reference = stencil_reference,
    .reduction = stencil_reduction,
    .test_shapes = stencil_test_shapes,
    .bench_shapes = stencil_bench_shapes,
    HEDDLE_LADDER(stencil_ladder),
};

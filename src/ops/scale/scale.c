// scale_unless_one: values times one number in device memory, in place. Where that is 1, as the gradient of a loss
// usually is, nothing is read or written. Its cost, reference and ladder.

#include "ops/scale/scale.h"

#include "ops/define.h"

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(heddle_elements_shape, n, "elements")},
};

HEDDLE_DIMS(dims_elements, heddle_elements_shape, shape->n)
HEDDLE_DIMS(dims_one, void, 1)

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("factor", HEDDLE_VALUES_NORMAL, dims_one)},
    {HEDDLE_FLOAT_UPDATE("values", HEDDLE_VALUES_NORMAL, dims_elements)},
};

HEDDLE_COST(cost, operands, heddle_elements_shape, shape->n)

static void reference(const void *shape, const double *const *input, double *const *output)
{
    for (int i = 0; i < ((const heddle_elements_shape *)shape)->n; i++)
        output[0][i] *= input[0][0];
}

static const char *const test_shapes[] = {"n=0", "n=1", "n=7", "n=1024", "n=16387", NULL};
static const char *const bench_shapes[] = {"n=67108864", NULL};

static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_scale_unless_one_cpu_naive, "one element after another"},
    {"cpu_pieces", HEDDLE_CPU, HEDDLE_TUNED, heddle_scale_unless_one_cpu_pieces,
     "vectors on all threads: limited by memory bandwidth"},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element: 4 bytes per access"},
    {"02_vectorised", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "four elements per thread, 16 bytes per access: limited by memory bandwidth"},
};

const heddle_op heddle_op_scale_unless_one = {
    .name = "scale_unless_one",
    .ladder_name = "scale",
    .summary = "values times one number, in place; where that is 1, nothing is moved",
    .shape_size = sizeof(heddle_elements_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .cost = cost,
    .reference = reference,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};

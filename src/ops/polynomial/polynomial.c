// polynomial: rounds of multiply and add on every element: any amount of arithmetic for the same bytes. Its cost,
// reference and ladder.

#include "ops/polynomial/polynomial.h"

#include "ops/define.h"

typedef heddle_polynomial_shape polynomial_shape;

// By default every round moves a value a thousandth of the way towards 1: after thousands of rounds the result still
// depends on the input.
static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(polynomial_shape, n, "elements")},
    {HEDDLE_REQUIRED_INT(polynomial_shape, rounds, "multiplications and additions per element")},
    {HEDDLE_OPTIONAL_FLOAT(polynomial_shape, factor, 0.999, "factor of each round")},
    {HEDDLE_OPTIONAL_FLOAT(polynomial_shape, addend, 0.001, "addend of each round")},
};

HEDDLE_DIMS(dims, polynomial_shape, shape->n)

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, dims)},
    {HEDDLE_FLOAT_OUTPUT("output", dims)},
};

HEDDLE_COST(cost, operands, polynomial_shape, 2.0 * shape->n * shape->rounds)

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const polynomial_shape *shape = shape_;
    for (int i = 0; i < shape->n; i++) {
        double value = input[0][i];
        for (int round = 0; round < shape->rounds; round++)
            value = value * shape->factor + shape->addend;
        output[0][i] = value;
    }
}

// Each round adds the roundings of a product and a sum, if the CPU has no fused multiply-add. Close to its fixed point
// a value is rounded the same way in every round, so errors grow with the rounds and not with their root.
HEDDLE_OF_SHAPE(int64_t, reduction, polynomial_shape,
                shape->rounds > 1 ? 2 * (int64_t)shape->rounds * shape->rounds : 1)

static const char *const test_shapes[] = {"n=0 rounds=3",
                                          "n=1 rounds=1",
                                          "n=31 rounds=0",
                                          "n=257 rounds=7",
                                          "n=1024 rounds=33",
                                          "n=4099 rounds=5 factor=-0.5 addend=2",
                                          NULL};
static const char *const bench_shapes[] = {"n=4194304 rounds=512", "n=4194304 rounds=1", NULL};

// Slowest first.
static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_polynomial_cpu_naive,
     "one element after another: every round waits for the one before it", NULL, NULL},
    {"cpu_vectorised", HEDDLE_CPU, HEDDLE_TUNED, heddle_polynomial_cpu_vectorised,
     "a block of elements per round, all threads: limited by the multiply-add units", NULL, NULL},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per element: the loop costs as much as the arithmetic",
     NULL, NULL},
    {"02_four_elements", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "four elements per thread share the loop: limited by the multiply-add units", NULL, NULL},
};

const heddle_op heddle_op_polynomial = {
    .name = "polynomial",
    .ladder_name = "polynomial",
    .summary = "rounds of value * factor + addend on every element",
    .shape_size = sizeof(polynomial_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .cost = cost,
    .reference = reference,
    .reduction = reduction,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};

// How far a result may be from the reference, and whether it is.
//
// The bound of an element is
//
//     unit roundoff * (8 + 4 sqrt(reduction length)) * scale
//
// 8 for a handful of operations and a polynomial, the root for the random walk of a sum's rounding errors. The scale is
// the largest of the element itself, the root mean square of its operand, and how much the operand's elements move (in
// the median) when every input is moved by a relative unit: the last is what counts where sums cancel.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "heddle/random.h"

static const double unit_roundoff = 0x1p-24;

static bool is_float(heddle_dtype dtype)
{
    return dtype == HEDDLE_F32 || dtype == HEDDLE_F64;
}

int64_t harness_reduction(const heddle_op *op, const void *shape)
{
    int64_t reduction = op->reduction ? op->reduction(shape) : 1;
    return reduction > 1 ? reduction : 1;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Median of |moved - expected|.
static double median_distance(const double *moved, const double *expected, size_t elements)
{
    double *distances = malloc((elements + 1) * sizeof *distances);
    for (size_t i = 0; i < elements; i++)
        distances[i] = fabs(moved[i] - expected[i]);
    qsort(distances, elements, sizeof *distances, compare_doubles);
    double median = elements ? distances[elements / 2] : 0;
    free(distances);
    return median;
}

static double root_mean_square(const double *values, size_t elements)
{
    double sum = 0;
    for (size_t i = 0; i < elements; i++)
        sum += values[i] * values[i] / (double)elements;
    return sqrt(sum);
}

// Multiplies every float that is read by 1 + step or 1 - step.
static void move_inputs(harness_values *values, double step, uint64_t round)
{
    heddle_random random = heddle_random_make(1, round);
    for (int i = 0; i < values->op->operand_count; i++) {
        const heddle_operand *operand = &values->op->operands[i];
        if (operand->role == HEDDLE_OUTPUT || !is_float(operand->dtype))
            continue;
        for (size_t e = 0; e < values->elements[i]; e++)
            values->operand[i][e] *= heddle_random_u32(&random) & 1 ? 1 + step : 1 - step;
    }
}

// Rounds of moving the inputs: in one alone the moves of a few elements might agree, and cancel.
enum { ROUNDS = 3, LONG_ROUNDS = 1 };
static const double long_flops = 1e6; // a reference longer than this has elements enough

void harness_bounds_create(harness_bounds *bounds, const harness_values *prepared, const harness_values *expected,
                           int64_t reduction)
{
    const double step = 0x1p-20; // far above float64's rounding, far below what would bend the function
    double scale[HARNESS_OPERANDS] = {0};
    for (int i = 0; i < expected->op->operand_count; i++)
        scale[i] = root_mean_square(expected->operand[i], expected->elements[i]);
    uint64_t rounds = expected->op->cost(expected->shape).flops > long_flops ? LONG_ROUNDS : ROUNDS;
    for (uint64_t round = 0; round < rounds; round++) {
        harness_values moved;
        harness_values_copy(&moved, prepared);
        move_inputs(&moved, step, round);
        harness_values_reference(&moved);
        for (int i = 0; i < expected->op->operand_count; i++)
            if (expected->op->operands[i].role != HEDDLE_INPUT)
                scale[i] = fmax(scale[i],
                                median_distance(moved.operand[i], expected->operand[i], expected->elements[i]) / step);
        harness_values_destroy(&moved);
    }
    memset(bounds, 0, sizeof *bounds);
    double factor = unit_roundoff * (8 + 4 * sqrt((double)reduction));
    for (int i = 0; i < expected->op->operand_count; i++) {
        if (expected->op->operands[i].role == HEDDLE_INPUT)
            continue;
        bounds->bound[i] = malloc((expected->elements[i] + 1) * sizeof(double));
        for (size_t e = 0; e < expected->elements[i]; e++)
            bounds->bound[i][e] = factor * fmax(scale[i], fabs(expected->operand[i][e]));
    }
}

void harness_bounds_destroy(harness_bounds *bounds)
{
    for (int i = 0; i < HARNESS_OPERANDS; i++)
        free(bounds->bound[i]);
}

bool harness_compare(const heddle_op *op, int operand, const double *got, const double *expected, const double *bound,
                     size_t elements, const char *what, harness_report *report)
{
    bool exact = op->exactness == HEDDLE_EXACT || !is_float(op->operands[operand].dtype);
    for (size_t i = 0; i < elements; i++) {
        double allowed = exact ? 0 : bound[i];
        double distance = fabs(got[i] - expected[i]);
        // Written so that a NaN on either side fails.
        if (!(distance <= allowed))
            return harness_fail(report, "%s: element %zu of '%s' is %.9g, expected %.9g, off by %.3g (allowed %.3g)",
                                what, i, op->operands[operand].name, got[i], expected[i], distance, allowed);
        if (fabs(expected[i]) > allowed)
            report->telling[operand] = true;
    }
    report->comparisons++;
    return true;
}

// Whether a result is as near to the reference as ops/tolerance.h asks for.

#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "ops/tolerance.h"

int64_t harness_reduction(const heddle_op *op, const void *shape)
{
    return heddle_tolerance_reduction(op, shape);
}

// --- HEDDLE_NORM: an operand as a whole, whose bound is that of its first element ------------------------------------

static double norm(const double *values, const double *without, size_t elements)
{
    double sum = 0;
    for (size_t i = 0; i < elements; i++) {
        double value = values[i] - (without ? without[i] : 0);
        sum += value * value;
    }
    return sqrt(sum);
}

static double norm_bound(const harness_values *expected, int operand, heddle_arithmetic arithmetic)
{
    double whole = norm(expected->operand[operand], NULL, expected->elements[operand]);
    return heddle_tolerance_norm(expected->op, expected->shape, operand, arithmetic, whole);
}

static void norm_bounds(harness_bounds *bounds, heddle_arithmetic arithmetic)
{
    const heddle_op *op = bounds->expected->op;
    for (int i = 0; i < op->operand_count; i++)
        if (bounds->bound[i])
            bounds->bound[i][0] = norm_bound(bounds->expected, i, arithmetic);
}

static bool norm_compare(const heddle_op *op, int operand, const double *got, const double *expected, double allowed,
                         size_t elements, const char *what, harness_report *report)
{
    double distance = norm(got, expected, elements), whole = norm(expected, NULL, elements);
    // Written so that a NaN on either side fails.
    if (!(distance <= allowed))
        return harness_fail(report, "%s: '%s' is off by %.3g, by the norm of it all, %.3g (allowed %.3g)", what,
                            op->operands[operand].name, distance, whole, allowed);
    report->telling[operand] |= whole > allowed;
    report->comparisons++;
    return true;
}

// --- an element at a time --------------------------------------------------------------------------------------------

void harness_bounds_create(harness_bounds *bounds, const harness_values *prepared, const harness_values *expected,
                           int64_t reduction)
{
    const heddle_op *op = expected->op;
    double scale[HARNESS_OPERANDS] = {0}, *present[HARNESS_OPERANDS] = {NULL};
    *bounds = (harness_bounds){.expected = expected, .reduction = reduction, .arithmetic = HEDDLE_FULL};
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i].role != HEDDLE_INPUT)
            bounds->bound[i] = malloc((expected->elements[i] + 1) * sizeof(double));
    if (op->exactness == HEDDLE_NORM) {
        norm_bounds(bounds, HEDDLE_FULL);
        return;
    }
    for (int i = 0; i < op->operand_count; i++)
        present[i] = prepared->absent[i] ? NULL : prepared->operand[i];
    if (heddle_tolerance_scale(op, expected->shape, present, expected->operand, expected->elements, scale) != HEDDLE_OK)
        abort();
    for (int i = 0; i < op->operand_count; i++) {
        if (op->operands[i].role == HEDDLE_INPUT)
            continue;
        double factor =
            heddle_tolerance_factor(reduction, HEDDLE_FULL, 0, heddle_operand_dtype(op, i, expected->shape));
        const double *values = expected->operand[i];
        size_t columns = heddle_operand_columns(op, i, expected->shape);
        double whole = heddle_tolerance_whole(&op->operands[i], values, expected->elements[i]), of_row = scale[i];
        for (size_t e = 0; e < expected->elements[i]; e++) {
            if (e % columns == 0)
                of_row = scale[i] * heddle_tolerance_row(&op->operands[i], values + e, columns, whole);
            bounds->bound[i][e] = factor * fmax(of_row, fabs(values[e]));
        }
    }
}

void harness_bounds_for(harness_bounds *bounds, heddle_arithmetic arithmetic, int sum_bits)
{
    const harness_values *expected = bounds->expected;
    const bool same = arithmetic == bounds->arithmetic && sum_bits == bounds->sum_bits;
    if (expected->op->exactness == HEDDLE_NORM)
        norm_bounds(bounds, arithmetic);
    for (int i = 0; i < expected->op->operand_count && !same; i++) {
        heddle_dtype dtype = heddle_operand_dtype(expected->op, i, expected->shape);
        if (!bounds->bound[i] || !heddle_dtype_is_float(dtype) || expected->op->exactness == HEDDLE_NORM)
            continue;
        double wider = heddle_tolerance_factor(bounds->reduction, arithmetic, sum_bits, dtype) /
                       heddle_tolerance_factor(bounds->reduction, bounds->arithmetic, bounds->sum_bits, dtype);
        for (size_t e = 0; e < expected->elements[i]; e++)
            bounds->bound[i][e] *= wider;
    }
    bounds->arithmetic = arithmetic;
    bounds->sum_bits = sum_bits;
}

void harness_bounds_destroy(harness_bounds *bounds)
{
    for (int i = 0; i < HARNESS_OPERANDS; i++)
        free(bounds->bound[i]);
}

bool harness_compare(const heddle_op *op, int operand, const double *got, const double *expected, const double *bound,
                     size_t elements, const char *what, harness_report *report)
{
    if (op->exactness == HEDDLE_NORM)
        return norm_compare(op, operand, got, expected, bound[0], elements, what, report);
    bool exact = op->exactness == HEDDLE_EXACT || !heddle_dtype_is_float(op->operands[operand].dtype);
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

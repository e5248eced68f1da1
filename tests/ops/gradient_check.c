// Gradients of a reference against central differences of the reference itself, in float64.
//
// With fixed random weights v on the outputs, f(x) = Σ v * output(x) is one number, and the gradient operators fed with
// grad_output = v must give its derivatives. Each differentiable input is tried along a random direction, which every
// element takes part in, and along some single elements, which shows where a mistake is.

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "heddle/random.h"

enum {
    SINGLE_ELEMENTS = 8, // tried one by one, of each input
    NAME_SIZE = 64,
};

// Steps tried in turn, so that one that crosses a kink of relu or of a maximum does not count against a right gradient.
static const double steps[] = {1e-4, 1e-5, 1e-6, 1e-7};
static const double long_flops = 1e6; // a reference longer than this is tried along the random direction only
static const double tolerance = 1e-5; // of the gradient's size; a wrong one is off by about its own size

typedef struct gradient_check {
    const heddle_op *op;
    harness_values start;              // the point: inputs and updates
    harness_values at;                 // with outputs computed
    double *weights[HARNESS_OPERANDS]; // of each output that a gradient operator takes a grad_ of
    harness_report *report;
    uint64_t seed;
} gradient_check;

// Weights of output `index`: what the gradient operators get as its grad_; NULL if none of them takes it.
static double *draw_weights(const gradient_check *check, int index)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "grad_%s", check->op->operands[index].name);
    for (int g = 0; check->op->gradients[g]; g++) {
        int source = heddle_operand_find(check->op->gradients[g], name);
        if (source < 0)
            continue;
        harness_values drawn;
        harness_values_create(&drawn, check->op->gradients[g], check->start.shape);
        harness_values_draw(&drawn, check->seed);
        double *weights = drawn.operand[source];
        drawn.operand[source] = NULL;
        harness_values_destroy(&drawn);
        return weights;
    }
    return NULL;
}

// f at the point with input `moved` displaced by step * direction; *size is the sum of its terms' sizes.
static double evaluate(const gradient_check *check, int moved, const double *direction, double step, double *size)
{
    harness_values values;
    harness_values_copy(&values, &check->start);
    for (size_t e = 0; e < values.elements[moved]; e++)
        values.operand[moved][e] += step * direction[e];
    harness_values_reference(&values);
    double sum = 0;
    *size = 0;
    for (int i = 0; i < check->op->operand_count; i++)
        for (size_t e = 0; check->weights[i] && e < values.elements[i]; e++) {
            sum += check->weights[i][e] * values.operand[i][e];
            *size += fabs(check->weights[i][e] * values.operand[i][e]);
        }
    harness_values_destroy(&values);
    return sum;
}

static bool check_direction(gradient_check *check, int moved, const double *direction, double expected, double scale,
                            const char *where)
{
    double nearest = INFINITY, found = NAN;
    check->report->comparisons++;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        double size, above = evaluate(check, moved, direction, steps[i], &size);
        double below = evaluate(check, moved, direction, -steps[i], &size);
        double slope = (above - below) / (2 * steps[i]);
        double noise = 16 * DBL_EPSILON * size / steps[i];
        if (fabs(slope - expected) <= tolerance * scale + noise)
            return true;
        if (!(fabs(slope - expected) >= nearest)) {
            nearest = fabs(slope - expected);
            found = slope;
        }
    }
    return harness_fail(check->report, "gradient of '%s' %s is %.9g, central differences give %.9g",
                        check->op->operands[moved].name, where, expected, found);
}

static bool check_input(gradient_check *check, int moved, const double *gradient)
{
    size_t elements = check->at.elements[moved];
    double *direction = calloc(elements + 1, sizeof *direction);
    heddle_random random = heddle_random_make(check->seed, 77);
    double slope = 0, size = 0;
    for (size_t e = 0; e < elements; e++) {
        direction[e] = heddle_random_normal(&random);
        slope += gradient[e] * direction[e];
        size += gradient[e] * gradient[e];
    }
    // A directional derivative has about the gradient's own length.
    bool passed = check_direction(check, moved, direction, slope, sqrt(size), "along a random direction");
    memset(direction, 0, elements * sizeof *direction);
    size_t singles = check->op->cost(check->at.shape).flops > long_flops ? 0 : SINGLE_ELEMENTS;
    for (size_t tried = 0; passed && tried < singles && tried < elements; tried++) {
        size_t e = elements <= singles ? tried : heddle_random_below(&random, (uint32_t)elements);
        char where[NAME_SIZE];
        snprintf(where, sizeof where, "at element %zu", e);
        direction[e] = 1;
        double scale = fmax(fabs(gradient[e]), sqrt(size / (double)elements));
        passed = check_direction(check, moved, direction, gradient[e], scale, where);
        direction[e] = 0;
    }
    free(direction);
    return passed;
}

// Every grad_X that this gradient operator gives.
static bool check_gradient_op(gradient_check *check, const heddle_op *gradient)
{
    harness_values values;
    harness_values_create(&values, gradient, check->at.shape);
    harness_values_draw(&values, check->seed);
    harness_values_take(&values, &check->at);
    harness_values_reference(&values);
    bool passed = true;
    for (int i = 0; passed && i < gradient->operand_count; i++) {
        const heddle_operand *operand = &gradient->operands[i];
        if (operand->role == HEDDLE_INPUT)
            continue;
        int moved = strncmp(operand->name, "grad_", 5) == 0 ? heddle_operand_find(check->op, operand->name + 5) : -1;
        if (moved < 0 || values.elements[i] != check->at.elements[moved])
            passed = harness_fail(check->report, "%s gives '%s', which is no gradient of an operand of %s",
                                  gradient->name, operand->name, check->op->name);
        else if (values.elements[i] > 0)
            passed = check_input(check, moved, values.operand[i]);
    }
    harness_values_destroy(&values);
    return passed;
}

bool harness_check_gradients(const heddle_op *op, const char *shape_text, uint64_t seed, harness_report *report)
{
    _Alignas(max_align_t) unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
    if (heddle_shape_parse(op, shape_text, shape) != HEDDLE_OK)
        return harness_fail(report, "%s: %s", op->name, heddle_last_error());
    gradient_check check = {.op = op, .report = report, .seed = seed};
    harness_values_create(&check.start, op, shape);
    harness_values_draw(&check.start, seed);
    harness_values_copy(&check.at, &check.start);
    harness_values_reference(&check.at);
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i].role != HEDDLE_INPUT)
            check.weights[i] = draw_weights(&check, i);
    for (int g = 0; op->gradients[g] && report->passed; g++)
        if (heddle_shape_validate(op->gradients[g], shape) == HEDDLE_OK)
            check_gradient_op(&check, op->gradients[g]);
    for (int i = 0; i < HARNESS_OPERANDS; i++)
        free(check.weights[i]);
    harness_values_destroy(&check.at);
    harness_values_destroy(&check.start);
    if (report->passed)
        return true;
    char message[sizeof report->message];
    memcpy(message, report->message, sizeof message);
    snprintf(report->message, sizeof report->message, "%s, \"%s\", seed %llu: %.800s", op->name, shape_text,
             (unsigned long long)seed, message);
    return false;
}

// Values of operands in float64: drawn, rounded to what a dtype holds, and sent through references.

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "heddle/random.h"
#include "ops/values.h"

bool harness_fail(harness_report *report, const char *format, ...)
{
    if (report->passed) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(report->message, sizeof report->message, format, arguments);
        va_end(arguments);
    }
    report->passed = false;
    return false;
}

uint64_t harness_seed(void)
{
    const char *text = getenv("HEDDLE_TEST_SEED");
    return text ? strtoull(text, NULL, 0) : 20240607;
}

const heddle_op *harness_forward_of(const heddle_op *op)
{
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *candidate = heddle_op_at(i);
        for (int g = 0; candidate->gradients && candidate->gradients[g]; g++)
            if (candidate->gradients[g] == op)
                return candidate;
    }
    return NULL;
}

void harness_values_create(harness_values *values, const heddle_op *op, const void *shape)
{
    memset(values, 0, sizeof *values);
    values->op = op;
    values->shape = shape;
    for (int i = 0; i < op->operand_count; i++) {
        values->elements[i] = heddle_operand_elements(op, i, shape);
        values->operand[i] = calloc(values->elements[i] + 1, sizeof(double));
    }
}

void harness_values_copy(harness_values *to, const harness_values *from)
{
    harness_values_create(to, from->op, from->shape);
    for (int i = 0; i < from->op->operand_count; i++) {
        memcpy(to->operand[i], from->operand[i], from->elements[i] * sizeof(double));
        to->absent[i] = from->absent[i];
    }
}

void harness_values_destroy(harness_values *values)
{
    for (int i = 0; i < HARNESS_OPERANDS; i++)
        free(values->operand[i]);
}

static uint64_t hash_name(const char *name)
{
    uint64_t hash = 1469598103934665603u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return hash;
}

static void draw_operand(harness_values *values, int index, uint64_t seed)
{
    const heddle_operand *operand = &values->op->operands[index];
    heddle_random random = heddle_random_make(seed, hash_name(operand->name));
    if (operand->values == HEDDLE_VALUES_OWN) {
        values->op->fill(values->shape, index, seed, values->operand[index]);
        return;
    }
    for (size_t i = 0; i < values->elements[index]; i++) {
        double *value = &values->operand[index][i];
        switch (operand->values) {
        case HEDDLE_VALUES_NORMAL:
            *value = heddle_random_normal(&random);
            if (heddle_operand_dtype(values->op, index, values->shape) == HEDDLE_I8)
                *value = heddle_values_byte(*value);
            break;
        case HEDDLE_VALUES_POSITIVE: *value = 0.5 + heddle_random_uniform(&random); break;
        case HEDDLE_VALUES_LABELS:
            *value = heddle_random_below(&random, (uint32_t)operand->limit(values->shape));
            break;
        case HEDDLE_VALUES_BYTES: *value = heddle_random_below(&random, 256); break;
        case HEDDLE_VALUES_SAVED:
        case HEDDLE_VALUES_OWN: break;
        }
    }
}

void harness_values_draw(harness_values *values, uint64_t seed)
{
    for (int i = 0; i < values->op->operand_count; i++)
        if (values->op->operands[i].role != HEDDLE_OUTPUT)
            draw_operand(values, i, seed);
}

double *harness_values_find(const harness_values *values, const char *name)
{
    int index = heddle_operand_find(values->op, name);
    return index < 0 ? NULL : values->operand[index];
}

void harness_values_take(harness_values *to, const harness_values *from)
{
    for (int i = 0; i < to->op->operand_count; i++) {
        int source = heddle_operand_find(from->op, to->op->operands[i].name);
        if (to->op->operands[i].role == HEDDLE_INPUT && source >= 0 && to->elements[i] == from->elements[source])
            memcpy(to->operand[i], from->operand[source], to->elements[i] * sizeof(double));
    }
}

void harness_values_prepare(harness_values *values, const heddle_op *forward, uint64_t seed)
{
    harness_values_draw(values, seed);
    if (forward) {
        harness_values saved;
        harness_values_create(&saved, forward, values->shape);
        harness_values_draw(&saved, seed);
        harness_values_round(&saved);
        harness_values_reference(&saved);
        harness_values_take(values, &saved);
        harness_values_destroy(&saved);
    }
    harness_values_round(values);
}

void harness_values_round(harness_values *values)
{
    for (int i = 0; i < values->op->operand_count; i++)
        for (size_t e = 0; e < values->elements[i]; e++)
            values->operand[i][e] =
                heddle_values_round(heddle_operand_dtype(values->op, i, values->shape), values->operand[i][e]);
}

void harness_values_reference(harness_values *values)
{
    const double *input[HEDDLE_MAX_OPERANDS] = {NULL};
    double *output[HEDDLE_MAX_OPERANDS] = {NULL};
    for (int i = 0; i < values->op->operand_count; i++) {
        int slot;
        double *memory = values->absent[i] ? NULL : values->operand[i];
        if (heddle_operand_slot(values->op, i, &slot))
            output[slot] = memory;
        else
            input[slot] = memory;
    }
    values->op->reference(values->shape, input, output);
}

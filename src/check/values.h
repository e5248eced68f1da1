// Every operand of an operator in float64: drawn from a seed, sent through the reference, and how far a float32 result
// may be from it.
#ifndef HEDDLE_CHECK_VALUES_H
#define HEDDLE_CHECK_VALUES_H

#include <stdio.h>

#include "heddle/op.h"

typedef struct heddle_check_values {
    const heddle_op *op;
    const void *shape;
    double *operand[2 * HEDDLE_MAX_OPERANDS];
    size_t elements[2 * HEDDLE_MAX_OPERANDS];
} heddle_check_values;

heddle_status heddle_check_values_create(heddle_check_values *values, const heddle_op *op, const void *shape);
void heddle_check_values_destroy(heddle_check_values *values);
// Inputs and updates, as float32 can hold them; what a forward operator saves comes from its reference.
heddle_status heddle_check_values_draw(heddle_check_values *values, uint64_t seed);
void heddle_check_values_reference(heddle_check_values *values);
// How far each output may be off, by dtype, reduction length, and how strongly it depends on its inputs; `drawn` are
// the values before the reference. scale[i] is to be multiplied by nothing more: |got - expected| <= factor *
// max(scale[i], |expected|).
heddle_status heddle_check_values_scale(const heddle_check_values *drawn, const heddle_check_values *expected,
                                        double *scale, double *factor);

// Between float64 and the bytes of a dtype. False: no memory, or the file is too short.
bool heddle_check_values_write(const heddle_check_values *values, int operand, FILE *file);
bool heddle_check_values_read(heddle_check_values *values, int operand, FILE *file);

#endif

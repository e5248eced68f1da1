// Every operand of an operator in float64: drawn from a seed, sent through the reference, as bytes of its dtype.
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

// Between float64 and the bytes of a dtype. False: no memory, or the file is too short.
bool heddle_check_values_write(const heddle_check_values *values, int operand, FILE *file);
bool heddle_check_values_read(heddle_check_values *values, int operand, FILE *file);

#endif

// Every operand of an operator in float64, for shapes that fill a GPU: drawn from a seed on all cores, rounded to its
// dtype, run through the reference, and converted to a dtype's bytes and back.
#pragma once

#include "heddle/op.h"

enum { HEDDLE_VALUES_OPERANDS = 2 * HEDDLE_MAX_OPERANDS };

typedef struct heddle_operand_values {
    const heddle_op *op;
    const void *shape;
    double *operand[HEDDLE_VALUES_OPERANDS];
    size_t elements[HEDDLE_VALUES_OPERANDS];
    bool whole; // set it before drawing: normal values become integers, whose sums float32 holds in any order
} heddle_operand_values;

heddle_status heddle_operand_values_create(heddle_operand_values *values, const heddle_op *op, const void *shape);
heddle_status heddle_operand_values_copy(heddle_operand_values *copy, const heddle_operand_values *values);
void heddle_operand_values_destroy(heddle_operand_values *values);

// Inputs and updates, rounded to their dtypes; what a forward operator saves comes from its reference. The same numbers
// for any number of threads.
heddle_status heddle_operand_values_draw(heddle_operand_values *values, heddle_pool *pool, uint64_t seed);
// The same, where `reference` computes what the forward operator saves, on a device, say.
typedef heddle_status heddle_operand_values_by(void *context, heddle_operand_values *values);
heddle_status heddle_operand_values_draw_by(heddle_operand_values *values, heddle_pool *pool, uint64_t seed,
                                            heddle_operand_values_by *reference, void *context);
// Whether drawing needs the reference of a forward operator first; NULL: it does not.
const heddle_op *heddle_operand_values_forward(const heddle_op *op);
void heddle_operand_values_reference(heddle_operand_values *values);

// Between float64 and the bytes of a dtype, in rows of so many columns.
void heddle_values_encode(heddle_dtype dtype, size_t columns, heddle_pool *pool, const double *values, size_t count,
                          void *bytes);
double heddle_values_decode(heddle_dtype dtype, size_t columns, const void *bytes, size_t index);
double heddle_values_round(heddle_dtype dtype, double value);
// A normal value for an operand of signed bytes: most of them have their share.
double heddle_values_byte(double normal);

// Calls work(context, first, last) for pieces of [0, count) whose bounds do not depend on the number of threads.
typedef void heddle_values_work(void *context, size_t first, size_t last);
enum { HEDDLE_VALUES_PIECE = 1 << 16 };
void heddle_values_pieces(heddle_pool *pool, size_t count, heddle_values_work *work, void *context);

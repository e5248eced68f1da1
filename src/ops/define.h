// Shorthand for operator tables: fields, dims and counts that every operator's file declares the same way.
#pragma once

#include <math.h>
#include <stddef.h>

#include "heddle/op.h"
#include "heddle/ops.h"

#define HEDDLE_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

// A row of a fields table, inside its braces: `member` of shape struct `type`. REQUIRED: a shape must name it;
// OPTIONAL: `initial` is the default.
#define HEDDLE_REQUIRED_INT(type, member, text)                                                                        \
    .name = #member, .offset = offsetof(type, member), .kind = HEDDLE_FIELD_INT, .initial = NAN, .note = (text)
#define HEDDLE_OPTIONAL_INT(type, member, value, text)                                                                 \
    .name = #member, .offset = offsetof(type, member), .kind = HEDDLE_FIELD_INT, .initial = (value), .note = (text)
#define HEDDLE_OPTIONAL_FLOAT(type, member, value, text)                                                               \
    .name = #member, .offset = offsetof(type, member), .kind = HEDDLE_FIELD_FLOAT, .initial = (value), .note = (text)

// A row of an operands table, inside its braces; `.optional = true` and the like may follow.
#define HEDDLE_FLOAT_INPUT(text, contents, size)                                                                       \
    .name = (text), .role = HEDDLE_INPUT, .dtype = HEDDLE_F32, .values = (contents), .dims = (size)
#define HEDDLE_FLOAT_OUTPUT(text, size) .name = (text), .role = HEDDLE_OUTPUT, .dtype = HEDDLE_F32, .dims = (size)
#define HEDDLE_FLOAT_UPDATE(text, contents, size)                                                                      \
    .name = (text), .role = HEDDLE_UPDATE, .dtype = HEDDLE_F32, .values = (contents), .dims = (size)

// Parts of an operator's table that come with their length.
#define HEDDLE_FIELDS(array)   .fields = (array), .field_count = HEDDLE_COUNT(array)
#define HEDDLE_OPERANDS(array) .operands = (array), .operand_count = HEDDLE_COUNT(array)
#define HEDDLE_LADDER(array)   .ladder = (array), .rungs = HEDDLE_COUNT(array)

// HEDDLE_DIMS(dims_weight, heddle_linear_shape, shape->out, shape->in): the function that gives an operand's extents.
// SHARED: for use in other files, too.
#define HEDDLE_DIMS(function, type, ...) static HEDDLE_SHARED_DIMS(function, type, __VA_ARGS__)
#define HEDDLE_SHARED_DIMS(function, type, ...)                                                                        \
    int function(const void *shape_, int dims[HEDDLE_MAX_DIMS])                                                        \
    {                                                                                                                  \
        const type *shape = shape_;                                                                                    \
        const int extents[] = {__VA_ARGS__};                                                                           \
        (void)shape;                                                                                                   \
        for (int i = 0; i < HEDDLE_COUNT(extents); i++)                                                                \
            dims[i] = extents[i];                                                                                      \
        return HEDDLE_COUNT(extents);                                                                                  \
    }

// HEDDLE_OF_SHAPE(int64_t, reduction, heddle_linear_shape, shape->in): the function that gives one number of a shape.
#define HEDDLE_OF_SHAPE(result, function, type, value) static HEDDLE_SHARED_OF_SHAPE(result, function, type, value)
#define HEDDLE_SHARED_OF_SHAPE(result, function, type, value)                                                          \
    result function(const void *shape_)                                                                                \
    {                                                                                                                  \
        const type *shape = shape_;                                                                                    \
        return (value);                                                                                                \
    }

// The same for the workspace of a rung that needs the same number of bytes for any number of threads.
#define HEDDLE_WORKSPACE(function, type, bytes) static HEDDLE_SHARED_WORKSPACE(function, type, bytes)
#define HEDDLE_SHARED_WORKSPACE(function, type, bytes)                                                                 \
    size_t function(const void *shape_, int threads)                                                                   \
    {                                                                                                                  \
        const type *shape = shape_;                                                                                    \
        (void)threads;                                                                                                 \
        return (bytes);                                                                                                \
    }

// HEDDLE_COST(forward_cost, forward_operands, heddle_linear_shape, 2.0 * shape->n * shape->in * shape->out): the cost
// of an operator that reads each input and writes each output once. REQUIRED: optional ones do not count,
// and the function `element` says what HEDDLE_BF16 stands for.
#define HEDDLE_COST(function, operands, type, operations)                                                              \
    static HEDDLE_SHARED_COST(function, operands, type, operations)
#define HEDDLE_SHARED_COST(function, operands, type, operations)                                                       \
    HEDDLE_COST_OF_(function, operands, type, operations, true, HEDDLE_BF16)
#define HEDDLE_REQUIRED_COST(function, operands, type, operations)                                                     \
    static HEDDLE_COST_OF_(function, operands, type, operations, false, element(shape))
#define HEDDLE_COST_OF_(function, operands, type, operations, optional, bf16)                                          \
    heddle_cost function(const void *shape_)                                                                           \
    {                                                                                                                  \
        const type *shape = shape_;                                                                                    \
        return heddle_cost_of(operands, HEDDLE_COUNT(operands), shape, (operations), optional, bf16);                  \
    }
heddle_cost heddle_cost_of(const heddle_operand *operands, int count, const void *shape, double flops, bool optional,
                           heddle_dtype bf16);

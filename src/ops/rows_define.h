// Shorthand for the tables of the operators over rows of 16-bit elements, and the functions that their references
// apply.
#pragma once

#include "ops/by_reference.h"
#include "ops/define.h"
#include "ops/rows_conv/rows_conv.h"

// A row of a fields table, inside its braces, and the function that goes with it: which type elements have.
#define HEDDLE_ROWS_HALF(type)  HEDDLE_OPTIONAL_INT(type, half, 0, "0: elements are bf16, 1: fp16")
#define HEDDLE_ROWS_PAIRS(type) HEDDLE_OPTIONAL_INT(type, pairs, 0, "1: elements are pairs of fp16, of 22 bits")
#define HEDDLE_ROWS_INT8(type)  HEDDLE_OPTIONAL_INT(type, int8, 0, "1: elements are signed bytes")
#define HEDDLE_ROWS_ELEMENT(name, type)                                                                                \
    HEDDLE_OF_SHAPE(heddle_dtype, name, type, shape->half ? HEDDLE_F16 : HEDDLE_BF16)
#define HEDDLE_ROWS_PAIRS_ELEMENT(name, type)                                                                          \
    HEDDLE_OF_SHAPE(heddle_dtype, name, type, shape->pairs ? HEDDLE_F16_PAIR : shape->half ? HEDDLE_F16 : HEDDLE_BF16)

#define HEDDLE_ROWS_ANY_ELEMENT(name, type)                                                                            \
    HEDDLE_OF_SHAPE(heddle_dtype, name, type,                                                                          \
                    shape->int8    ? HEDDLE_I8                                                                         \
                    : shape->pairs ? HEDDLE_F16_PAIR                                                                   \
                    : shape->half  ? HEDDLE_F16                                                                        \
                                   : HEDDLE_BF16)

// Rows of an operands table, inside their braces: one of such elements, and the counters of blocks that have arrived.
#define HEDDLE_ROWS_OPERAND(text, part, contents, size)                                                                \
    .name = (text), .role = (part), .dtype = HEDDLE_BF16, .values = (contents), .dims = (size)
#define HEDDLE_ROWS_ARRIVED(size)                                                                                      \
    .name = "arrived", .role = HEDDLE_UPDATE, .dtype = HEDDLE_I32, .values = HEDDLE_VALUES_OWN, .dims = (size)

// A heddle_rows_function of x, and its slope as a function of its result.
double heddle_rows_activate(int function, double x);
double heddle_rows_slope(int function, double y);

// A result that is stored as a byte: a function of what float32 has of sum * scale + bias, rounded to the nearest byte.
double heddle_rows_requantise(int function, double sum, double scale, double bias);
// The nearest byte of a function's result.
double heddle_rows_byte(int function, double value);

// HEDDLE_INVALID if `int8` is 1: for operators that have no kernels for bytes.
heddle_status heddle_rows_is_floats(const char *op, int int8);

// Shapes that fill a GPU, made small enough for a CPU.
#pragma once

#include "heddle/op.h"

typedef struct heddle_bench_budget {
    double flops, bytes; // of one run, by the operator's cost
} heddle_bench_budget;

// Halves the largest numbers of the shape until it is within the budget, or nothing smaller is a shape. The result is
// in `text`, without the fields that have their default. HEDDLE_INVALID: `given` is not a shape of the operator.
heddle_status heddle_bench_shrink(const heddle_op *op, const char *given, const heddle_bench_budget *budget, char *text,
                                  size_t size);

// Reduces a shape to part of its work. In a struct of HEDDLE_MAX_SHAPE_BYTES the first number, images or rows, is
// halved as long as possible, then the next.
void heddle_bench_take_part(const heddle_op *op, void *shape, const heddle_bench_budget *budget);

// A shape as one would type it: without the fields that have their default.
void heddle_bench_print_shape(const heddle_op *op, const void *shape, char *text, size_t size);

// How far a float32 result may be from the float64 reference: for everything that compares a rung or a person's kernel
// with it.
//
// An element may be off by
//
//     (unit roundoff * (8 + 4 sqrt(reduction length)) + 8 * roundoff of inputs + 64 * 2^-(bits of short sums) +
//      roundoff of the output) * scale
//
// 8 covers a handful of operations and a polynomial, the root the random walk of a sum's rounding errors. Inputs are
// rounded if a rung's arithmetic takes fewer bits than they are stored with: a sum of products then differs by 0.6
// times their roundoff in the mean square of its elements, by 3.5 times in the worst of 10^8, and would by 5 if they
// were rounded to bf16 instead of tf32. Short sums are those of a tensor core that keeps fewer bits than float32, 14 on
// Hopper for fp8: it cuts 32 products, and the sum they are added to, 13 bits below the largest of them. In a model of
// that arithmetic that adds its sums to float32 every 128 products, errors are 2 * 2^-14 of the scale in the mean
// square and 20 * 2^-14 in the worst of 10^5 elements, for sums of any length; the bound leaves room because the
// arithmetic is not documented. Without those additions sums of 4096 products are off by up to 122 * 2^-14, and fail.
// The output is rounded if its dtype has fewer bits than float32. All three are 0 for float32 in full arithmetic.
// Arithmetic of 16 bits also rounds results in between (the weights of attention) to the output's dtype. The scale is
// the largest of the element itself, the root mean square of its operand, and how much the operand's elements change
// (in the median) when every input is perturbed by a relative unit: the last one matters if sums cancel. An operand
// marked by_row has rows of unlike size, and errors in proportion to them: its scale is larger in a row that is larger
// than the rest.
#pragma once

#include "heddle/op.h"

// The length of the longest sum of an operator; at least 1.
int64_t heddle_tolerance_reduction(const heddle_op *op, const void *shape);

// The operands' scales, by operand. Operands are float64, `elements[i]` of them: `prepared` before the reference ran
// (NULL: absent), `expected` after.
heddle_status heddle_tolerance_scale(const heddle_op *op, const void *shape, double *const *prepared,
                                     double *const *expected, const size_t *elements, double *scale);

// For an operand marked by_row: its root mean square, and by how much its scale is larger in a row of `columns`
// elements; 1 for others.
double heddle_tolerance_whole(const heddle_operand *operand, const double *expected, size_t elements);
double heddle_tolerance_row(const heddle_operand *operand, const double *row, size_t columns, double whole);

// The factor of the scale: 0 for integers, which are exact. sum_bits: a rung's own, 0 for float32.
double heddle_tolerance_factor(int64_t reduction, heddle_arithmetic arithmetic, int sum_bits, heddle_dtype output);
// For HEDDLE_NORM: how large the L2 norm of an operand's error may be, if the operand's own is `norm`. Smooth results
// (the loss, statistics, the gradient of the last layer) are off in proportion to the roundoff. Other gradients are off
// in proportion to its root: that is the share of pooling windows whose winner another rounding changes; each of them
// changes its part of the gradient entirely, and the squares of those parts add up. A count may be off by one if logits
// are rounded: two of them may have changed order. Other integers are exact.
double heddle_tolerance_norm(const heddle_op *op, const void *shape, int index, heddle_arithmetic arithmetic,
                             double norm);
// How far a float32 element that should be `expected` may be off, in full arithmetic.
double heddle_tolerance(int64_t reduction, double scale, double expected);

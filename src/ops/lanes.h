// Sums of floats in double, over a fixed number of lanes: fast, and the same on every machine and thread count.
#ifndef HEDDLE_OPS_LANES_H
#define HEDDLE_OPS_LANES_H

#include <stddef.h>
#include <string.h>

enum { HEDDLE_LANES = 8 }; // enough independent sums to hide the latency of an addition

typedef float heddle_float_lanes __attribute__((vector_size(HEDDLE_LANES * sizeof(float))));
typedef double heddle_double_lanes __attribute__((vector_size(HEDDLE_LANES * sizeof(double))));

static inline double heddle_lanes_add_up(const heddle_double_lanes *sums)
{
    double total = 0;
    for (int lane = 0; lane < HEDDLE_LANES; lane++)
        total += (*sums)[lane];
    return total;
}

// Σ x
static inline double heddle_sum(const float *x, size_t count)
{
    heddle_double_lanes sums = {0};
    size_t i = 0;
    for (; i + HEDDLE_LANES <= count; i += HEDDLE_LANES) {
        heddle_float_lanes values;
        memcpy(&values, x + i, sizeof values);
        sums += __builtin_convertvector(values, heddle_double_lanes);
    }
    double total = heddle_lanes_add_up(&sums);
    for (; i < count; i++)
        total += x[i];
    return total;
}

// Σ (x - center)²
static inline double heddle_sum_squares_from(const float *x, size_t count, double center)
{
    heddle_double_lanes sums = {0};
    size_t i = 0;
    for (; i + HEDDLE_LANES <= count; i += HEDDLE_LANES) {
        heddle_float_lanes values;
        memcpy(&values, x + i, sizeof values);
        heddle_double_lanes difference = __builtin_convertvector(values, heddle_double_lanes) - center;
        sums += difference * difference;
    }
    double total = heddle_lanes_add_up(&sums);
    for (; i < count; i++)
        total += (x[i] - center) * (x[i] - center);
    return total;
}

// Σ (x - center) y
static inline double heddle_sum_products_from(const float *x, double center, const float *y, size_t count)
{
    heddle_double_lanes sums = {0};
    size_t i = 0;
    for (; i + HEDDLE_LANES <= count; i += HEDDLE_LANES) {
        heddle_float_lanes left, right;
        memcpy(&left, x + i, sizeof left);
        memcpy(&right, y + i, sizeof right);
        sums += (__builtin_convertvector(left, heddle_double_lanes) - center) *
                __builtin_convertvector(right, heddle_double_lanes);
    }
    double total = heddle_lanes_add_up(&sums);
    for (; i < count; i++)
        total += (x[i] - center) * y[i];
    return total;
}

#endif

// Sums of floats in double, over a fixed number of lanes: fast, and the same on every machine and thread count. Plain
// arrays of lanes, which gcc and clang both keep in vector registers.
#pragma once

#include <stddef.h>

enum { HEDDLE_LANES = 8 }; // enough independent sums to hide the latency of an addition

static inline double heddle_lanes_total(const double sums[HEDDLE_LANES])
{
    double total = 0;
    for (int lane = 0; lane < HEDDLE_LANES; lane++)
        total += sums[lane];
    return total;
}

// Σ x
static inline double heddle_sum(const float *x, size_t count)
{
    double sums[HEDDLE_LANES] = {0};
    size_t i = 0;
    for (; i + HEDDLE_LANES <= count; i += HEDDLE_LANES)
        for (int lane = 0; lane < HEDDLE_LANES; lane++)
            sums[lane] += x[i + lane];
    double total = heddle_lanes_total(sums);
    for (; i < count; i++)
        total += x[i];
    return total;
}

// Σ (x - center)²
static inline double heddle_sum_squares_from(const float *x, size_t count, double center)
{
    double sums[HEDDLE_LANES] = {0};
    size_t i = 0;
    for (; i + HEDDLE_LANES <= count; i += HEDDLE_LANES)
        for (int lane = 0; lane < HEDDLE_LANES; lane++)
            sums[lane] += (x[i + lane] - center) * (x[i + lane] - center);
    double total = heddle_lanes_total(sums);
    for (; i < count; i++)
        total += (x[i] - center) * (x[i] - center);
    return total;
}

// Σ (x - center) y
static inline double heddle_sum_products_from(const float *x, double center, const float *y, size_t count)
{
    double sums[HEDDLE_LANES] = {0};
    size_t i = 0;
    for (; i + HEDDLE_LANES <= count; i += HEDDLE_LANES)
        for (int lane = 0; lane < HEDDLE_LANES; lane++)
            sums[lane] += (x[i + lane] - center) * y[i + lane];
    double total = heddle_lanes_total(sums);
    for (; i < count; i++)
        total += (x[i] - center) * y[i];
    return total;
}

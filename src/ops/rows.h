// What softmax and cross-entropy do to a row: its largest value, and exp of the differences from it.
#pragma once

#include "ops/lanes.h"
#include "ops/vector_math.h"

// count must not be 0. NaNs may be skipped: they show in the results computed from the row.
static inline float heddle_row_max(const float *x, size_t count)
{
    float most = x[0];
    size_t i = 0;
    if (count >= HEDDLE_LANES) {
        float best[HEDDLE_LANES];
        for (int lane = 0; lane < HEDDLE_LANES; lane++)
            best[lane] = x[lane];
        for (i = HEDDLE_LANES; i + HEDDLE_LANES <= count; i += HEDDLE_LANES)
            for (int lane = 0; lane < HEDDLE_LANES; lane++)
                best[lane] = x[i + lane] > best[lane] ? x[i + lane] : best[lane];
        for (int lane = 0; lane < HEDDLE_LANES; lane++)
            most = best[lane] > most ? best[lane] : most;
    }
    for (; i < count; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

// y = exp(x - most); returns the sum.
static inline double heddle_row_exp(const float *restrict x, size_t count, float most, float *restrict y)
{
    for (size_t i = 0; i < count; i++)
        y[i] = heddle_exp(x[i] - most);
    return heddle_sum(y, count);
}

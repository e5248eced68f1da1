// What softmax and cross-entropy do to a row: its largest value, and exp of the distances to it.
#ifndef HEDDLE_OPS_ROWS_H
#define HEDDLE_OPS_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "ops/lanes.h"
#include "ops/vector_math.h"

// count must not be 0. NaNs may be passed over: they show in what is made of the row.
static inline float heddle_row_max(const float *x, size_t count)
{
    typedef int32_t mask_lanes __attribute__((vector_size(HEDDLE_LANES * sizeof(int32_t))));
    float most = x[0];
    size_t i = 0;
    if (count >= HEDDLE_LANES) {
        heddle_float_lanes best;
        memcpy(&best, x, sizeof best);
        for (i = HEDDLE_LANES; i + HEDDLE_LANES <= count; i += HEDDLE_LANES) {
            heddle_float_lanes values;
            memcpy(&values, x + i, sizeof values);
            mask_lanes larger = values > best;
            best = (heddle_float_lanes)(((mask_lanes)values & larger) | ((mask_lanes)best & ~larger));
        }
        most = best[0];
        for (int lane = 1; lane < HEDDLE_LANES; lane++)
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

#endif

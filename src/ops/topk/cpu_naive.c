// topk, first rung: k passes over each row, one thread. Each pass finds the best of those after the last one found.
//
// Limited by: k times as many comparisons as there are elements.

#include "ops/topk/topk.h"

// NaN before all numbers, then the larger, then the first.
static bool comes_before(const float *row, int i, int j)
{
    bool nan_i = row[i] != row[i], nan_j = row[j] != row[j];
    if (nan_i != nan_j)
        return nan_i;
    return (!nan_i && row[i] != row[j]) ? row[i] > row[j] : i < j;
}

heddle_status heddle_topk_cpu_naive(const heddle_call *call)
{
    const heddle_topk_shape *shape = call->shape;
    for (size_t r = 0; r < (size_t)shape->rows; r++) {
        const float *row = (const float *)call->input[0] + r * (size_t)shape->cols;
        float *values = (float *)call->output[0] + r * (size_t)shape->k;
        int32_t *indices = (int32_t *)call->output[1] + r * (size_t)shape->k;
        for (int place = 0; place < shape->k; place++) {
            int best = -1;
            for (int j = 0; j < shape->cols; j++)
                if ((place == 0 || comes_before(row, indices[place - 1], j)) &&
                    (best < 0 || comes_before(row, j, best)))
                    best = j;
            values[place] = row[best];
            indices[place] = best;
        }
    }
    return HEDDLE_OK;
}

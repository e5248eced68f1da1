// gemv, first rung: one element of y at a time, one running sum, one thread. It is a double, as in dot's.
//
// Limited by: the latency of one addition per element; transposed, by loads that are a row apart.

#include "ops/gemv/gemv.h"

heddle_status heddle_gemv_cpu_naive(const heddle_call *call)
{
    const heddle_gemv_shape *shape = call->shape;
    const float *a = call->input[0], *x = call->input[1];
    float *y = call->output[0];
    const size_t n = (size_t)shape->n, along = shape->transpose ? n : 1, across = shape->transpose ? 1 : n;
    for (int i = 0; i < heddle_gemv_outputs(shape); i++) {
        double sum = 0;
        for (int j = 0; j < heddle_gemv_length(shape); j++)
            sum += (double)a[(size_t)i * across + (size_t)j * along] * x[j];
        y[i] = (float)sum;
    }
    return HEDDLE_OK;
}

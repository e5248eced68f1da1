// quantise and dequantise, first rung: one row at a time, one thread.
//
// Limited by: one core; a row is read twice, for its largest value and for its bytes.

#include <math.h>

#include "heddle/ops.h"
#include "ops/quantise/quantise.h"

heddle_status heddle_quantise_cpu_naive(const heddle_call *call)
{
    const heddle_rows_shape *shape = call->shape;
    const float *input = call->input[0];
    int8_t *output = call->output[0];
    float *scale = call->output[1];
    for (int row = 0; row < shape->rows; row++, input += shape->cols, output += shape->cols) {
        float largest = 0;
        for (int col = 0; col < shape->cols; col++)
            largest = fmaxf(largest, fabsf(input[col]));
        scale[row] = heddle_quantise_scale(largest);
        for (int col = 0; col < shape->cols; col++)
            output[col] = (int8_t)rintf(input[col] / scale[row]);
    }
    return HEDDLE_OK;
}

heddle_status heddle_dequantise_cpu_naive(const heddle_call *call)
{
    const heddle_rows_shape *shape = call->shape;
    const int8_t *input = call->input[0];
    const float *scale = call->input[1];
    float *output = call->output[0];
    for (int row = 0; row < shape->rows; row++)
        for (int col = 0; col < shape->cols; col++)
            output[(size_t)row * shape->cols + col] = scale[row] * input[(size_t)row * shape->cols + col];
    return HEDDLE_OK;
}

// matmul_int4, first rung: three loops, one thread.
//
// Limited by: unpacking. Each multiplication finds, shifts and scales its weight anew.

#include "base/float16.h"
#include "ops/matmul_int4/matmul_int4.h"
#include "ops/matmul_int4/weights.h"

heddle_status heddle_matmul_int4_cpu_naive(const heddle_call *call)
{
    const heddle_matmul_int4_shape *shape = call->shape;
    const uint16_t *input = call->input[0], *scale = call->input[2];
    const uint8_t *weight = call->input[1], *zero = call->input[3];
    float *output = call->output[0];
    const size_t k = (size_t)shape->k, groups = (size_t)heddle_int4_groups(shape);
    const size_t row_bytes = (size_t)heddle_int4_row_bytes(shape->k);
    for (size_t i = 0; i < (size_t)shape->m; i++)
        for (size_t j = 0; j < (size_t)shape->n; j++) {
            float sum = 0;
            for (int p = 0; p < shape->k; p++) {
                const size_t group = j * groups + (size_t)(p / shape->group);
                const int number = heddle_int4_weight(weight + j * row_bytes, p) - zero[group];
                sum += (float)(heddle_f16_decode(input[i * k + (size_t)p]) * heddle_f16_decode(scale[group]) * number);
            }
            output[i * (size_t)shape->n + j] = sum;
        }
    return HEDDLE_OK;
}

// matmul_int8, first rung: three loops, one thread.
//
// Limited by: one load of each operand per multiplication.

#include "heddle/ops.h"
#include "ops/matmul_int8/matmul_int8.h"

heddle_status heddle_matmul_int8_cpu_naive(const heddle_call *call)
{
    const heddle_matmul_int8_shape *shape = call->shape;
    const int8_t *a = call->input[0], *b = call->input[1];
    const float *scale_a = call->input[2], *scale_b = call->input[3];
    float *output = call->output[0];
    for (int i = 0; i < shape->m; i++)
        for (int j = 0; j < shape->n; j++) {
            const int8_t *row_a = a + (size_t)i * shape->k, *row_b = b + (size_t)j * shape->k;
            int32_t sum = 0;
            for (int p = 0; p < shape->k; p++)
                sum += row_a[p] * row_b[p];
            output[(size_t)i * shape->n + j] = scale_a[i] * scale_b[j] * (float)sum;
        }
    return HEDDLE_OK;
}

// matmul_fp8, first rung: three loops, one thread, sums in float32.
//
// Limited by: conversions. Both numbers of each multiplication are converted again.

#include "base/float16.h"
#include "base/float8.h"
#include "heddle/ops.h"
#include "ops/matmul_fp8/matmul_fp8.h"

heddle_status heddle_matmul_fp8_cpu_naive(const heddle_call *call)
{
    const heddle_matmul_fp8_shape *shape = call->shape;
    const uint8_t *a = call->input[0], *b = call->input[1];
    const float *scale_a = call->input[2], *scale_b = call->input[3];
    uint16_t *output = call->output[0];
    for (int i = 0; i < shape->m; i++)
        for (int j = 0; j < shape->n; j++) {
            const uint8_t *row_a = a + (size_t)i * (size_t)shape->k, *row_b = b + (size_t)j * (size_t)shape->k;
            float sum = 0;
            for (int p = 0; p < shape->k; p++)
                sum += heddle_e4m3_decode(row_a[p]) * heddle_e4m3_decode(row_b[p]);
            output[(size_t)i * (size_t)shape->n + (size_t)j] = heddle_bf16_encode(*scale_a * *scale_b * sum);
        }
    return HEDDLE_OK;
}

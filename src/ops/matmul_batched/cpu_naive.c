// matmul_batched by its definition: four loops. Limited by: two loads per multiplication, and one thread.

#include "heddle/ops.h"
#include "ops/matmul_batched/matmul_batched.h"

heddle_status heddle_matmul_batched_forward_cpu_naive(const heddle_call *call)
{
    const heddle_matmul_batched_shape *shape = call->shape;
    size_t m = (size_t)shape->m, n = (size_t)shape->n, k = (size_t)shape->k;
    for (int t = 0; t < shape->batch; t++) {
        const float *a = (const float *)call->input[0] + t * m * k, *b = (const float *)call->input[1] + t * k * n;
        float *output = (float *)call->output[0] + t * m * n;
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) {
                float sum = 0;
                for (size_t p = 0; p < k; p++)
                    sum +=
                        a[shape->transpose_a ? p * m + i : i * k + p] * b[shape->transpose_b ? j * k + p : p * n + j];
                float *place = &output[i * n + j];
                *place = shape->alpha * sum + (shape->beta == 0.0f ? 0 : shape->beta * *place);
            }
    }
    return HEDDLE_OK;
}

// matmul_bf16, first rung: three loops, one thread, sums in float32.
//
// Limited by: two loads per multiplication, one of them down a column.

#include "base/float16.h"
#include "heddle/ops.h"
#include "ops/matmul_bf16/matmul_bf16.h"

// Element (row, column) of op(matrix); its stored rows are `leading` long.
static float element(const uint16_t *matrix, int transposed, int leading, int row, int column)
{
    return heddle_bf16_decode(transposed ? matrix[(size_t)column * leading + row]
                                         : matrix[(size_t)row * leading + column]);
}

heddle_status heddle_matmul_bf16_forward_cpu_naive(const heddle_call *call)
{
    const heddle_matmul_shape *shape = call->shape;
    const uint16_t *a = call->input[0], *b = call->input[1];
    uint16_t *output = call->output[0];
    int leading_a = shape->transpose_a ? shape->m : shape->k, leading_b = shape->transpose_b ? shape->k : shape->n;
    for (int i = 0; i < shape->m; i++)
        for (int j = 0; j < shape->n; j++) {
            float sum = 0;
            for (int p = 0; p < shape->k; p++)
                sum +=
                    element(a, shape->transpose_a, leading_a, i, p) * element(b, shape->transpose_b, leading_b, p, j);
            uint16_t *place = &output[(size_t)i * shape->n + j];
            sum *= shape->alpha;
            *place = heddle_bf16_encode(shape->beta == 0.0f ? sum : sum + shape->beta * heddle_bf16_decode(*place));
        }
    return HEDDLE_OK;
}

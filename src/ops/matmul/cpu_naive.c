// matmul, first rung: three loops, one thread.
//
// Limited by: two loads per multiplication, one of them down a column. cpu_blocked keeps a tile of the result in
// registers and packs its operands.

#include "heddle/ops.h"
#include "ops/matmul/matmul.h"

// Element (row, column) of op(matrix); its stored rows are `leading` long.
static float element(const float *matrix, int transposed, int leading, int row, int column)
{
    return transposed ? matrix[(size_t)column * leading + row] : matrix[(size_t)row * leading + column];
}

heddle_status heddle_matmul_forward_cpu_naive(const heddle_call *call)
{
    const heddle_matmul_shape *shape = call->shape;
    const float *a = call->input[0], *b = call->input[1];
    float *output = call->output[0];
    int leading_a = shape->transpose_a ? shape->m : shape->k, leading_b = shape->transpose_b ? shape->k : shape->n;
    for (int i = 0; i < shape->m; i++)
        for (int j = 0; j < shape->n; j++) {
            float sum = 0;
            for (int p = 0; p < shape->k; p++)
                sum +=
                    element(a, shape->transpose_a, leading_a, i, p) * element(b, shape->transpose_b, leading_b, p, j);
            float *place = &output[(size_t)i * shape->n + j];
            *place = shape->beta == 0.0f ? shape->alpha * sum : shape->alpha * sum + shape->beta * *place;
        }
    return HEDDLE_OK;
}

// grad of op(a) (m, k) = alpha * grad_output (m, n) * op(b)ᵀ (n, k)
static void grad_a_loop(const heddle_matmul_shape *shape, const float *b, const float *grad_output, float *grad_a)
{
    int leading_b = shape->transpose_b ? shape->k : shape->n;
    for (int i = 0; i < shape->m; i++)
        for (int p = 0; p < shape->k; p++) {
            float sum = 0;
            for (int j = 0; j < shape->n; j++)
                sum += grad_output[(size_t)i * shape->n + j] * element(b, shape->transpose_b, leading_b, p, j);
            size_t place = shape->transpose_a ? (size_t)p * shape->m + i : (size_t)i * shape->k + p;
            grad_a[place] = shape->alpha * sum;
        }
}

// grad of op(b) (k, n) = alpha * op(a)ᵀ (k, m) * grad_output (m, n)
static void grad_b_loop(const heddle_matmul_shape *shape, const float *a, const float *grad_output, float *grad_b)
{
    int leading_a = shape->transpose_a ? shape->m : shape->k;
    for (int p = 0; p < shape->k; p++)
        for (int j = 0; j < shape->n; j++) {
            float sum = 0;
            for (int i = 0; i < shape->m; i++)
                sum += element(a, shape->transpose_a, leading_a, i, p) * grad_output[(size_t)i * shape->n + j];
            size_t place = shape->transpose_b ? (size_t)j * shape->k + p : (size_t)p * shape->n + j;
            grad_b[place] = shape->alpha * sum;
        }
}

heddle_status heddle_matmul_backward_cpu_naive(const heddle_call *call)
{
    const heddle_matmul_shape *shape = call->shape;
    if (call->output[0])
        grad_a_loop(shape, call->input[1], call->input[2], call->output[0]);
    if (call->output[1])
        grad_b_loop(shape, call->input[0], call->input[2], call->output[1]);
    return HEDDLE_OK;
}

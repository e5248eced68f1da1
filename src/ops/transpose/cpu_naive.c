// transpose, first rung: row by row, one thread.
//
// Limited by: the cache. Neighbouring stores are a whole output row apart, so each touches a different cache line.

#include "heddle/ops.h"
#include "ops/transpose/transpose.h"

heddle_status heddle_transpose_cpu_naive(const heddle_call *call)
{
    const heddle_rows_shape *shape = call->shape;
    const float *input = call->input[0];
    float *output = call->output[0];
    for (int row = 0; row < shape->rows; row++)
        for (int col = 0; col < shape->cols; col++)
            output[(size_t)col * shape->rows + row] = input[(size_t)row * shape->cols + col];
    return HEDDLE_OK;
}

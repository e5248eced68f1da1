// embedding, first rung: one element at a time, one thread.
//
// Limited by: the memory bandwidth of one core.

#include "ops/embedding/embedding.h"

heddle_status heddle_embedding_forward_cpu_naive(const heddle_call *call)
{
    const heddle_embedding_shape *shape = call->shape;
    const float *table = call->input[0];
    const int64_t *tokens = call->input[1];
    float *output = call->output[0];
    HEDDLE_TRY(heddle_embedding_check_tokens(shape, tokens));
    for (size_t i = 0; i < (size_t)shape->n; i++)
        for (size_t j = 0; j < (size_t)shape->cols; j++)
            output[i * shape->cols + j] = table[(size_t)tokens[i] * shape->cols + j];
    return HEDDLE_OK;
}

heddle_status heddle_embedding_backward_cpu_naive(const heddle_call *call)
{
    const heddle_embedding_shape *shape = call->shape;
    const int64_t *tokens = call->input[0];
    const float *grad_output = call->input[1];
    float *grad_table = call->output[0];
    HEDDLE_TRY(heddle_embedding_check_tokens(shape, tokens));
    for (size_t i = 0; i < (size_t)shape->vocabulary * shape->cols; i++)
        grad_table[i] = 0;
    for (size_t i = 0; i < (size_t)shape->n; i++)
        for (size_t j = 0; j < (size_t)shape->cols; j++)
            grad_table[(size_t)tokens[i] * shape->cols + j] += grad_output[i * shape->cols + j];
    return HEDDLE_OK;
}

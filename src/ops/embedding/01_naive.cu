// embedding forward, rung 1: one thread per element. A token that is no row of the table gives NaN: a kernel has nobody
// to tell.
//
// Limited by: a division and a load of the token for every 4 bytes that are moved.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// table: (vocabulary, cols), tokens: (n), output: (n, cols)
__global__ void embedding_naive(heddle_embedding_shape shape, const float *table, const int64_t *tokens, float *output)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)shape.n * shape.cols)
        return;
    int64_t token = tokens[i / shape.cols];
    output[i] = token >= 0 && token < shape.vocabulary ? table[token * shape.cols + i % shape.cols] : NAN;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_embedding_shape *shape = (const heddle_embedding_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks((size_t)shape->n * shape->cols);
    if (blocks > 0)
        embedding_naive<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const int64_t *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("embedding_forward", "01_naive", launch)

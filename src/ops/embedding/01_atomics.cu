// embedding backward, rung 1: the table's gradient is set to zero, then one thread per element adds by an atomic.
//
// Tokens that are the same add to the same row, so a plain addition would be lost. The order of the additions is not
// defined, and the last bits of the result vary. A token that is no row of the table adds nothing.
//
// Limited by: atomics, which queue where many tokens are the same; and the table is written twice.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// tokens: (n), grad_output: (n, cols), grad_table: (vocabulary, cols), zero before the launch
__global__ void embedding_backward_atomics(heddle_embedding_shape shape, const int64_t *tokens,
                                           const float *grad_output, float *grad_table)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)shape.n * shape.cols)
        return;
    int64_t token = tokens[i / shape.cols];
    if (token >= 0 && token < shape.vocabulary)
        atomicAdd(&grad_table[token * shape.cols + i % shape.cols], grad_output[i]);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_embedding_shape *shape = (const heddle_embedding_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks((size_t)shape->n * shape->cols);
    cudaMemsetAsync(call->output[0], 0, (size_t)shape->vocabulary * shape->cols * sizeof(float),
                    heddle_cuda_stream_of(call));
    if (blocks > 0)
        embedding_backward_atomics<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const int64_t *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("01_atomics");
}

HEDDLE_CUDA_RUNG("embedding_backward", "01_atomics", launch)

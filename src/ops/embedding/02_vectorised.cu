// embedding forward, rung 2: one warp per row, which moves 16 bytes per load and store.
//
// Rung 1 loaded the token and divided for every element. Here a warp does so once per row, and each lane has up to four
// vectors in flight. Rows that are not a multiple of 16 bytes are moved 4 bytes at a time, still coalesced.
//
// Limited by: memory bandwidth.

#include "heddle/ops.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"

enum { WARP = HEDDLE_WARP, WARPS = 4, VECTORS = 4, PIECE = WARP * VECTORS * HEDDLE_VECTOR };

// table: (vocabulary, cols), tokens: (n), output: (n, cols)
template <bool aligned>
__global__ void __launch_bounds__(WARP *WARPS)
    embedding_vectorised(heddle_embedding_shape shape, const float *table, const int64_t *tokens, float *output)
{
    const size_t row = (size_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    if (row >= (size_t)shape.n) // a whole warp
        return;
    const int64_t token = tokens[row];
    const bool known = token >= 0 && token < shape.vocabulary;
    const float *from = table + (known ? token : 0) * shape.cols;
    float *to = output + row * shape.cols, value[VECTORS][HEDDLE_VECTOR];
    for (int first = 0; first < shape.cols; first += PIECE) {
        heddle_row_load<WARP, VECTORS, aligned>(from + first, known ? shape.cols - first : 0, NAN, value);
        heddle_row_store<WARP, VECTORS, aligned>(to + first, shape.cols - first, value);
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_embedding_shape *shape = (const heddle_embedding_shape *)call->shape;
    const float *table = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    const bool aligned = shape->cols % HEDDLE_VECTOR == 0 && heddle_aligned16(table) && heddle_aligned16(output);
    if (shape->n > 0)
        (aligned ? embedding_vectorised<true>
                 : embedding_vectorised<
                       false>)<<<heddle_ceil_div(shape->n, WARPS), WARP * WARPS, 0, heddle_cuda_stream_of(call)>>>(
            *shape, table, (const int64_t *)call->input[1], output);
    return heddle_cuda_launched("02_vectorised");
}

HEDDLE_CUDA_RUNG("embedding_forward", "02_vectorised", launch)

// embedding: its operators and its rungs.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_embedding_forward, heddle_op_embedding_backward;

heddle_status heddle_embedding_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_embedding_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_embedding_forward_cpu_rows(const heddle_call *call);
heddle_status heddle_embedding_backward_cpu_columns(const heddle_call *call);

// HEDDLE_INVALID, naming row and token, when a token is not in [0, vocabulary): tokens are data.
heddle_status heddle_embedding_check_tokens(const heddle_embedding_shape *shape, const int64_t *tokens);

// 02_sorted sorts by one byte of the tokens after another, in tiles of so many.
enum { HEDDLE_EMBEDDING_TILE = 256, HEDDLE_EMBEDDING_DIGITS = 256 };

static inline int heddle_embedding_tiles(const heddle_embedding_shape *shape)
{
    return shape->n > 0 ? (shape->n - 1) / HEDDLE_EMBEDDING_TILE + 1 : 0;
}

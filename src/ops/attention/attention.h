// attention: its operators, in float32, bf16 and fp16, and its rungs.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"

extern const heddle_op heddle_op_attention_forward, heddle_op_attention_backward;
extern const heddle_op heddle_op_attention_bf16_forward, heddle_op_attention_bf16_backward;
extern const heddle_op heddle_op_attention_fp16_forward, heddle_op_attention_fp16_backward;

enum {
    HEDDLE_ATTENTION_SIZE = 128, // the largest head
    // Shared memory of a block of rung 4, with such heads.
    HEDDLE_ATTENTION_FLASH_BYTES = 4 * (128 * 132 + 128 * 80 + 64 * 132),
    HEDDLE_ATTENTION_FLASH_BACKWARD_BYTES = 4 * (2 * 64 * 132 + 2 * 32 * 132 + 64 * 48),
};

// Queries of a tile of rung 7, whose workspace has whole tiles.
#define HEDDLE_ATTENTION_PASS_QUERIES(size) ((size) <= 64 ? 128 : 64)

void heddle_attention_forward_reference(const void *shape, const double *const *input, double *const *output);
void heddle_attention_backward_reference(const void *shape, const double *const *input, double *const *output);

heddle_status heddle_attention_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_attention_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_attention_bf16_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_attention_bf16_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_attention_fp16_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_attention_fp16_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_attention_forward_cpu_rows(const heddle_call *call);
heddle_status heddle_attention_backward_cpu_rows(const heddle_call *call);
size_t heddle_attention_forward_cpu_rows_workspace(const void *shape, int threads);
size_t heddle_attention_backward_cpu_rows_workspace(const void *shape, int threads);

// The keys that query `query` sees are 0 to the result, without it.
static inline int heddle_attention_visible(const heddle_attention_shape *shape, int query)
{
    return shape->causal && query + 1 < shape->keys ? query + 1 : shape->keys;
}

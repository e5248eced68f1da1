// A batch of products as matmul's tuned kernel takes it, without its matrices: for the CUDA rung, and for the table,
// which states the workspace.
#pragma once

#include "ops/matmul/tuned.h"

static inline heddle_product heddle_matmul_batched_product(const heddle_matmul_batched_shape *shape)
{
    heddle_product product = heddle_product_plain(shape->m, shape->n, shape->k, shape->transpose_a, shape->transpose_b);
    product.batch = shape->batch;
    product.alpha = shape->alpha;
    product.beta = shape->beta;
    return product;
}

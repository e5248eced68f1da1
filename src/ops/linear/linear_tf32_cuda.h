// What the tf32 rungs of linear share.
#pragma once

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// Rung 3, which takes any shape and alignment: the fallback for what TMA does not accept.
heddle_status heddle_linear_tf32_mma_sync(const heddle_call *call);

// The layer as a product: output (n, out) = input (n, in) * weight (out, in)ᵀ.
static inline heddle_matmul_shape linear_tf32_product(const heddle_call *call)
{
    const heddle_linear_shape *shape = (const heddle_linear_shape *)call->shape;
    heddle_matmul_shape product = {};
    product.m = shape->n, product.n = shape->out, product.k = shape->in;
    product.transpose_b = 1;
    product.alpha = 1;
    return product;
}

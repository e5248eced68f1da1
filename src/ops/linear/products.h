// linear's products as matmul's tuned kernel takes them, without their matrices: for its CUDA rung, and for its table,
// which states their workspace.
#pragma once

#include "ops/matmul/tuned.h"

// output (n, out) = input (n, in) * weight (out, in)ᵀ
static inline heddle_product heddle_linear_product(const heddle_linear_shape *shape)
{
    return heddle_product_plain(shape->n, shape->out, shape->in, 0, 1);
}

// grad_input (n, in) = grad_output (n, out) * weight (out, in)
static inline heddle_product heddle_linear_product_grad_input(const heddle_linear_shape *shape)
{
    return heddle_product_plain(shape->n, shape->in, shape->out, 0, 0);
}

// grad_weight (out, in) = grad_output (n, out)ᵀ * input (n, in)
static inline heddle_product heddle_linear_product_grad_weight(const heddle_linear_shape *shape)
{
    return heddle_product_plain(shape->out, shape->in, shape->n, 1, 0);
}

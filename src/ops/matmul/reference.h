// Products in float64 on the device, for the references of every operator made of products.
#pragma once

#include "ops/matmul/tuned.h"

// Queues the product with sums in float64; `output` is (batch, m, n) in float64, product->output is not used.
heddle_status heddle_product_reference(const heddle_product *product, double *output, cudaStream_t stream);

// Products by cuBLASLt: the same as cublas_handle.h's, with the fastest of its algorithms for the shape, found by
// trial, and with what comes after the product done before it is stored.
#pragma once

#include "ops/cuda/cublas_handle.h"

// `bias`, unless NULL, has n elements of the output's type and is added to every row. Batches are not taken.
heddle_status heddle_cublas_lt_multiply(const heddle_call *call, const heddle_cublas_product *product,
                                        const void *bias);

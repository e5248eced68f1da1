// Products by cuBLASLt: the same as cublas_handle.h's, with the fastest of its algorithms for the shape, found by
// trial, and with a fused epilogue.
#pragma once

#include "ops/cuda/cublas_handle.h"

// `bias`, unless NULL, has n elements of the output's type and is added to every row; k must then be at least
// 1. Batches are not supported.
heddle_status heddle_cublas_lt_multiply(const heddle_call *call, const heddle_cublas_product *product,
                                        const void *bias);

// What the rungs that call cuBLAS share: one handle per GPU and thread, and products of row-major matrices.
#pragma once

#include <cublas_v2.h>

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// What NVIDIA recommends for Hopper; earlier GPUs need less.
enum { HEDDLE_CUBLAS_WORKSPACE = 32 << 20 };

// The thread's handle for the call's GPU, set to the call's stream and to a workspace of that size: `workspace`, unless
// that is NULL.
heddle_status heddle_cublas_handle(const heddle_call *call, cublasHandle_t *handle, void **workspace);

// output (m, n) = alpha * op(a) (m, k) * op(b) (k, n) + beta * output, all row-major; a transposed operand is stored
// (k, m) or (n, k). Batches are `stride` elements apart.
typedef struct heddle_cublas_product {
    int m, n, k;
    bool transpose_a, transpose_b;
    float alpha, beta; // beta 0: the output is not read
    const void *a, *b;
    void *output;
    cudaDataType_t type, output_type; // of a and b, and of the output
    cublasComputeType_t compute;
    int batches; // 0: one product, no strides
    long long stride_a, stride_b, stride_output;
    const float *scale_a, *scale_b; // on the device, for fp8 by cuBLASLt: multiplied into alpha; NULL: none
} heddle_cublas_product;
heddle_status heddle_cublas_multiply(const heddle_call *call, const heddle_cublas_product *product);

// The product of a matmul, from the call's first two inputs to its first output.
heddle_cublas_product heddle_cublas_matmul(const heddle_call *call, const heddle_matmul_shape *shape,
                                           cudaDataType_t type, cublasComputeType_t compute);
// What is left of a product with k 0: beta * output. Outputs are float32 or bf16.
heddle_status heddle_cublas_scale_output(const heddle_call *call, const heddle_cublas_product *product);

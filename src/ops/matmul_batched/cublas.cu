// matmul_batched by cuBLAS, through its two interfaces: `cublas` gets the stride between matrices, `cublas_pointers` a
// table with the address of each, as for matrices anywhere in memory. A kernel writes the table, so that a call needs
// nothing from the host.
//
// Limited by: the float32 units; for small matrices, memory bandwidth.

#include "ops/cuda/cublas_handle.h"

enum { BLOCK = 256 }; // threads: one thread per product

static heddle_cublas_product product_of(const heddle_call *call)
{
    const heddle_matmul_batched_shape *shape = (const heddle_matmul_batched_shape *)call->shape;
    const heddle_matmul_shape one = {shape->m,           shape->n,     shape->k,   shape->transpose_a,
                                     shape->transpose_b, shape->alpha, shape->beta};
    heddle_cublas_product product = heddle_cublas_matmul(call, &one, CUDA_R_32F, CUBLAS_COMPUTE_32F);
    product.batches = shape->batch;
    product.stride_a = (long long)shape->m * shape->k;
    product.stride_b = (long long)shape->k * shape->n;
    product.stride_output = (long long)shape->m * shape->n;
    return product;
}

static heddle_status launch_strided(const heddle_call *call)
{
    const heddle_cublas_product product = product_of(call);
    return product.batches == 0 ? HEDDLE_OK : heddle_cublas_multiply(call, &product);
}

// tables: (3, batch) addresses: of each b, each a, each output
__global__ static void write_tables(heddle_matmul_batched_shape shape, const float *a, const float *b, float *output,
                                    const float **tables)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, batch = (size_t)shape.batch;
    if (at >= batch)
        return;
    tables[at] = b + at * shape.k * shape.n;
    tables[batch + at] = a + at * shape.m * shape.k;
    tables[2 * batch + at] = output + at * shape.m * shape.n;
}

static heddle_status launch_pointers(const heddle_call *call)
{
    const heddle_matmul_batched_shape *shape = (const heddle_matmul_batched_shape *)call->shape;
    cublasHandle_t handle;
    if (shape->k == 0 || shape->m == 0 || shape->n == 0 || shape->batch == 0)
        return launch_strided(call);
    void **tables = (void **)call->workspace;
    write_tables<<<heddle_ceil_div(shape->batch, BLOCK), BLOCK, 0, heddle_cuda_stream_of(call)>>>(
        *shape, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0],
        (const float **)tables);
    HEDDLE_CUDA_TRY(cudaGetLastError());
    HEDDLE_TRY(heddle_cublas_handle(call, &handle, NULL));
    // Column-major: the operands are swapped, as in heddle_cublas_multiply.
    return HEDDLE_CUDA_CHECK(cublasGemmBatchedEx(
        handle, shape->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, shape->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
        shape->n, shape->m, shape->k, &shape->alpha, tables, CUDA_R_32F, shape->transpose_b ? shape->k : shape->n,
        tables + shape->batch, CUDA_R_32F, shape->transpose_a ? shape->m : shape->k, &shape->beta,
        tables + 2 * (size_t)shape->batch, CUDA_R_32F, shape->n, shape->batch, CUBLAS_COMPUTE_32F,
        CUBLAS_GEMM_DEFAULT));
}

HEDDLE_CUDA_RUNG("matmul_batched_forward", "cublas", launch_strided)
HEDDLE_CUDA_RUNG("matmul_batched_forward", "cublas_pointers", launch_pointers)

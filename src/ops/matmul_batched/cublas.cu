// matmul_batched by cuBLAS, in its two interfaces: `cublas` is told how far apart the matrices lie, `cublas_pointers`
// is given a table with the address of each, as for matrices that lie anywhere. The table is written by a kernel, so
// that a call needs nothing of the host.
//
// Limited by: the float32 units; where the matrices are small, memory.

#include "ops/cuda/cublas_handle.h"

#include "heddle/ops.h"

enum { BLOCK = 256 }; // threads: one thread per product

// What is left of products of no columns: beta * output.
static heddle_status scale_output(const heddle_call *call, const heddle_matmul_batched_shape *shape)
{
    cublasHandle_t handle;
    int64_t elements = (int64_t)shape->batch * shape->m * shape->n;
    float *output = (float *)call->output[0];
    if (shape->beta == 0.0f)
        return HEDDLE_CUDA_CHECK(
            cudaMemsetAsync(output, 0, (size_t)elements * sizeof(float), heddle_cuda_stream_of(call)));
    HEDDLE_TRY(heddle_cublas_handle(call, &handle, NULL));
    return HEDDLE_CUDA_CHECK(cublasSscal_64(handle, elements, &shape->beta, output, 1));
}

static bool is_empty(const heddle_matmul_batched_shape *shape)
{
    return shape->batch == 0 || shape->m == 0 || shape->n == 0;
}

static heddle_status launch_strided(const heddle_call *call)
{
    const heddle_matmul_batched_shape *shape = (const heddle_matmul_batched_shape *)call->shape;
    if (is_empty(shape))
        return HEDDLE_OK;
    if (shape->k == 0)
        return scale_output(call, shape);
    heddle_cublas_product product = {};
    product.m = shape->m;
    product.n = shape->n;
    product.k = shape->k;
    product.transpose_a = shape->transpose_a;
    product.transpose_b = shape->transpose_b;
    product.alpha = shape->alpha;
    product.beta = shape->beta;
    product.a = call->input[0];
    product.b = call->input[1];
    product.output = call->output[0];
    product.type = product.output_type = CUDA_R_32F;
    product.compute = CUBLAS_COMPUTE_32F;
    product.batches = shape->batch;
    product.stride_a = (long long)shape->m * shape->k;
    product.stride_b = (long long)shape->k * shape->n;
    product.stride_output = (long long)shape->m * shape->n;
    return heddle_cublas_multiply(call, &product);
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
    if (is_empty(shape))
        return HEDDLE_OK;
    if (shape->k == 0)
        return scale_output(call, shape);
    void **tables = (void **)call->workspace;
    write_tables<<<heddle_ceil_div(shape->batch, BLOCK), BLOCK, 0, heddle_cuda_stream_of(call)>>>(
        *shape, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0],
        (const float **)tables);
    HEDDLE_CUDA_TRY(cudaGetLastError());
    HEDDLE_TRY(heddle_cublas_handle(call, &handle, NULL));
    // Column after column: the operands swapped, as in heddle_cublas_multiply.
    return HEDDLE_CUDA_CHECK(cublasGemmBatchedEx(
        handle, shape->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, shape->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
        shape->n, shape->m, shape->k, &shape->alpha, tables, CUDA_R_32F, shape->transpose_b ? shape->k : shape->n,
        tables + shape->batch, CUDA_R_32F, shape->transpose_a ? shape->m : shape->k, &shape->beta,
        tables + 2 * (size_t)shape->batch, CUDA_R_32F, shape->n, shape->batch, CUBLAS_COMPUTE_32F,
        CUBLAS_GEMM_DEFAULT));
}

HEDDLE_CUDA_RUNG("matmul_batched_forward", "cublas", launch_strided)
HEDDLE_CUDA_RUNG("matmul_batched_forward", "cublas_pointers", launch_pointers)

// Handles of cuBLAS, and a product of row-major matrices by it.

#include "ops/cuda/cublas_handle.h"

#include "ops/cuda/handles.h"
#include "ops/cuda/scratch.h"

static heddle_status make(void **handle)
{
    cublasHandle_t made;
    HEDDLE_CUDA_TRY(cublasCreate(&made));
    // Partial sums stay float32 until they are added, even if the output has fewer bits.
    const int math = CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    heddle_status status = HEDDLE_CUDA_CHECK(cublasSetMathMode(made, (cublasMath_t)math));
    if (status != HEDDLE_OK)
        cublasDestroy(made);
    *handle = made;
    return status;
}

heddle_status heddle_cublas_handle(const heddle_call *call, cublasHandle_t *handle, void **workspace)
{
    void *memory = NULL, *found = NULL;
    HEDDLE_TRY(heddle_cuda_handle(call, make, &found));
    HEDDLE_TRY(heddle_cuda_scratch(call, HEDDLE_CUBLAS_WORKSPACE, &memory));
    *handle = (cublasHandle_t)found;
    // Setting the stream resets the workspace, so both are set, in this order. With its own workspace cuBLAS allocates
    // nothing, and its calls can be captured.
    HEDDLE_CUDA_TRY(cublasSetStream(*handle, heddle_cuda_stream_of(call)));
    HEDDLE_CUDA_TRY(cublasSetWorkspace(*handle, memory, HEDDLE_CUBLAS_WORKSPACE));
    if (workspace)
        *workspace = memory;
    return HEDDLE_OK;
}

heddle_cublas_product heddle_cublas_matmul(const heddle_call *call, const heddle_matmul_shape *shape,
                                           cudaDataType_t type, cublasComputeType_t compute)
{
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
    product.type = product.output_type = type;
    product.compute = compute;
    return product;
}

heddle_status heddle_cublas_scale_output(const heddle_call *call, const heddle_cublas_product *product)
{
    cublasHandle_t handle;
    const bool narrow = product->output_type == CUDA_R_16BF;
    const int64_t elements = (int64_t)product->m * product->n * (product->batches ? product->batches : 1);
    if (product->beta == 0.0f)
        return HEDDLE_CUDA_CHECK(cudaMemsetAsync(
            product->output, 0, elements * (narrow ? sizeof(uint16_t) : sizeof(float)), heddle_cuda_stream_of(call)));
    HEDDLE_TRY(heddle_cublas_handle(call, &handle, NULL));
    if (!narrow)
        return HEDDLE_CUDA_CHECK(cublasSscal_64(handle, elements, &product->beta, (float *)product->output, 1));
    return HEDDLE_CUDA_CHECK(
        cublasScalEx_64(handle, elements, &product->beta, CUDA_R_32F, product->output, CUDA_R_16BF, 1, CUDA_R_32F));
}

// cuBLAS stores matrices column-major, so heddle's are transposed: outputᵀ = op(b)ᵀ * op(a)ᵀ, the operands swapped and
// nothing moved.
heddle_status heddle_cublas_multiply(const heddle_call *call, const heddle_cublas_product *product)
{
    cublasHandle_t handle;
    if (product->m == 0 || product->n == 0)
        return HEDDLE_OK;
    if (product->k == 0)
        return heddle_cublas_scale_output(call, product);
    HEDDLE_TRY(heddle_cublas_handle(call, &handle, NULL));
    cublasOperation_t first = product->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t second = product->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    int leading_a = product->transpose_a ? product->m : product->k;
    int leading_b = product->transpose_b ? product->k : product->n;
    const float *alpha = &product->alpha, *beta = &product->beta;
    if (product->batches == 0)
        return HEDDLE_CUDA_CHECK(cublasGemmEx(handle, first, second, product->n, product->m, product->k, alpha,
                                              product->b, product->type, leading_b, product->a, product->type,
                                              leading_a, beta, product->output, product->output_type, product->n,
                                              product->compute, CUBLAS_GEMM_DEFAULT));
    return HEDDLE_CUDA_CHECK(
        cublasGemmStridedBatchedEx(handle, first, second, product->n, product->m, product->k, alpha, product->b,
                                   product->type, leading_b, product->stride_b, product->a, product->type, leading_a,
                                   product->stride_a, beta, product->output, product->output_type, product->n,
                                   product->stride_output, product->batches, product->compute, CUBLAS_GEMM_DEFAULT));
}

// Handles of cuBLAS, and a product of row-major matrices by it.

#include "ops/cuda/cublas_handle.h"

#include <pthread.h>
#include <stdlib.h>

#include "ops/cuda/scratch.h"

typedef struct kept_handle {
    int device;
    cudaStream_t stream;
    cublasHandle_t handle;
    struct kept_handle *next;
} kept_handle;

static kept_handle *kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static heddle_status make(int device, cudaStream_t stream, kept_handle **made)
{
    kept_handle *one = (kept_handle *)calloc(1, sizeof *one);
    if (!one)
        return heddle_cuda_failed(HEDDLE_OUT_OF_MEMORY, "no memory", "calloc", HEDDLE_CUDA_HERE("cublasCreate"));
    // Making a handle allocates, which a capture of this thread would not allow.
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaThreadExchangeStreamCaptureMode(&mode);
    heddle_status status = HEDDLE_CUDA_CHECK(cublasCreate(&one->handle));
    cudaThreadExchangeStreamCaptureMode(&mode);
    // Parts of a sum stay float32 until they are one, also where the output has fewer bits.
    const int math = CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    if (status == HEDDLE_OK)
        status = HEDDLE_CUDA_CHECK(cublasSetMathMode(one->handle, (cublasMath_t)math));
    if (status != HEDDLE_OK) {
        free(one);
        return status;
    }
    one->device = device;
    one->stream = stream;
    one->next = kept;
    kept = *made = one;
    return HEDDLE_OK;
}

heddle_status heddle_cublas_handle(const heddle_call *call, cublasHandle_t *handle, void **workspace)
{
    int device = heddle_cuda_device_of(call);
    cudaStream_t stream = heddle_cuda_stream_of(call);
    heddle_status status = HEDDLE_OK;
    pthread_mutex_lock(&lock);
    kept_handle *found = kept;
    while (found && (found->device != device || found->stream != stream))
        found = found->next;
    if (!found)
        status = make(device, stream, &found);
    pthread_mutex_unlock(&lock);
    HEDDLE_TRY(status);
    void *memory = NULL;
    HEDDLE_TRY(heddle_cuda_scratch(call, HEDDLE_CUBLAS_WORKSPACE, &memory));
    // Setting the stream takes the workspace away, so both are set, in this order. With a workspace of ours cuBLAS
    // allocates nothing, and its calls can be captured.
    HEDDLE_CUDA_TRY(cublasSetStream(found->handle, stream));
    HEDDLE_CUDA_TRY(cublasSetWorkspace(found->handle, memory, HEDDLE_CUBLAS_WORKSPACE));
    *handle = found->handle;
    if (workspace)
        *workspace = memory;
    return HEDDLE_OK;
}

static int at_least_one(int leading)
{
    return leading > 0 ? leading : 1;
}

// cuBLAS stores matrices column after column, where ours are the transposed ones: outputᵀ = op(b)ᵀ * op(a)ᵀ, the
// operands swapped and nothing moved.
heddle_status heddle_cublas_multiply(const heddle_call *call, const heddle_cublas_product *product)
{
    cublasHandle_t handle;
    if (product->m == 0 || product->n == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_cublas_handle(call, &handle, NULL));
    cublasOperation_t first = product->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t second = product->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    int leading_a = at_least_one(product->transpose_a ? product->m : product->k);
    int leading_b = at_least_one(product->transpose_b ? product->k : product->n);
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

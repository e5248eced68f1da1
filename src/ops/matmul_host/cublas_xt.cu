// matmul_host by cuBLASXt: it cuts matrices in host memory into square blocks and sends them to the GPU by itself.
//
// cuBLASXt takes no stream and returns when the output is complete, so the call's stream is waited for first. It
// allocates as much device memory as its blocks need and ignores the shape's limit.

#include <cublasXt.h>

#include "heddle/ops.h"
#include "ops/cuda/cublas_handle.h"
#include "ops/cuda/handles.h"

// Side of a block. cuBLASXt's default, 2048, does 512 multiplications per byte that comes in; an H200 needs about a
// thousand, so the link would be the limit.
enum { BLOCK_SIDE = 8192 };

static heddle_status make(void **handle)
{
    cublasXtHandle_t made;
    int device = 0;
    HEDDLE_CUDA_TRY(cudaGetDevice(&device));
    HEDDLE_CUDA_TRY(cublasXtCreate(&made));
    heddle_status status = HEDDLE_CUDA_CHECK(cublasXtDeviceSelect(made, 1, &device));
    if (status == HEDDLE_OK)
        status = HEDDLE_CUDA_CHECK(cublasXtSetBlockDim(made, BLOCK_SIDE));
    if (status != HEDDLE_OK)
        cublasXtDestroy(made);
    *handle = made;
    return status;
}

// Column-major, as cuBLAS stores: outputᵀ = bᵀ * aᵀ, and nothing is moved.
static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_host_shape *shape = (const heddle_matmul_host_shape *)call->shape;
    const float one = 1, zero = 0;
    void *handle;
    if (shape->m == 0 || shape->n == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_cuda_handle(call, make, &handle));
    HEDDLE_CUDA_TRY(cudaStreamSynchronize(heddle_cuda_stream_of(call)));
    const size_t m = shape->m, n = shape->n, k = shape->k;
    return HEDDLE_CUDA_CHECK(cublasXtSgemm((cublasXtHandle_t)handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one,
                                           (const float *)call->input[1], n, (const float *)call->input[0], k, &zero,
                                           (float *)call->output[0], n));
}

HEDDLE_CUDA_RUNG("matmul_host", "cublas_xt", launch)

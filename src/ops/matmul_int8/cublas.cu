// matmul_int8 by cuBLAS: its product of bytes on tensor cores, summed in int32, and a kernel that scales the result.
// cuBLAS needs rows of whole words at aligned addresses; other operands are copied first, their rows ending in zeros.
//
// Limited by: the sums, which are written as int32, read again and written as float32: 12 bytes per element of the
// output, where heddle's rungs write 4.

#include "ops/cuda/cublas_handle.h"

#include <stdint.h>

#include "heddle/ops.h"
#include "ops/matmul/pack_cuda.h"

enum {
    BLOCK = 256, // threads: one thread per element
    WORD = 4,    // bytes
};

// output (m, n) = scale_a (m) * scale_b (n) * sums (m, n)
__global__ static void scale(const int32_t *sums, const float *scale_a, const float *scale_b, float *output, int n,
                             size_t elements)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < elements)
        output[at] = scale_a[at / n] * scale_b[at % n] * (float)sums[at];
}

// sums (m, n) = a (m, k) * b (n, k)ᵀ; column-major it is sumsᵀ = op(b) * aᵀ, the operands swapped.
static heddle_status multiply(const heddle_call *call, const heddle_matmul_int8_shape *shape, const heddle_packed *a,
                              const heddle_packed *b, int32_t *sums)
{
    cublasHandle_t handle;
    const int32_t one = 1, zero = 0;
    const int k = (shape->k + WORD - 1) / WORD * WORD;
    HEDDLE_TRY(heddle_cublas_handle(call, &handle, NULL));
    return HEDDLE_CUDA_CHECK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, shape->n, shape->m, k, &one, b->from,
                                          CUDA_R_8I, (int)b->pitch, a->from, CUDA_R_8I, (int)a->pitch, &zero, sums,
                                          CUDA_R_32I, shape->n, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT));
}

// Operand (rows, k) as cuBLAS takes it.
static heddle_status align(const heddle_call *call, const void *operand, int rows, int k, char **room,
                           heddle_packed *aligned)
{
    aligned->from = operand;
    aligned->pitch = k;
    return (uintptr_t)operand % HEDDLE_PACK_ALIGNMENT == 0 && k % WORD == 0
               ? HEDDLE_OK
               : heddle_pack<1>(call, operand, rows, k, room, aligned);
}

// workspace: room for a copy of a and of b, then the sums (m, n)
static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_int8_shape *shape = (const heddle_matmul_int8_shape *)call->shape;
    size_t elements = (size_t)shape->m * shape->n;
    if (elements == 0)
        return HEDDLE_OK;
    char *room = (char *)call->workspace;
    heddle_packed a, b;
    HEDDLE_TRY(align(call, call->input[0], shape->m, shape->k, &room, &a));
    HEDDLE_TRY(align(call, call->input[1], shape->n, shape->k, &room, &b));
    int32_t *sums = (int32_t *)room;
    HEDDLE_TRY(multiply(call, shape, &a, &b, sums));
    scale<<<heddle_ceil_div((long long)elements, BLOCK), BLOCK, 0, heddle_cuda_stream_of(call)>>>(
        sums, (const float *)call->input[2], (const float *)call->input[3], (float *)call->output[0], shape->n,
        elements);
    return HEDDLE_CUDA_CHECK(cudaGetLastError());
}

HEDDLE_CUDA_RUNG("matmul_int8", "cublas", launch)

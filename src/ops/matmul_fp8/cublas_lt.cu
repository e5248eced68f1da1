// matmul_fp8 by cuBLASLt, the fastest of the algorithms that it lists, found by trial at the first call for a shape. It
// multiplies by both scales itself. Its algorithms for fp8 need aligned rows, output and scales: others are copied,
// rows with zeros at their ends.
//
// Its fast accumulation is off: then it adds up the tensor cores' short sums in float32 at intervals, as rung 4 does.
//
// Limited by: the tensor cores and their power.

#include "ops/cuda/cublas_lt_product.h"

#include <stdint.h>

#include "ops/matmul/pack_cuda.h"

static heddle_cublas_product product_of(const heddle_call *call, const heddle_matmul_fp8_shape *shape)
{
    const heddle_matmul_shape product_shape = {
        .m = shape->m, .n = shape->n, .k = shape->k, .transpose_a = 0, .transpose_b = 1, .alpha = 1, .beta = 0};
    heddle_cublas_product product = heddle_cublas_matmul(call, &product_shape, CUDA_R_8F_E4M3, CUBLAS_COMPUTE_32F);
    product.output_type = CUDA_R_16BF;
    return product;
}

// A scale, or its copy at *room, which then moves on.
static heddle_status align_scale(const heddle_call *call, const void *scale, char **room, const float **aligned)
{
    *aligned = (const float *)scale;
    if ((uintptr_t)scale % HEDDLE_PACK_ALIGNMENT == 0)
        return HEDDLE_OK;
    *aligned = (const float *)*room;
    *room += HEDDLE_PACK_ALIGNMENT;
    return HEDDLE_CUDA_CHECK(cudaMemcpyAsync(*room - HEDDLE_PACK_ALIGNMENT, scale, sizeof(float),
                                             cudaMemcpyDeviceToDevice, heddle_cuda_stream_of(call)));
}

// workspace: room for a copy of a, of b, of both scales, and for the output (m, n)
static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_fp8_shape *shape = (const heddle_matmul_fp8_shape *)call->shape;
    heddle_cublas_product product = product_of(call, shape);
    char *room = (char *)call->workspace;
    heddle_packed a, b;
    HEDDLE_TRY(heddle_pack<1>(call, call->input[0], shape->m, shape->k, &room, &a));
    HEDDLE_TRY(heddle_pack<1>(call, call->input[1], shape->n, shape->k, &room, &b));
    HEDDLE_TRY(align_scale(call, call->input[2], &room, &product.scale_a));
    HEDDLE_TRY(align_scale(call, call->input[3], &room, &product.scale_b));
    product.a = a.from;
    product.b = b.from;
    product.k = (int)a.pitch;
    if ((uintptr_t)call->output[0] % HEDDLE_PACK_ALIGNMENT == 0)
        return heddle_cublas_lt_multiply(call, &product, NULL);
    product.output = room;
    HEDDLE_TRY(heddle_cublas_lt_multiply(call, &product, NULL));
    return HEDDLE_CUDA_CHECK(cudaMemcpyAsync(call->output[0], room, (size_t)shape->m * shape->n * sizeof(uint16_t),
                                             cudaMemcpyDeviceToDevice, heddle_cuda_stream_of(call)));
}

HEDDLE_CUDA_RUNG("matmul_fp8", "cublas_lt", launch)

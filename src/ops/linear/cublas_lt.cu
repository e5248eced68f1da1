// linear by cuBLASLt: the bias is added before the product is stored, so that the output is written once and never read
// back. `cublas_lt` multiplies in float32, `cublas_lt_tf32` on tensor cores with 10 bits of mantissa.
//
// Limited by: the float32 units or the tensor cores; for a few samples, reading the weight.

#include "ops/cuda/cublas_lt_product.h"

#include "heddle/ops.h"

enum { BLOCK = 256 }; // threads: one thread per element of the output

// output (n, out) = bias, for layers without inputs.
__global__ static void repeat_bias(const float *bias, float *output, int out, size_t elements)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < elements)
        output[at] = bias ? bias[at % out] : 0;
}

// output (n, out) = input (n, in) * weight (out, in)ᵀ + bias (out)
static heddle_status forward(const heddle_call *call, cublasComputeType_t compute)
{
    const heddle_linear_shape *shape = (const heddle_linear_shape *)call->shape;
    size_t elements = (size_t)shape->n * shape->out;
    if (elements == 0)
        return HEDDLE_OK;
    if (shape->in == 0) {
        repeat_bias<<<heddle_ceil_div((long long)elements, BLOCK), BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            (const float *)call->input[2], (float *)call->output[0], shape->out, elements);
        return HEDDLE_CUDA_CHECK(cudaGetLastError());
    }
    heddle_cublas_product product = {};
    product.m = shape->n;
    product.n = shape->out;
    product.k = shape->in;
    product.transpose_b = true;
    product.alpha = 1;
    product.a = call->input[0];
    product.b = call->input[1];
    product.output = call->output[0];
    product.type = product.output_type = CUDA_R_32F;
    product.compute = compute;
    return heddle_cublas_lt_multiply(call, &product, call->input[2]);
}

static heddle_status launch_forward(const heddle_call *call)
{
    return forward(call, CUBLAS_COMPUTE_32F);
}

static heddle_status launch_forward_tf32(const heddle_call *call)
{
    return forward(call, CUBLAS_COMPUTE_32F_FAST_TF32);
}

HEDDLE_CUDA_RUNG("linear_forward", "cublas_lt", launch_forward)
HEDDLE_CUDA_RUNG("linear_forward", "cublas_lt_tf32", launch_forward_tf32)

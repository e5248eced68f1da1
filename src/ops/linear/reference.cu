// linear's float64 references as kernels, for benchmark shapes that would take minutes on a CPU. The products are
// matmul's; one thread sums each column of grad_output.

#include "ops/linear/products.h"
#include "ops/matmul/reference.h"

__global__ void linear_grad_bias_reference(heddle_linear_shape shape, const float *grad_output, double *grad_bias)
{
    size_t column = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= (size_t)shape.out)
        return;
    double sum = 0;
    for (int row = 0; row < shape.n; row++)
        sum += grad_output[(size_t)row * shape.out + column];
    grad_bias[column] = sum;
}

static heddle_status launch_forward(const heddle_call *call)
{
    heddle_product product = heddle_linear_product((const heddle_linear_shape *)call->shape);
    product.a = (const float *)call->input[0];
    product.b = (const float *)call->input[1];
    product.bias = (const float *)call->input[2];
    return heddle_product_reference(&product, (double *)call->output[0], heddle_cuda_stream_of(call));
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_linear_shape *shape = (const heddle_linear_shape *)call->shape;
    const float *input = (const float *)call->input[0], *weight = (const float *)call->input[1];
    const float *grad_output = (const float *)call->input[2];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    heddle_product grad_input = heddle_linear_product_grad_input(shape);
    heddle_product grad_weight = heddle_linear_product_grad_weight(shape);
    grad_input.a = grad_weight.a = grad_output;
    grad_input.b = weight;
    grad_weight.b = input;
    heddle_status status = HEDDLE_OK;
    if (call->output[0])
        status = heddle_product_reference(&grad_input, (double *)call->output[0], stream);
    if (call->output[1] && status == HEDDLE_OK)
        status = heddle_product_reference(&grad_weight, (double *)call->output[1], stream);
    unsigned blocks = heddle_cuda_blocks(shape->out);
    if (call->output[2] && blocks > 0 && status == HEDDLE_OK) {
        linear_grad_bias_reference<<<blocks, HEDDLE_CUDA_BLOCK, 0, stream>>>(*shape, grad_output,
                                                                             (double *)call->output[2]);
        status = heddle_cuda_launched("reference");
    }
    return status;
}

HEDDLE_CUDA_REFERENCE("linear_forward", launch_forward)
HEDDLE_CUDA_REFERENCE("linear_backward", launch_backward)

// linear, rung 2: matmul's tuned kernel.
//
// Rung 1 loaded two floats from global memory per multiplication. All three products here use matmul's tuned kernel,
// which needs 6 loads from shared memory for 128 multiplications, splits the summed dimension if the result has too few
// tiles, and adds the bias in the epilogue. The gradient of the bias, the sums of grad_output's columns, is a kernel of
// its own.
//
// Limited by: the products. At the CNN's sizes they take a few microseconds each, mostly for starting kernels and
// loading the first tiles from memory.

#include "ops/linear/products.h"
#include "ops/matmul/tuned.h"

enum {
    COLUMNS = 32, // columns per block: a warp handles a row of them, so that its loads are coalesced
    ROWS = 32,    // rows read at the same time
};

// grad_bias (out) = sums over grad_output's (n, out) columns. Thread y of a column adds every 32nd row, then the 32
// sums are added pairwise: the same order every time.
__global__ void __launch_bounds__(COLUMNS *ROWS)
    linear_grad_bias_tuned(heddle_linear_shape shape, const float *grad_output, float *grad_bias)
{
    __shared__ float sums[ROWS][COLUMNS];
    int x = threadIdx.x % COLUMNS, y = threadIdx.x / COLUMNS, column = blockIdx.x * COLUMNS + x;
    float sum = 0;
#pragma unroll 4
    for (int row = y; row < shape.n && column < shape.out; row += ROWS)
        sum += grad_output[(size_t)row * shape.out + column];
    sums[y][x] = sum;
    for (int half = ROWS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (y < half)
            sums[y][x] += sums[y + half][x];
    }
    if (y == 0 && column < shape.out)
        grad_bias[column] = sums[0][x];
}

static heddle_status launch_forward(const heddle_call *call)
{
    heddle_product product = heddle_linear_product((const heddle_linear_shape *)call->shape);
    product.a = (const float *)call->input[0];
    product.b = (const float *)call->input[1];
    product.bias = (const float *)call->input[2];
    product.output = (float *)call->output[0];
    return heddle_product_launch(&product, call->workspace, heddle_cuda_stream_of(call), "02_tuned");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_linear_shape *shape = (const heddle_linear_shape *)call->shape;
    const float *grad_output = (const float *)call->input[2];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    heddle_product grad_input = heddle_linear_product_grad_input(shape);
    grad_input.a = grad_output;
    grad_input.b = (const float *)call->input[1];
    grad_input.output = (float *)call->output[0];
    heddle_product grad_weight = heddle_linear_product_grad_weight(shape);
    grad_weight.a = grad_output;
    grad_weight.b = (const float *)call->input[0];
    grad_weight.output = (float *)call->output[1];
    float *grad_bias = (float *)call->output[2];
    heddle_status status = HEDDLE_OK;
    if (grad_input.output)
        status = heddle_product_launch(&grad_input, call->workspace, stream, "02_tuned");
    if (grad_weight.output && status == HEDDLE_OK)
        status = heddle_product_launch(&grad_weight, call->workspace, stream, "02_tuned");
    if (grad_bias && shape->out > 0 && status == HEDDLE_OK) {
        linear_grad_bias_tuned<<<heddle_ceil_div(shape->out, COLUMNS), COLUMNS * ROWS, 0, stream>>>(*shape, grad_output,
                                                                                                    grad_bias);
        status = heddle_cuda_launched("02_tuned");
    }
    return status;
}

HEDDLE_CUDA_RUNG("linear_forward", "02_tuned", launch_forward)
HEDDLE_CUDA_RUNG("linear_backward", "02_tuned", launch_backward)

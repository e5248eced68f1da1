// quantise and dequantise, rung 1: one thread per row, and one thread per element.
//
// Limited by: requests, in quantise: the lanes of a warp read different rows, far apart, one sector for each 4 bytes.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/quantise/quantise.h"

// input, output: (rows, cols), scale: (rows)
__global__ void quantise_naive(heddle_rows_shape shape, const float *input, signed char *output, float *scale)
{
    int row = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (row >= shape.rows)
        return;
    const float *from = input + (size_t)row * shape.cols;
    float largest = 0;
    for (int col = 0; col < shape.cols; col++)
        largest = fmaxf(largest, fabsf(from[col]));
    float divisor = heddle_quantise_scale(largest);
    scale[row] = divisor;
    for (int col = 0; col < shape.cols; col++)
        output[(size_t)row * shape.cols + col] = (signed char)rintf(from[col] / divisor);
}

__global__ void dequantise_naive(heddle_rows_shape shape, const signed char *input, const float *scale, float *output)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)shape.rows * shape.cols)
        output[i] = scale[i / shape.cols] * (float)input[i];
}

static heddle_status launch_quantise(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks(shape->rows);
    if (blocks > 0)
        quantise_naive<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (signed char *)call->output[0], (float *)call->output[1]);
    return heddle_cuda_launched("01_naive");
}

static heddle_status launch_dequantise(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks((size_t)shape->rows * shape->cols);
    if (blocks > 0)
        dequantise_naive<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const signed char *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("quantise", "01_naive", launch_quantise)
HEDDLE_CUDA_RUNG("dequantise", "01_naive", launch_dequantise)

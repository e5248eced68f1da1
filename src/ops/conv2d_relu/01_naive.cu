// conv2d_bias_relu, rung 1: one thread per element of the output. It computes the sum, adds the bias, and stores the
// result, or 0 if it is negative.
//
// Limited by: two loads and a bounds check per multiplication, like conv2d's rung 1.

#include "ops/conv2d/epilogue.h"
#include "ops/conv2d/view.h"
#include "ops/cuda/rung.h"

// source: (images, channels, height, width), weight: (filters, channels, rows, columns), output: (images, filters,
// out_height, out_width)
__global__ void conv2d_bias_relu_naive(conv2d_view view, const float *source, const float *weight, const float *bias,
                                       float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, plane = (size_t)view.out_height * view.out_width;
    if (at >= (size_t)view.images * view.filters * plane)
        return;
    int x = (int)(at % view.out_width), y = (int)(at % plane / view.out_width);
    size_t filter = at / plane % view.filters, n = at / plane / view.filters;
    float sum = bias ? bias[filter] : 0.0f;
    for (int c = 0; c < view.channels; c++)
        for (int r = 0; r < view.rows; r++)
            for (int s = 0; s < view.columns; s++) {
                int h = conv2d_place(view, y, r, view.height), w = conv2d_place(view, x, s, view.width);
                if (h >= 0 && w >= 0)
                    sum += source[((n * view.channels + c) * view.height + h) * view.width + w] *
                           weight[filter * view.filter_stride + (size_t)c * view.channel_stride + r * view.columns + s];
            }
    output[at] = conv2d_epilogue<true>(sum);
}

static heddle_status launch(const heddle_call *call)
{
    conv2d_view view = conv2d_view_forward((const heddle_conv2d_shape *)call->shape);
    size_t outputs = (size_t)conv2d_pixels(&view) * view.filters;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (outputs > 0)
        conv2d_bias_relu_naive<<<heddle_cuda_blocks(outputs), HEDDLE_CUDA_BLOCK, 0, stream>>>(
            view, (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
            (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("conv2d_bias_relu", "01_naive", launch)

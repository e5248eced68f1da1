// conv2d's float64 reference as kernels, for shapes that would take minutes on the CPU. Straight from the definition,
// one sum per thread or per block, in a fixed order.

#include "ops/conv2d/view.h"
#include "ops/cuda/rung.h"

// source: (images, channels, height, width), output: (images, filters, out_height, out_width)
__global__ void conv2d_reference(conv2d_view view, const float *source, const float *weight, const float *bias,
                                 double *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, plane = (size_t)view.out_height * view.out_width;
    if (at >= (size_t)view.images * view.filters * plane)
        return;
    int x = (int)(at % view.out_width), y = (int)(at % plane / view.out_width);
    size_t filter = at / plane % view.filters, n = at / plane / view.filters;
    double sum = bias ? bias[filter] : 0;
    for (int r = 0; r < view.rows; r++)
        for (int s = 0; s < view.columns; s++) {
            int h = conv2d_place(view, y, r, view.height), w = conv2d_place(view, x, s, view.width);
            if (h < 0 || w < 0)
                continue;
            for (size_t c = 0; c < (size_t)view.channels; c++)
                sum += (double)source[((n * view.channels + c) * view.height + h) * view.width + w] *
                       weight[filter * view.filter_stride + c * view.channel_stride + r * view.columns + s];
        }
    output[at] = sum;
}

// Called by every thread of the block; thread 0 gets the sum.
__device__ static double sum_of_block(double value)
{
    __shared__ double partial[HEDDLE_CUDA_BLOCK];
    partial[threadIdx.x] = value;
    for (int half = HEDDLE_CUDA_BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < (unsigned)half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
    }
    return threadIdx.x == 0 ? partial[0] : 0;
}

// One block per weight. input: (n, c, h, w), grad_output: (n, k, out_h, out_w), grad_weight: (k, c, r, s)
__global__ void conv2d_reference_weight(conv2d_view view, const float *input, const float *grad_output,
                                        double *grad_weight)
{
    size_t at = blockIdx.x, plane = (size_t)view.out_height * view.out_width;
    int s = (int)(at % view.columns), r = (int)(at / view.columns % view.rows);
    size_t pair = at / (view.rows * view.columns), c = pair % view.channels, k = pair / view.channels;
    double sum = 0;
    for (size_t i = threadIdx.x; i < view.images * plane; i += HEDDLE_CUDA_BLOCK) {
        size_t n = i / plane, within = i % plane;
        int h = conv2d_place(view, (int)(within / view.out_width), r, view.height);
        int w = conv2d_place(view, (int)(within % view.out_width), s, view.width);
        if (h >= 0 && w >= 0)
            sum += (double)input[((n * view.channels + c) * view.height + h) * view.width + w] *
                   grad_output[(n * view.filters + k) * plane + within];
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0)
        grad_weight[at] = sum;
}

// One block per filter.
__global__ void conv2d_reference_bias(conv2d_view view, const float *grad_output, double *grad_bias)
{
    size_t plane = (size_t)view.out_height * view.out_width;
    double sum = 0;
    for (size_t i = threadIdx.x; i < view.images * plane; i += HEDDLE_CUDA_BLOCK)
        sum += grad_output[(i / plane * view.filters + blockIdx.x) * plane + i % plane];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0)
        grad_bias[blockIdx.x] = sum;
}

static heddle_status launch(const heddle_call *call, conv2d_view view, const void *source, const void *weight,
                            const void *bias)
{
    unsigned blocks = heddle_cuda_blocks((size_t)conv2d_pixels(&view) * view.filters);
    if (blocks > 0)
        conv2d_reference<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            view, (const float *)source, (const float *)weight, (const float *)bias, (double *)call->output[0]);
    return heddle_cuda_launched("reference");
}

static heddle_status launch_forward(const heddle_call *call)
{
    return launch(call, conv2d_view_forward((const heddle_conv2d_shape *)call->shape), call->input[0], call->input[1],
                  call->input[2]);
}

static heddle_status launch_backward_data(const heddle_call *call)
{
    return launch(call, conv2d_view_backward_data((const heddle_conv2d_shape *)call->shape), call->input[1],
                  call->input[0], NULL);
}

static heddle_status launch_backward_weight(const heddle_call *call)
{
    conv2d_view view = conv2d_view_forward((const heddle_conv2d_shape *)call->shape);
    const float *input = (const float *)call->input[0], *grad_output = (const float *)call->input[1];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    unsigned weights = (unsigned)view.filters * view.filter_stride;
    conv2d_reference_weight<<<weights, HEDDLE_CUDA_BLOCK, 0, stream>>>(view, input, grad_output,
                                                                       (double *)call->output[0]);
    if (call->output[1])
        conv2d_reference_bias<<<view.filters, HEDDLE_CUDA_BLOCK, 0, stream>>>(view, grad_output,
                                                                              (double *)call->output[1]);
    return heddle_cuda_launched("reference");
}

HEDDLE_CUDA_REFERENCE("conv2d_forward", launch_forward)
HEDDLE_CUDA_REFERENCE("conv2d_backward_data", launch_backward_data)
HEDDLE_CUDA_REFERENCE("conv2d_backward_weight", launch_backward_weight)

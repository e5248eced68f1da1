// rows_norm, rung 1: eight channels per thread, 16 bytes per access.
//
// Forward, a thread has eight channels of one output pixel and looks at its window. Backward, it has a window of the
// input instead, whose pixels it writes, gaps included; batchnorm's gradient needs two sums over all pixels first, so
// the same windows are gone through twice. Which pixel of a window was the largest is found again from the input, not
// kept. The sums are the blocks' own until the last block to arrive adds them up, in their order.
//
// Limited by: bytes.

#include "device/cuda/finer.h"
#include "ops/cuda/dependent.h"
#include "ops/cuda/rows8.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/rows_conv/functions.h"
#include "ops/rows_norm/rows_norm.h"

typedef heddle_rows_norm_shape norm_shape;

struct norm_operands {
    const __nv_bfloat16 *input, *add, *grad_output, *grad_more;
    const float *sums, *gamma, *beta;
    __nv_bfloat16 *output, *grad_add; // output: of forward, grad_input of backward
    float *running_mean, *running_var, *grad_gamma, *grad_beta, *parts;
    int *arrived;
};

// z = x * scale + shift of eight channels, and what batchnorm's gradient needs: xhat = (x - mean) * inverse.
struct norm_channels {
    float scale[ROWS8], shift[ROWS8], mean[ROWS8], inverse[ROWS8];
};

__device__ static norm_channels channels_of(const norm_shape &shape, const norm_operands &on, int c)
{
    norm_channels by;
    const float count = (float)shape.n * shape.h * shape.w;
#pragma unroll
    for (int i = 0; i < ROWS8; i++) {
        by.mean[i] = by.shift[i] = 0.0f;
        by.inverse[i] = by.scale[i] = 1.0f;
        if (!shape.normalise)
            continue;
        by.mean[i] = on.sums[c + i] / count;
        const float variance = fmaxf(on.sums[shape.c + c + i] / count - by.mean[i] * by.mean[i], 0.0f);
        by.inverse[i] = rsqrtf(variance + shape.epsilon);
        by.scale[i] = on.gamma[c + i] * by.inverse[i];
        by.shift[i] = on.beta[c + i] - by.mean[i] * by.scale[i];
    }
    return by;
}

// Places in the frames, in elements.
__device__ static size_t input_at(const norm_shape &shape, int image, int line, int pixel, int c)
{
    return ((size_t)image * shape.image_rows + (size_t)line * shape.pitch + pixel) * shape.c + c;
}

__device__ static size_t output_at(const norm_shape &shape, int image, int y, int x, int c)
{
    const int lines = shape.h / shape.window + shape.gap, pitch = shape.w / shape.window + shape.gap;
    return (((size_t)image * lines + y) * pitch + x) * shape.c + c;
}

// z of a window's pixel; `add` is what comes from around the block, or zeros.
template <bool Aligned>
__device__ static rows8 z_at(const norm_shape &shape, const norm_operands &on, const norm_channels &by,
                             const rows8 &add, size_t at)
{
    rows8 z = rows8_load<Aligned>(on.input + at);
#pragma unroll
    for (int i = 0; i < ROWS8; i++)
        z.v[i] = z.v[i] * by.scale[i] + by.shift[i] + add.v[i];
    return z;
}

template <bool Aligned> __device__ static rows8 add_at(const norm_operands &on, size_t at)
{
    rows8 none = {};
    return on.add ? rows8_load<Aligned>(on.add + at) : none;
}

// Items (image, y, x, group of channels) that a thread has: every so many, so that its channels stay.
#define NORM_FOR_ITEMS(item, items)                                                                                    \
    for (size_t item = (size_t)blockIdx.x * blockDim.x + threadIdx.x; item < (items);                                  \
         item += (size_t)gridDim.x * blockDim.x)

// --- forward ---------------------------------------------------------------------------------------------------------

// The mean or the largest of a window's values.
template <bool Aligned>
__device__ static rows8 pool(const norm_shape &shape, const norm_operands &on, const norm_channels &by, int image,
                             int y, int x, int c)
{
    const int w = shape.window;
    const rows8 add = add_at<Aligned>(on, output_at(shape, image, y, x, c));
    rows8 result = {};
    for (int i = 0; i < w * w; i++) {
        const rows8 z = z_at<Aligned>(shape, on, by, add, input_at(shape, image, y * w + i / w, x * w + i % w, c));
#pragma unroll
        for (int j = 0; j < ROWS8; j++)
            if (shape.average)
                result.v[j] += rows_function(shape.function, z.v[j]);
            else
                result.v[j] = i == 0 || z.v[j] > result.v[j] ? z.v[j] : result.v[j];
    }
#pragma unroll
    for (int j = 0; j < ROWS8; j++)
        result.v[j] = shape.average ? result.v[j] / (float)(w * w) : rows_function(shape.function, result.v[j]);
    return result;
}

__device__ static void update_running(const norm_shape &shape, const norm_operands &on)
{
    const float count = (float)shape.n * shape.h * shape.w;
    for (int c = threadIdx.x; c < shape.c; c += blockDim.x) {
        const float mean = on.sums[c] / count, variance = fmaxf(on.sums[shape.c + c] / count - mean * mean, 0.0f);
        const float spread = count > 1 ? variance * (count / (count - 1)) : variance;
        on.running_mean[c] = (1.0f - shape.momentum) * on.running_mean[c] + shape.momentum * mean;
        on.running_var[c] = (1.0f - shape.momentum) * on.running_var[c] + shape.momentum * spread;
    }
}

template <bool Aligned> __global__ void rows_norm_forward(const norm_shape shape, const norm_operands on)
{
    heddle_wait_for_previous();
    heddle_release_next();
    const int groups = shape.c / ROWS8, out_h = shape.h / shape.window, out_w = shape.w / shape.window;
    const int lines = out_h + shape.gap, pitch = out_w + shape.gap;
    int c = -1;
    norm_channels by;
    NORM_FOR_ITEMS(item, (size_t)shape.n * lines * pitch * groups)
    {
        const int group = (int)(item % groups), row = (int)(item / groups);
        if (c != group * ROWS8)
            by = channels_of(shape, on, c = group * ROWS8);
        const int x = row % pitch, y = row / pitch % lines, image = row / pitch / lines;
        rows8 result = {}; // of a gap
        if (y < out_h && x < out_w)
            result = pool<Aligned>(shape, on, by, image, y, x, c);
        rows8_store<Aligned>(on.output + (size_t)row * shape.c + c, result);
    }
    if (blockIdx.x == 0 && shape.normalise && on.running_mean && on.running_var)
        update_running(shape, on);
}

// --- backward --------------------------------------------------------------------------------------------------------

// A window: the gradient of its output, and for the largest the place it came from.
struct norm_window {
    int image, y, x, c;
    bool whole; // it has an output
    rows8 add, grad;
    int winner[ROWS8];
};

template <bool Aligned>
__device__ static norm_window window_of(const norm_shape &shape, const norm_operands &on, const norm_channels &by,
                                        int image, int y, int x, int c)
{
    const int w = shape.window;
    norm_window window;
    window.image = image, window.y = y, window.x = x, window.c = c;
    window.whole = y < shape.h / w && x < shape.w / w;
    if (!window.whole)
        return window;
    const size_t at = output_at(shape, image, y, x, c);
    window.add = add_at<Aligned>(on, at);
    window.grad = rows8_load<Aligned>(on.grad_output + at);
    if (on.grad_more) {
        const rows8 more = rows8_load<Aligned>(on.grad_more + at);
#pragma unroll
        for (int j = 0; j < ROWS8; j++)
            window.grad.v[j] += more.v[j];
    }
    rows8 most = {};
    for (int i = 0; i < w * w && !shape.average; i++) {
        const rows8 z =
            z_at<Aligned>(shape, on, by, window.add, input_at(shape, image, y * w + i / w, x * w + i % w, c));
#pragma unroll
        for (int j = 0; j < ROWS8; j++)
            if (i == 0 || z.v[j] > most.v[j]) {
                most.v[j] = z.v[j];
                window.winner[j] = i;
            }
    }
    return window;
}

// The gradient of z at place i of a window, of which x is the input.
__device__ static rows8 grad_z(const norm_shape &shape, const norm_channels &by, const norm_window &window,
                               const rows8 &x, int i)
{
    const float share = 1.0f / (float)(shape.window * shape.window);
    rows8 grad;
#pragma unroll
    for (int j = 0; j < ROWS8; j++) {
        const float z = x.v[j] * by.scale[j] + by.shift[j] + window.add.v[j];
        const float slope = rows_slope(shape.function, rows_function(shape.function, z));
        grad.v[j] = shape.average           ? window.grad.v[j] * slope * share
                    : window.winner[j] == i ? window.grad.v[j] * slope
                                            : 0;
    }
    return grad;
}

// Adds up a block's sums of the same channels and leaves them in its part. The last block to come adds up all parts.
__device__ static void leave_sums(const norm_shape &shape, const norm_operands &on, float (&sums)[2 * ROWS8])
{
    extern __shared__ float kept[]; // (threads, 2 * ROWS8)
    __shared__ bool last;
    const int groups = shape.c / ROWS8;
#pragma unroll
    for (int i = 0; i < 2 * ROWS8; i++)
        kept[threadIdx.x * 2 * ROWS8 + i] = sums[i];
    __syncthreads();
    for (int i = threadIdx.x; i < 2 * shape.c; i += blockDim.x) { // thread t has channels t % groups
        const int which = i / shape.c, channel = i % shape.c;
        float sum = 0;
        for (int t = channel / ROWS8; t < (int)blockDim.x; t += groups)
            sum += kept[t * 2 * ROWS8 + which * ROWS8 + channel % ROWS8];
        on.parts[(size_t)blockIdx.x * 2 * shape.c + i] = sum;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(on.arrived, 1) == (int)gridDim.x - 1;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    for (int i = threadIdx.x; i < 2 * shape.c; i += blockDim.x) {
        double sum = 0;
        for (int block = 0; block < (int)gridDim.x; block++)
            sum += on.parts[(size_t)block * 2 * shape.c + i];
        (i < shape.c ? on.grad_beta : on.grad_gamma - shape.c)[i] = (float)sum;
    }
    if (threadIdx.x == 0)
        *on.arrived = 0;
}

template <bool Aligned> __global__ void rows_norm_sums(const norm_shape shape, const norm_operands on)
{
    heddle_wait_for_previous();
    heddle_release_next();
    const int groups = shape.c / ROWS8, w = shape.window, out_h = shape.h / w, out_w = shape.w / w;
    float sums[2 * ROWS8] = {};
    const int c = (int)(((size_t)blockIdx.x * blockDim.x + threadIdx.x) % groups) * ROWS8;
    const norm_channels by = channels_of(shape, on, c);
    NORM_FOR_ITEMS(item, (size_t)shape.n * out_h * out_w * groups)
    {
        const int place = (int)(item / groups), x = place % out_w, y = place / out_w % out_h;
        const norm_window window = window_of<Aligned>(shape, on, by, place / out_w / out_h, y, x, c);
        for (int i = 0; i < w * w; i++) {
            const rows8 value =
                rows8_load<Aligned>(on.input + input_at(shape, window.image, y * w + i / w, x * w + i % w, c));
            const rows8 grad = grad_z(shape, by, window, value, i);
#pragma unroll
            for (int j = 0; j < ROWS8; j++) {
                sums[j] += grad.v[j];
                sums[ROWS8 + j] += grad.v[j] * (value.v[j] - by.mean[j]) * by.inverse[j];
            }
        }
    }
    leave_sums(shape, on, sums);
}

// Writes the gradient of one window's pixels, those of gaps and beyond the last whole window among them.
template <bool Aligned>
__device__ static void store_window(const norm_shape &shape, const norm_operands &on, const norm_channels &by,
                                    const norm_window &window, const rows8 &mean_grad, const rows8 &mean_product)
{
    const int w = shape.window, lines = shape.image_rows / shape.pitch;
    rows8 around = {};
    for (int i = 0; i < w * w; i++) {
        const int line = window.y * w + i / w, pixel = window.x * w + i % w;
        if (line >= lines || pixel >= shape.pitch)
            continue;
        const size_t at = input_at(shape, window.image, line, pixel, window.c);
        rows8 result = {};
        if (line < shape.h && pixel < shape.w) {
            const rows8 value = rows8_load<Aligned>(on.input + at);
            rows8 grad = {};
            if (window.whole)
                grad = grad_z(shape, by, window, value, i);
#pragma unroll
            for (int j = 0; j < ROWS8; j++) {
                const float xhat = (value.v[j] - by.mean[j]) * by.inverse[j];
                around.v[j] += grad.v[j];
                result.v[j] =
                    shape.normalise ? by.scale[j] * (grad.v[j] - mean_grad.v[j] - xhat * mean_product.v[j]) : grad.v[j];
            }
        }
        rows8_store<Aligned>(on.output + at, result);
    }
    if (on.grad_add && window.whole)
        rows8_store<Aligned>(on.grad_add + output_at(shape, window.image, window.y, window.x, window.c), around);
}

// The gaps of grad_add, which no window has.
template <bool Aligned> __device__ static void zero_gaps(const norm_shape &shape, const norm_operands &on)
{
    const int groups = shape.c / ROWS8, out_h = shape.h / shape.window, out_w = shape.w / shape.window;
    const int lines = out_h + shape.gap, pitch = out_w + shape.gap;
    const rows8 zero = {};
    NORM_FOR_ITEMS(item, (size_t)shape.n * lines * pitch * groups)
    {
        const int row = (int)(item / groups), x = row % pitch, y = row / pitch % lines;
        if (y >= out_h || x >= out_w)
            rows8_store<Aligned>(on.grad_add + (size_t)row * shape.c + item % groups * ROWS8, zero);
    }
}

template <bool Aligned> __global__ void rows_norm_backward(const norm_shape shape, const norm_operands on)
{
    heddle_wait_for_previous();
    heddle_release_next();
    const int groups = shape.c / ROWS8, w = shape.window;
    const int down = (shape.image_rows / shape.pitch + w - 1) / w, across = (shape.pitch + w - 1) / w;
    const float count = (float)shape.n * shape.h * shape.w;
    int c = -1;
    norm_channels by;
    rows8 mean_grad = {}, mean_product = {};
    NORM_FOR_ITEMS(item, (size_t)shape.n * down * across * groups)
    {
        const int group = (int)(item % groups), place = (int)(item / groups);
        if (c != group * ROWS8) {
            by = channels_of(shape, on, c = group * ROWS8);
#pragma unroll
            for (int j = 0; j < ROWS8; j++)
                if (shape.normalise) {
                    mean_grad.v[j] = on.grad_beta[c + j] / count;
                    mean_product.v[j] = on.grad_gamma[c + j] / count;
                }
        }
        const norm_window window =
            window_of<Aligned>(shape, on, by, place / across / down, place / across % down, place % across, c);
        store_window<Aligned>(shape, on, by, window, mean_grad, mean_product);
    }
    if (on.grad_add && shape.gap)
        zero_gaps<Aligned>(shape, on);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; !shape.normalise && i < shape.c; i += gridDim.x * blockDim.x)
        on.grad_gamma[i] = on.grad_beta[i] = 0;
}

// --- launching -------------------------------------------------------------------------------------------------------

// Blocks that fill the card a few times over.
static unsigned blocks_for(size_t items, unsigned threads, int each)
{
    const size_t wanted = (items + threads - 1) / threads, most = (size_t)heddle_cuda_multiprocessors() * each;
    return (unsigned)(wanted < most ? wanted : most);
}

static heddle_status launch_forward(const heddle_call *call)
{
    const norm_shape *shape = (const norm_shape *)call->shape;
    norm_operands on = {};
    on.input = (const __nv_bfloat16 *)call->input[0];
    on.sums = (const float *)call->input[1];
    on.gamma = (const float *)call->input[2];
    on.beta = (const float *)call->input[3];
    on.add = (const __nv_bfloat16 *)call->input[4];
    on.output = (__nv_bfloat16 *)call->output[0];
    on.running_mean = (float *)call->output[1];
    on.running_var = (float *)call->output[2];
    const bool aligned = heddle_aligned16(on.input) && heddle_aligned16(on.add) && heddle_aligned16(on.output);
    const unsigned threads = rows8_threads(shape->c);
    const size_t items = (size_t)heddle_rows_norm_out_rows(shape) * (shape->c / ROWS8);
    heddle_cuda_launch_dependent(aligned ? rows_norm_forward<true> : rows_norm_forward<false>,
                                 dim3(blocks_for(items, threads, 8)), dim3(threads), 0, heddle_cuda_stream_of(call),
                                 *shape, on);
    return heddle_cuda_launched("01_vectorised");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const norm_shape *shape = (const norm_shape *)call->shape;
    norm_operands on = {};
    on.grad_output = (const __nv_bfloat16 *)call->input[0];
    on.grad_more = (const __nv_bfloat16 *)call->input[1];
    on.input = (const __nv_bfloat16 *)call->input[2];
    on.sums = (const float *)call->input[3];
    on.gamma = (const float *)call->input[4];
    on.beta = (const float *)call->input[5];
    on.add = (const __nv_bfloat16 *)call->input[6];
    on.output = (__nv_bfloat16 *)call->output[0];
    on.grad_gamma = (float *)call->output[1];
    on.grad_beta = (float *)call->output[2];
    on.grad_add = (__nv_bfloat16 *)call->output[3];
    on.arrived = (int *)call->output[4];
    on.parts = (float *)call->workspace;
    const bool aligned = heddle_aligned16(on.grad_output) && heddle_aligned16(on.grad_more) &&
                         heddle_aligned16(on.input) && heddle_aligned16(on.add) && heddle_aligned16(on.output) &&
                         heddle_aligned16(on.grad_add);
    const unsigned threads = rows8_threads(shape->c);
    const size_t groups = shape->c / ROWS8, windows = (size_t)heddle_rows_norm_in_rows(shape) / shape->window;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    heddle_sim_finer();
    if (shape->normalise) {
        const size_t outputs = (size_t)shape->n * heddle_rows_norm_out_h(shape) * heddle_rows_norm_out_w(shape);
        const unsigned most = HEDDLE_ROWS_NORM_BLOCKS, blocks = min(blocks_for(outputs * groups, threads, 2), most);
        heddle_cuda_launch_dependent(aligned ? rows_norm_sums<true> : rows_norm_sums<false>, dim3(blocks),
                                     dim3(threads), threads * 2 * ROWS8 * sizeof(float), stream, *shape, on);
    }
    heddle_cuda_launch_dependent(aligned ? rows_norm_backward<true> : rows_norm_backward<false>,
                                 dim3(blocks_for(windows * groups, threads, 8)), dim3(threads), 0, stream, *shape, on);
    return heddle_cuda_launched("01_vectorised");
}

HEDDLE_CUDA_RUNG("rows_norm_forward", "01_vectorised", launch_forward)
HEDDLE_CUDA_RUNG("rows_norm_backward", "01_vectorised", launch_backward)

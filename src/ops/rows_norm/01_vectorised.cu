// rows_norm, rung 1: eight channels per thread, 16 bytes per access.
//
// Forward, a thread has eight channels of one output pixel and reads its window. Backward, it has a window of the input
// instead and writes its pixels, gaps included. Batchnorm's gradient needs two sums over all pixels first, so the
// windows are read twice. The largest pixel of a window is found again from the input, not saved. Blocks keep their own
// sums until the last block to arrive adds them, in order.
//
// A thread keeps its channels, so that factors and addends are computed once. There are separate kernels for windows of
// one pixel and of two by two, for relu and for no function: all their loads are in flight before the first is used.
//
// Limited by: memory bandwidth.

#include "ops/cuda/dependent.h"
#include "ops/cuda/rung.h"
#include "ops/rows_norm/window.h"

// --- forward ---------------------------------------------------------------------------------------------------------

// The mean or the largest of a window's values.
template <typename Element, bool Aligned, int Function, int Window>
__device__ static rows8 pool(const norm_job &job, const norm_operands<Element> &on, const norm_scale &by,
                             const norm_item &at)
{
    const norm_shape &shape = job.shape;
    const int w = window_of<Window>(shape), places = w * w;
    norm_window_input<Element, Aligned, Window> input;
    input.load(shape, on, at);
    const rows8 add = add_at<Element, Aligned>(shape, on, output_at(job, at.image, at.y, at.x, at.c), at.c);
    rows8 result = {};
#pragma unroll
    for (int i = 0; i < places; i++) {
        const rows8 x = input.at(i, w);
#pragma unroll
        for (int j = 0; j < ROWS8; j++) {
            const float z = x.v[j] * by.scale[j] + by.shift[j] + add.v[j];
            if (shape.average)
                result.v[j] += value_of<Element, Function>(shape, z);
            else
                result.v[j] = i == 0 || z > result.v[j] ? z : result.v[j];
        }
    }
#pragma unroll
    for (int j = 0; j < ROWS8; j++)
        result.v[j] = shape.average ? result.v[j] / (float)places : value_of<Element, Function>(shape, result.v[j]);
    return result;
}

template <typename Element>
__device__ static void update_running(const norm_shape &shape, const norm_operands<Element> &on)
{
    const float count = (float)shape.n * shape.h * shape.w;
    for (int c = threadIdx.x; c < shape.c; c += blockDim.x) {
        const float mean = on.sums[c] / count, variance = fmaxf(on.sums[shape.c + c] / count - mean * mean, 0.0f);
        const float spread = count > 1 ? variance * (count / (count - 1)) : variance;
        on.running_mean[c] = (1.0f - shape.momentum) * on.running_mean[c] + shape.momentum * mean;
        on.running_var[c] = (1.0f - shape.momentum) * on.running_var[c] + shape.momentum * spread;
    }
}

template <typename Element, bool Aligned, int Function, int Window>
__global__ void __launch_bounds__(256, Window == 1 ? 4 : 2)
    rows_norm_forward(const norm_job job, const norm_operands<Element> on)
{
    heddle_wait_for_previous();
    heddle_release_next();
    int c = -1;
    norm_scale by;
    for (unsigned number = blockIdx.x * blockDim.x + threadIdx.x; number < job.items;
         number += gridDim.x * blockDim.x) {
        const norm_item at = item_of(job, number);
        if (c != at.c) {
            c = at.c;
            by = job.shape.normalise ? scale_of(on, statistics_of(job.shape, on, c), c) : no_scale();
        }
        rows8 result = {}; // of a gap
        if (at.y < job.out_h && at.x < job.out_w)
            result = pool<Element, Aligned, Function, Window>(job, on, by, at);
        rows8_store<Aligned>(in_output(job, on.output, (size_t)number * ROWS8, at), job.out_columns, result);
    }
    if (blockIdx.x == 0 && job.shape.normalise && on.running_mean && on.running_var)
        update_running(job.shape, on);
}

// --- backward --------------------------------------------------------------------------------------------------------

// Blocks per multiprocessor whose registers fit.
#define BACKWARD_BLOCKS(Element) (rows_layout<Element>::ELEMENTS == 1 ? 4 : 3)

// A window with an output: its input, its gradient and, for max pooling, the position of the largest.
template <typename Element, bool Aligned, int Function, int Window> struct norm_window {
    norm_window_input<Element, Aligned, Window> input;
    rows8 add, grad;
    int winner[ROWS8];

    __device__ void load(const norm_job &job, const norm_operands<Element> &on, const norm_scale &by,
                         const norm_item &item)
    {
        const norm_shape &shape = job.shape;
        const size_t at = output_at(job, item.image, item.y, item.x, item.c);
        input.load(shape, on, item);
        grad = rows8_load<Aligned>(in_output(job, on.grad_output, at, item), job.out_columns);
        add = add_at<Element, Aligned>(shape, on, at, item.c);
        if (on.grad_more) {
            const rows8 more = rows8_load<Aligned>(in_output(job, on.grad_more, at, item), job.out_columns);
#pragma unroll
            for (int j = 0; j < ROWS8; j++)
                grad.v[j] += more.v[j];
        }
        if (Window != 1 && !shape.average)
            find_winners(shape, by);
    }
    __device__ void find_winners(const norm_shape &shape, const norm_scale &by)
    {
        const int w = window_of<Window>(shape);
        rows8 most = {};
#pragma unroll
        for (int i = 0; i < w * w; i++) {
            const rows8 x = input.at(i, w);
#pragma unroll
            for (int j = 0; j < ROWS8; j++) {
                const float z = x.v[j] * by.scale[j] + by.shift[j];
                if (i == 0 || z > most.v[j]) {
                    most.v[j] = z;
                    winner[j] = i;
                }
            }
        }
    }
    // The gradient of z at place i, where the input is x.
    __device__ rows8 grad_z(const norm_shape &shape, const norm_scale &by, const rows8 &x, int i) const
    {
        const int w = window_of<Window>(shape);
        const float share = 1.0f / (float)(w * w);
        rows8 result;
#pragma unroll
        for (int j = 0; j < ROWS8; j++) {
            const float z = x.v[j] * by.scale[j] + by.shift[j] + add.v[j];
            const float through = grad.v[j] * slope_of<Element, Function>(shape, z);
            result.v[j] = Window == 1 ? through : shape.average ? through * share : winner[j] == i ? through : 0.0f;
        }
        return result;
    }
};

// One block adds the sums of all blocks: teams of threads take every n-th block, four sums per thread, and then the
// teams' sums are added in order. kept: four doubles per thread
template <typename Element>
__device__ static void add_parts(const norm_shape &shape, const norm_operands<Element> &on, double *kept)
{
    const int fours = 2 * shape.c / 4, teams = max(1, (int)blockDim.x / fours);
    for (int first = 0; first < fours; first += blockDim.x) { // once, except for very many channels
        const int four = first + (int)threadIdx.x % fours, team = (int)threadIdx.x / fours;
        double sums[4] = {};
        if (team < teams && four < fours) {
#pragma unroll 8
            for (int block = team; block < (int)gridDim.x; block += teams) {
                const float4 part = __ldcg((const float4 *)(on.parts + (size_t)block * 2 * shape.c) + four);
                sums[0] += part.x, sums[1] += part.y, sums[2] += part.z, sums[3] += part.w;
            }
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 4; i++)
            kept[threadIdx.x * 4 + i] = sums[i];
        __syncthreads();
        for (int i = threadIdx.x; i < 4 * min(fours - first, (int)blockDim.x); i += blockDim.x) {
            double sum = 0;
            for (int from = 0; from < teams; from++)
                sum += kept[from * fours * 4 + i];
            const int at = first * 4 + i;
            (at < shape.c ? on.grad_beta : on.grad_gamma - shape.c)[at] = (float)sum;
        }
    }
}

// Adds a block's sums of the same channels and stores them in its part. The last block to arrive adds all parts.
template <typename Element>
__device__ static void leave_sums(const norm_shape &shape, const norm_operands<Element> &on, float (&sums)[2 * ROWS8])
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
    add_parts(shape, on, (double *)kept);
    if (threadIdx.x == 0)
        *on.arrived = 0;
}

// Sums of grad_z and of grad_z * xhat, over all windows with an output.
template <typename Element, bool Aligned, int Function, int Window>
__global__ void __launch_bounds__(256, Window == 1 ? BACKWARD_BLOCKS(Element) : 2)
    rows_norm_sums(const norm_job job, const norm_operands<Element> on)
{
    heddle_wait_for_previous();
    heddle_release_next();
    const norm_shape &shape = job.shape;
    const int w = window_of<Window>(shape), c = (int)(threadIdx.x % job.groups.by) * ROWS8; // of every item
    const norm_statistics batch = statistics_of(shape, on, c);
    const norm_scale by = scale_of(on, batch, c);
    float sums[2 * ROWS8] = {};
    for (unsigned number = blockIdx.x * blockDim.x + threadIdx.x; number < job.items;
         number += gridDim.x * blockDim.x) {
        norm_window<Element, Aligned, Function, Window> window;
        window.load(job, on, by, item_of(job, number));
#pragma unroll
        for (int i = 0; i < w * w; i++) {
            const rows8 x = window.input.at(i, w), grad = window.grad_z(shape, by, x, i);
#pragma unroll
            for (int j = 0; j < ROWS8; j++) {
                sums[j] += grad.v[j];
                sums[ROWS8 + j] += grad.v[j] * (x.v[j] - batch.mean.v[j]);
            }
        }
    }
#pragma unroll
    for (int j = 0; j < ROWS8; j++)
        sums[ROWS8 + j] *= batch.inverse.v[j];
    leave_sums(shape, on, sums);
}

// Batchnorm's gradient from the gradient of z: scale * grad + x * slope + offset, where x is the input.
struct norm_gradient {
    float slope[ROWS8], offset[ROWS8];
};

template <typename Element>
__device__ static norm_gradient gradient_of(const norm_shape &shape, const norm_operands<Element> &on,
                                            const norm_statistics &batch, const norm_scale &by, int c)
{
    const rows8 grad_gamma = floats8(on.grad_gamma + c), grad_beta = floats8(on.grad_beta + c);
    const float share = 1.0f / ((float)shape.n * shape.h * shape.w);
    norm_gradient through;
#pragma unroll
    for (int j = 0; j < ROWS8; j++) {
        through.slope[j] = -by.scale[j] * batch.inverse.v[j] * grad_gamma.v[j] * share;
        through.offset[j] = -by.scale[j] * grad_beta.v[j] * share - batch.mean.v[j] * through.slope[j];
    }
    return through;
}

__device__ static rows8 input_gradient(const norm_scale &by, const norm_gradient &through, const rows8 &x,
                                       const rows8 &grad)
{
    rows8 result;
#pragma unroll
    for (int j = 0; j < ROWS8; j++)
        result.v[j] = by.scale[j] * grad.v[j] + x.v[j] * through.slope[j] + through.offset[j];
    return result;
}

// A window with an output: all of its pixels hold results.
template <typename Element, bool Aligned, int Function, int Window>
__device__ static void store_window(const norm_job &job, const norm_operands<Element> &on, const norm_scale &by,
                                    const norm_gradient &through, const norm_item &at)
{
    const norm_shape &shape = job.shape;
    const int w = window_of<Window>(shape);
    norm_window<Element, Aligned, Function, Window> window;
    window.load(job, on, by, at);
    typename rows_layout<Element>::place *to =
        rows_at(on.output, input_at(shape, at.image, at.y * w, at.x * w, at.c), at.c);
    const int step = shape.c * rows_layout<Element>::ELEMENTS;
    rows8 around = {};
#pragma unroll
    for (int i = 0; i < w * w; i++) {
        const rows8 x = window.input.at(i, w), grad = window.grad_z(shape, by, x, i);
#pragma unroll
        for (int j = 0; j < ROWS8; j++)
            around.v[j] += grad.v[j];
        rows8_store<Aligned>(to + ((size_t)(i / w) * shape.pitch + i % w) * step, shape.c,
                             input_gradient(by, through, x, grad));
    }
    if (on.grad_add)
        rows8_store<Aligned>(rows_at(on.grad_add, output_at(job, at.image, at.y, at.x, at.c), at.c), shape.c, around);
}

// One beyond the last: its pixels are gaps, or results outside all windows.
template <typename Element, bool Aligned>
__device__ static void store_rest(const norm_job &job, const norm_operands<Element> &on, const norm_scale &by,
                                  const norm_gradient &through, const norm_item &at)
{
    const norm_shape &shape = job.shape;
    const int w = shape.window, lines = shape.image_rows / shape.pitch;
    const rows8 zero = {};
    for (int i = 0; i < w * w; i++) {
        const int line = at.y * w + i / w, pixel = at.x * w + i % w;
        if (line >= lines || pixel >= shape.pitch)
            continue;
        const size_t place = input_at(shape, at.image, line, pixel, at.c);
        const bool result = line < shape.h && pixel < shape.w;
        rows8_store<Aligned>(
            rows_at(on.output, place, at.c), shape.c,
            result ? input_gradient(by, through, rows8_load<Aligned>(rows_at(on.input, place, at.c), shape.c), zero)
                   : zero);
    }
}

// The gaps of grad_add, which are in no window.
template <typename Element, bool Aligned>
__device__ static void zero_gaps(const norm_job &job, const norm_operands<Element> &on)
{
    const norm_shape &shape = job.shape;
    const int groups = shape.c / ROWS8, lines = job.out_h + shape.gap, pitch = job.out_w + shape.gap;
    const unsigned items = (unsigned)(shape.n * lines * pitch * groups);
    const rows8 zero = {};
    for (unsigned number = blockIdx.x * blockDim.x + threadIdx.x; number < items; number += gridDim.x * blockDim.x) {
        const int row = (int)number / groups, x = row % pitch, y = row / pitch % lines;
        if (y >= job.out_h || x >= job.out_w)
            rows8_store<Aligned>(rows_at(on.grad_add, (size_t)number * ROWS8, (int)number % groups * ROWS8), shape.c,
                                 zero);
    }
}

template <typename Element, bool Aligned, int Function, int Window>
__global__ void __launch_bounds__(256, Window == 1 ? BACKWARD_BLOCKS(Element) : 2)
    rows_norm_backward(const norm_job job, const norm_operands<Element> on)
{
    heddle_wait_for_previous();
    heddle_release_next();
    const norm_shape &shape = job.shape;
    int c = -1;
    norm_scale by = no_scale();
    norm_gradient through = {};
    for (unsigned number = blockIdx.x * blockDim.x + threadIdx.x; number < job.items;
         number += gridDim.x * blockDim.x) {
        const norm_item at = item_of(job, number);
        if (c != at.c && shape.normalise) {
            c = at.c;
            const norm_statistics batch = statistics_of(shape, on, c);
            by = scale_of(on, batch, c);
            through = gradient_of(shape, on, batch, by, c);
        }
        if (at.y < job.out_h && at.x < job.out_w)
            store_window<Element, Aligned, Function, Window>(job, on, by, through, at);
        else
            store_rest<Element, Aligned>(job, on, by, through, at);
    }
    if (on.grad_add && shape.gap)
        zero_gaps<Element, Aligned>(job, on);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; !shape.normalise && i < shape.c; i += gridDim.x * blockDim.x)
        on.grad_gamma[i] = on.grad_beta[i] = 0;
}

// --- launching -------------------------------------------------------------------------------------------------------

template <typename Element> using norm_kernel = void(const norm_job, const norm_operands<Element>);

// Of all kernels of a kind, the one for a shape.
#define NORM_CHOOSE(kernel, shape, aligned)                                                                            \
    (!(aligned)                              ? kernel<Element, false, -1, 0>                                           \
     : (shape)->function == HEDDLE_ROWS_RELU ? ((shape)->window == 1   ? kernel<Element, true, HEDDLE_ROWS_RELU, 1>    \
                                                : (shape)->window == 2 ? kernel<Element, true, HEDDLE_ROWS_RELU, 2>    \
                                                                       : kernel<Element, true, -1, 0>)                 \
     : (shape)->window == 1                                                                                            \
         ? ((shape)->function == HEDDLE_ROWS_IDENTITY ? kernel<Element, true, HEDDLE_ROWS_IDENTITY, 1>                 \
                                                      : kernel<Element, true, -1, 1>)                                  \
     : (shape)->window == 2 ? kernel<Element, true, -1, 2>                                                             \
                            : kernel<Element, true, -1, 0>)

// Items (image, down, across, group of channels).
static norm_job job_of(const norm_shape *shape, int down, int across)
{
    norm_job job = {};
    job.shape = *shape;
    job.out_h = heddle_rows_norm_out_h(shape);
    job.out_w = heddle_rows_norm_out_w(shape);
    job.out_columns = shape->flat ? job.out_h * job.out_w * shape->c : shape->c;
    job.groups = heddle_divisor_of(shape->c / ROWS8);
    job.across = heddle_divisor_of(across);
    job.down = heddle_divisor_of(down);
    job.items = (unsigned)((size_t)shape->n * down * across * (shape->c / ROWS8));
    return job;
}

// In one wave: every block computes its channels' factors once.
template <typename Element>
static heddle_status launch_kernel(const heddle_call *call, norm_kernel<Element> *kernel, const norm_job &job,
                                   const norm_operands<Element> &on, size_t shared_bytes)
{
    const unsigned threads = rows8_threads(job.shape.c), wanted = heddle_ceil_div(job.items, threads);
    int each = 1;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, (int)threads, shared_bytes);
    const unsigned most = (unsigned)min(heddle_cuda_multiprocessors() * each, (int)HEDDLE_ROWS_NORM_BLOCKS);
    heddle_cuda_launch_dependent(kernel, dim3(wanted < most ? wanted : most), dim3(threads), shared_bytes,
                                 heddle_cuda_stream_of(call), job, on);
    return heddle_cuda_launched("01_vectorised");
}

template <typename Element> static heddle_status forward_with(const heddle_call *call)
{
    const norm_shape *shape = (const norm_shape *)call->shape;
    norm_operands<Element> on = {};
    on.input = (const Element *)call->input[0];
    on.sums = (const float *)call->input[1];
    on.gamma = (const float *)call->input[2];
    on.beta = (const float *)call->input[3];
    on.add = (const Element *)call->input[4];
    on.output = (Element *)call->output[0];
    on.running_mean = (float *)call->output[1];
    on.running_var = (float *)call->output[2];
    const bool aligned = heddle_aligned16(on.input) && heddle_aligned16(on.add) && heddle_aligned16(on.output);
    const norm_job job =
        job_of(shape, heddle_rows_norm_out_h(shape) + shape->gap, heddle_rows_norm_out_w(shape) + shape->gap);
    return launch_kernel(call, NORM_CHOOSE(rows_norm_forward, shape, aligned), job, on, 0);
}

template <typename Element> static heddle_status backward_with(const heddle_call *call)
{
    const norm_shape *shape = (const norm_shape *)call->shape;
    norm_operands<Element> on = {};
    on.grad_output = (const Element *)call->input[0];
    on.grad_more = (const Element *)call->input[1];
    on.input = (const Element *)call->input[2];
    on.sums = (const float *)call->input[3];
    on.gamma = (const float *)call->input[4];
    on.beta = (const float *)call->input[5];
    on.add = (const Element *)call->input[6];
    on.output = (Element *)call->output[0];
    on.grad_gamma = (float *)call->output[1];
    on.grad_beta = (float *)call->output[2];
    on.grad_add = (Element *)call->output[3];
    on.arrived = (int *)call->output[4];
    on.parts = (float *)call->workspace;
    const bool aligned = heddle_aligned16(on.grad_output) && heddle_aligned16(on.grad_more) &&
                         heddle_aligned16(on.input) && heddle_aligned16(on.add) && heddle_aligned16(on.output) &&
                         heddle_aligned16(on.grad_add);
    const int w = shape->window, lines = shape->image_rows / shape->pitch;
    if (shape->normalise) {
        const norm_job job = job_of(shape, heddle_rows_norm_out_h(shape), heddle_rows_norm_out_w(shape));
        const heddle_status status = launch_kernel(call, NORM_CHOOSE(rows_norm_sums, shape, aligned), job, on,
                                                   rows8_threads(shape->c) * 2 * ROWS8 * sizeof(float));
        if (status != HEDDLE_OK)
            return status;
    }
    const norm_job job = job_of(shape, (int)heddle_ceil_div(lines, w), (int)heddle_ceil_div(shape->pitch, w));
    return launch_kernel(call, NORM_CHOOSE(rows_norm_backward, shape, aligned), job, on, 0);
}

static heddle_status launch_forward(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(norm_shape, forward_with, call);
}

static heddle_status launch_backward(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(norm_shape, backward_with, call);
}

HEDDLE_CUDA_RUNG("rows_norm_forward", "01_vectorised", launch_forward)
HEDDLE_CUDA_RUNG("rows_norm_backward", "01_vectorised", launch_backward)

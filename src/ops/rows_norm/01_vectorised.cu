// rows_norm, rung 1: eight channels per thread, 16 bytes per access.
//
// Forward, a thread has eight channels of one output pixel and reads its window; sixteen threads share a window larger
// than two by two. Backward, it has a window of the input instead and writes its pixels, gaps included. Batchnorm's
// gradient needs two sums over all pixels first (sums.h), so the windows are read twice. The largest pixel of a window
// is found again from the input, not saved.
//
// A thread keeps its channels, so that factors and addends are computed once. There are separate kernels for windows of
// one pixel and of two by two, for relu and for no function: all their loads are in flight before the first is used.
//
// Limited by: memory bandwidth.

#include "ops/cuda/dependent.h"
#include "ops/cuda/rung.h"
#include "ops/rows_norm/sums.h"
#include "ops/rows_norm/window.h"

// --- forward ---------------------------------------------------------------------------------------------------------

// The mean or the largest of a window's values.
template <typename Element, bool Aligned, int Function, int Window>
__device__ static rows8 pool(const norm_shape &shape, const norm_operands<Element> &on,
                             const norm_window<Element, Aligned, Window> &window, const norm_scale &by_batch)
{
    const int w = window_of<Window>(shape), places = window.places(shape);
    const norm_scale by = window.scale(on, by_batch);
    rows8 result = {};
#pragma unroll
    for (int i = 0; i < places; i++) {
        const rows8 x = window.input(i, w);
#pragma unroll
        for (int j = 0; j < ROWS8; j++) {
            const float z = x.v[j] * by.scale[j] + by.shift[j];
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
__device__ static norm_scale forward_scale(const norm_shape &shape, const norm_operands<Element> &on, int c)
{
    return shape.normalise ? scale_of(on, statistics_of(shape, on, c), c) : no_scale();
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
__global__ void __launch_bounds__(256, Window *Window == 1 ? 4 : 2)
    rows_norm_forward(const norm_job job, const norm_operands<Element> on)
{
    heddle_wait_for_previous();
    heddle_release_next();
    int c = -1;
    norm_scale by;
    for (unsigned number = blockIdx.x * blockDim.x + threadIdx.x; number < job.items;
         number += gridDim.x * blockDim.x) {
        const norm_item at = item_of(job, number);
        const bool inside = is_inside(job, at);
        norm_window<Element, Aligned, Window> window;
        if (inside) {
            window.fetch_input(job.shape, on, at);
            window.fetch_add(job.shape, on, output_at(job, at.image, at.y, at.x, at.c), at.c);
        }
        if (c != at.c) {
            c = at.c;
            by = forward_scale(job.shape, on, c);
        }
        rows8 result = {}; // of a gap
        if (inside)
            result = pool<Element, Aligned, Function, Window>(job.shape, on, window, by);
        rows8_store<Aligned>(in_output(job, on.output, number * ROWS8, at), job.out_columns, result);
    }
    if (blockIdx.x == 0 && job.shape.normalise && on.running_mean && on.running_var)
        update_running(job.shape, on);
}

// Large windows: POOL_LANES threads share the places of one.
enum { POOL_THREADS = 256, POOL_LANES = 16, POOL_ITEMS = POOL_THREADS / POOL_LANES };

// The sum or the largest of every POOL_LANES-th value of a window.
template <typename Element, bool Aligned>
__device__ static rows8 pool_lane(const norm_job &job, const norm_operands<Element> &on, const norm_item &at, int lane)
{
    const norm_shape &shape = job.shape;
    const int w = shape.window, places = w * w;
    norm_window<Element, Aligned, 0> window;
    window.fetch_input(shape, on, at);
    window.fetch_add(shape, on, output_at(job, at.image, at.y, at.x, at.c), at.c);
    const norm_scale by = window.scale(on, forward_scale(shape, on, at.c));
    rows8 result;
#pragma unroll
    for (int j = 0; j < ROWS8; j++)
        result.v[j] = shape.average ? 0.0f : -INFINITY;
#pragma unroll 4
    for (int i = lane; i < places; i += POOL_LANES) {
        const rows8 x = window.input(i, w);
#pragma unroll
        for (int j = 0; j < ROWS8; j++) {
            const float z = x.v[j] * by.scale[j] + by.shift[j];
            result.v[j] = shape.average ? result.v[j] + value_of<Element, -1>(shape, z) : fmaxf(result.v[j], z);
        }
    }
    return result;
}

template <typename Element, bool Aligned>
__global__ void __launch_bounds__(POOL_THREADS) rows_norm_pool(const norm_job job, const norm_operands<Element> on)
{
    heddle_wait_for_previous();
    heddle_release_next();
    __shared__ rows8 lanes[POOL_LANES][POOL_ITEMS];
    const norm_shape &shape = job.shape;
    const unsigned item = threadIdx.x % POOL_ITEMS, lane = threadIdx.x / POOL_ITEMS;
    const unsigned number = blockIdx.x * POOL_ITEMS + item;
    const norm_item at = item_of(job, number < job.items ? number : 0);
    const bool inside = is_inside(job, at);
    if (inside)
        lanes[lane][item] = pool_lane<Element, Aligned>(job, on, at, (int)lane);
    __syncthreads();
    if (lane == 0 && number < job.items) {
        rows8 result = {}; // of a gap
        if (inside)
            result = lanes[0][item];
        for (int i = 1; inside && i < POOL_LANES; i++) {
#pragma unroll
            for (int j = 0; j < ROWS8; j++)
                result.v[j] =
                    shape.average ? result.v[j] + lanes[i][item].v[j] : fmaxf(result.v[j], lanes[i][item].v[j]);
        }
#pragma unroll
        for (int j = 0; inside && j < ROWS8; j++)
            result.v[j] = shape.average ? result.v[j] / (float)(shape.window * shape.window)
                                        : value_of<Element, -1>(shape, result.v[j]);
        rows8_store<Aligned>(in_output(job, on.output, number * ROWS8, at), job.out_columns, result);
    }
    if (blockIdx.x == 0 && shape.normalise && on.running_mean && on.running_var)
        update_running(shape, on);
}

// --- backward --------------------------------------------------------------------------------------------------------

__device__ static rows8 input_gradient(const norm_factors &factors, const rows8 &x, const rows8 &grad)
{
    rows8 result;
#pragma unroll
    for (int j = 0; j < ROWS8; j++)
        result.v[j] = factors.by.scale[j] * grad.v[j] + x.v[j] * factors.slope[j] + factors.offset[j];
    return result;
}

// One pixel: a result or a gap.
template <typename Element, bool Aligned, int Function, int Window>
__device__ static void store_pixel(const norm_job &job, const norm_operands<Element> &on,
                                   const norm_window<Element, Aligned, Window> &window, const norm_factors &factors,
                                   const norm_item &at)
{
    const norm_shape &shape = job.shape;
    const norm_scale by = window.scale(on, factors.by);
    const rows8 x = window.input(0, 1);
    rows8 grad = window.gradient(job, on), result = {};
#pragma unroll
    for (int j = 0; j < ROWS8; j++)
        grad.v[j] = through_function<Element, Function>(shape, x.v[j] * by.scale[j] + by.shift[j], grad.v[j]);
    const bool holds_result = at.y < shape.h && at.x < shape.w;
    if (holds_result)
        result = input_gradient(factors, x, grad);
    rows8_store<Aligned>(rows_at(on.output, input_at(shape, at.image, at.y, at.x, at.c), at.c), shape.c, result);
    if (Window == NORM_AROUND && on.grad_add && holds_result)
        rows8_store<Aligned>(rows_at(on.grad_add, output_at(job, at.image, at.y, at.x, at.c), at.c), shape.c, grad);
}

// The place of the largest z of a window, per channel, and that z.
template <typename Element, bool Aligned>
__device__ static rows8 find_largest(const norm_shape &shape, const norm_window<Element, Aligned, 0> &window,
                                     const norm_scale &by, int (&winner)[ROWS8])
{
    rows8 most;
    for (int i = 0; i < shape.window * shape.window; i++) {
        const rows8 x = window.input(i, shape.window);
#pragma unroll
        for (int j = 0; j < ROWS8; j++) {
            const float z = x.v[j] * by.scale[j] + by.shift[j];
            if (i == 0 || z > most.v[j])
                most.v[j] = z, winner[j] = i;
        }
    }
    return most;
}

// Calls store(place, result) for the places of a window of any size, one after another, and returns the gradient of
// what was added to all of them.
template <typename Element, bool Aligned, int Function, typename Store>
__device__ static rows8 place_gradients(const norm_shape &shape, const norm_window<Element, Aligned, 0> &window,
                                        const norm_scale &by, const norm_factors &factors, const rows8 &grad,
                                        Store store)
{
    rows8 around = {};
    int winner[ROWS8] = {};
    if (!shape.average) {
        around = find_largest(shape, window, by, winner);
#pragma unroll
        for (int j = 0; j < ROWS8; j++) // the only place with a gradient
            around.v[j] = through_function<Element, Function>(shape, around.v[j], grad.v[j]);
    }
    for (int i = 0; i < shape.window * shape.window; i++) {
        const rows8 x = window.input(i, shape.window);
        rows8 here;
#pragma unroll
        for (int j = 0; j < ROWS8; j++) {
            here.v[j] = winner[j] == i ? around.v[j] : 0.0f;
            if (shape.average) {
                const float z = x.v[j] * by.scale[j] + by.shift[j];
                here.v[j] = through_function<Element, Function>(shape, z, grad.v[j]);
                around.v[j] += here.v[j];
            }
        }
        store(i, input_gradient(factors, x, here));
    }
    return around;
}

// The same for a size known at compile time: channel by channel, in place, which takes few registers.
template <typename Element, bool Aligned, int Function, int Window, typename Store>
__device__ static rows8 place_gradients(const norm_shape &shape, const norm_window<Element, Aligned, Window> &window,
                                        const norm_scale &by, const norm_factors &factors, const rows8 &grad,
                                        Store store)
{
    rows8 values[window.PLACES], around = {};
#pragma unroll
    for (int i = 0; i < window.PLACES; i++)
        values[i] = window.input(i, Window);
#pragma unroll
    for (int j = 0; j < ROWS8; j++) {
        float most = 0;
        int winner = 0;
#pragma unroll
        for (int i = 0; i < window.PLACES; i++) {
            const float z = values[i].v[j] * by.scale[j] + by.shift[j];
            if (i == 0 || z > most)
                most = z, winner = i;
        }
        const float largest = through_function<Element, Function>(shape, most, grad.v[j]);
#pragma unroll
        for (int i = 0; i < window.PLACES; i++) {
            const float x = values[i].v[j], z = x * by.scale[j] + by.shift[j];
            const float here = shape.average ? through_function<Element, Function>(shape, z, grad.v[j])
                               : winner == i ? largest
                                             : 0.0f;
            around.v[j] += here;
            values[i].v[j] = by.scale[j] * here + x * factors.slope[j] + factors.offset[j];
        }
    }
#pragma unroll
    for (int i = 0; i < window.PLACES; i++)
        store(i, values[i]);
    return around;
}

// A window with an output: all of its pixels hold results.
template <typename Element, bool Aligned, int Function, int Window>
__device__ static void store_window(const norm_job &job, const norm_operands<Element> &on,
                                    const norm_window<Element, Aligned, Window> &window, const norm_factors &factors,
                                    const norm_item &at)
{
    const norm_shape &shape = job.shape;
    const int w = window_of<Window>(shape), step = shape.c * rows_layout<Element>::ELEMENTS;
    typename rows_layout<Element>::place *to =
        rows_at(on.output, input_at(shape, at.image, at.y * w, at.x * w, at.c), at.c);
    const rows8 around = place_gradients<Element, Aligned, Function>(
        shape, window, window.scale(on, factors.by), factors, window.gradient(job, on),
        [&](int i, const rows8 &result) {
            rows8_store<Aligned>(to + ((size_t)(i / w) * shape.pitch + i % w) * step, shape.c, result);
        });
    if (on.grad_add)
        rows8_store<Aligned>(rows_at(on.grad_add, output_at(job, at.image, at.y, at.x, at.c), at.c), shape.c, around);
}

// One beyond the last: its pixels are gaps, or results outside all windows.
template <typename Element, bool Aligned>
__device__ static void store_rest(const norm_job &job, const norm_operands<Element> &on, const norm_factors &factors,
                                  const norm_item &at)
{
    const norm_shape &shape = job.shape;
    const int w = shape.window, lines = shape.image_rows / shape.pitch;
    const rows8 zero = {};
    for (int i = 0; i < w * w; i++) {
        const int line = at.y * w + i / w, pixel = at.x * w + i % w;
        if (line >= lines || pixel >= shape.pitch)
            continue;
        const unsigned place = input_at(shape, at.image, line, pixel, at.c);
        const bool result = line < shape.h && pixel < shape.w;
        rows8_store<Aligned>(
            rows_at(on.output, place, at.c), shape.c,
            result ? input_gradient(factors, rows8_load<Aligned>(rows_at(on.input, place, at.c), shape.c), zero)
                   : zero);
    }
}

// The gaps of grad_add, which are in no window.
template <typename Element, bool Aligned>
__device__ static void zero_gaps(const norm_job &job, const norm_operands<Element> &on)
{
    const norm_shape &shape = job.shape;
    const int groups = shape.c / ROWS8, pitch = job.out_w + shape.gap, beside = job.out_h * shape.gap;
    const int gaps = beside + shape.gap * pitch; // of an image: beside its lines, then below them
    const unsigned items = (unsigned)(shape.n * gaps * groups);
    const rows8 zero = {};
    const unsigned block = blockIdx.y * gridDim.x + blockIdx.x, stride = gridDim.y * gridDim.x * blockDim.x;
    for (unsigned number = block * blockDim.x + threadIdx.x; number < items; number += stride) {
        const int row = (int)number / groups, image = row / gaps, gap = row % gaps, c = (int)number % groups * ROWS8;
        const int below = gap - beside;
        const unsigned at = gap < beside ? output_at(job, image, gap / shape.gap, job.out_w + gap % shape.gap, c)
                                         : output_at(job, image, job.out_h + below / pitch, below % pitch, c);
        rows8_store<Aligned>(rows_at(on.grad_add, at, c), shape.c, zero);
    }
}

// Reads what the item has of its window. False: it has none, only gaps or results outside all windows.
template <typename Element, bool Aligned, int Window>
__device__ static bool fetch_item(const norm_job &job, const norm_operands<Element> &on, const norm_item &at,
                                  norm_window<Element, Aligned, Window> &window)
{
    const norm_shape &shape = job.shape;
    const int w = window.PIXEL ? shape.window : 1;
    const bool inside = at.y < job.out_h * w && at.x < job.out_w * w;
    if (!inside)
        window.fetch_nothing();
    if (inside || (window.PIXEL && at.y < shape.h && at.x < shape.w))
        window.fetch_input(shape, on, at);
    if (inside)
        window.fetch_gradient(job, on, at);
    return inside;
}

// One item of a thread, on its way.
template <typename Element, bool Aligned, int Window> struct norm_pending {
    norm_window<Element, Aligned, Window> window;
    norm_item item;
    bool inside;

    __device__ void fetch(const norm_job &job, const norm_operands<Element> &on, unsigned number, int c)
    {
        if (number < job.items) {
            item = item_of(job, number, c);
            inside = fetch_item(job, on, item, window);
        }
    }
    template <int Function>
    __device__ void store(const norm_job &job, const norm_operands<Element> &on, const norm_factors &factors,
                          unsigned number) const
    {
        if (number >= job.items)
            return;
        if constexpr (norm_window<Element, Aligned, Window>::PIXEL)
            store_pixel<Element, Aligned, Function>(job, on, window, factors, item);
        else if (inside)
            store_window<Element, Aligned, Function>(job, on, window, factors, item);
        else
            store_rest<Element, Aligned>(job, on, factors, item);
    }
};

// Items (image, down, across); blocks (share of the items, slice of the channels).
template <typename Element, bool Aligned, int Function, int Window>
__global__ void __launch_bounds__(SUMS_THREADS, 1)
    rows_norm_backward(const norm_job job, const norm_operands<Element> on)
{
    enum { // items of a thread on their way, as many as there are registers for
        PAIRS = rows_layout<Element>::ELEMENTS == 2,
        FLIGHT = Window == 1                       ? (PAIRS ? 2 : 3)
                 : Window == NORM_AROUND && !PAIRS ? 2
                                                   : 1,
    };
    heddle_wait_for_previous();
    heddle_release_next();
    const norm_shape &shape = job.shape;
    const norm_slice slice = slice_of(shape);
    const int row = (int)threadIdx.x / slice.groups, c = (slice.first + (int)threadIdx.x % slice.groups) * ROWS8;
    const unsigned stride = gridDim.x * (unsigned)slice.rows;
    unsigned first = row < slice.rows ? blockIdx.x * (unsigned)slice.rows + (unsigned)row : job.items;
    norm_pending<Element, Aligned, Window> pending[FLIGHT];
#pragma unroll
    for (int i = 0; i < FLIGHT; i++)
        pending[i].fetch(job, on, first + i * stride, c);
    norm_factors factors = {no_scale(), {}, {}};
    if (shape.normalise)
        factors = factors_of(job, on, slice);
    else if (blockIdx.x == 0 && (int)threadIdx.x < slice.groups * ROWS8)
        on.grad_gamma[slice.first * ROWS8 + (int)threadIdx.x] = on.grad_beta[slice.first * ROWS8 + (int)threadIdx.x] =
            0;
    for (; first < job.items; first += FLIGHT * stride)
#pragma unroll
        for (int i = 0; i < FLIGHT; i++) { // while one is stored, the others are on their way
            pending[i].template store<Function>(job, on, factors, first + i * stride);
            pending[i].fetch(job, on, first + (FLIGHT + i) * stride, c);
        }
    if (on.grad_add && shape.gap)
        zero_gaps<Element, Aligned>(job, on);
}

// --- launching -------------------------------------------------------------------------------------------------------

template <typename Element> using norm_kernel = void(const norm_job, const norm_operands<Element>);

// Of all kernels of a kind, the one for a shape. pixels: along a side of what one thread has; around: one pixel and
// more operands
#define NORM_PIXEL(kernel, function, around)                                                                           \
    ((around) ? kernel<Element, true, function, NORM_AROUND> : kernel<Element, true, function, 1>)
#define NORM_CHOOSE(kernel, shape, pixels, around, aligned)                                                            \
    (!(aligned)      ? kernel<Element, false, -1, 0>                                                                   \
     : (pixels) == 1 ? ((shape)->function == HEDDLE_ROWS_RELU       ? NORM_PIXEL(kernel, HEDDLE_ROWS_RELU, around)     \
                        : (shape)->function == HEDDLE_ROWS_IDENTITY ? NORM_PIXEL(kernel, HEDDLE_ROWS_IDENTITY, around) \
                                                                    : NORM_PIXEL(kernel, -1, around))                  \
     : (pixels) == 2 ? ((shape)->function == HEDDLE_ROWS_RELU ? kernel<Element, true, HEDDLE_ROWS_RELU, 2>             \
                                                              : kernel<Element, true, -1, 2>)                          \
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
    job.window = heddle_divisor_of(shape->window);
    job.items = (unsigned)((size_t)shape->n * down * across * (shape->c / ROWS8));
    return job;
}

// In one wave: every block computes its channels' factors once.
template <typename Element>
static heddle_status launch_wave(const heddle_call *call, norm_kernel<Element> *kernel, const norm_job &job,
                                 const norm_operands<Element> &on)
{
    const unsigned threads = rows8_threads(job.shape.c), wanted = heddle_ceil_div(job.items, threads);
    int each = 1;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, (int)threads, 0);
    const unsigned most = (unsigned)(heddle_cuda_multiprocessors() * each);
    heddle_cuda_launch_dependent(kernel, dim3(wanted < most ? wanted : most), dim3(threads), 0,
                                 heddle_cuda_stream_of(call), job, on);
    return heddle_cuda_launched("01_vectorised");
}

// One block per multiprocessor, of as many threads as have an item. Blocks (share of the items, slice of the channels).
struct norm_grid {
    unsigned blocks, slices, threads;
};

static norm_grid grid_of(norm_job *job)
{
    const unsigned groups = (unsigned)job->shape.c / ROWS8, slices = heddle_ceil_div(groups, SUMS_GROUPS);
    const unsigned multiprocessors = (unsigned)min(heddle_cuda_multiprocessors(), (int)HEDDLE_ROWS_NORM_BLOCKS);
    const unsigned most = max(1u, multiprocessors / slices), share = heddle_ceil_div(job->items, most * slices);
    const unsigned step = HEDDLE_CUDA_BLOCK, threads = min((unsigned)SUMS_THREADS, heddle_ceil_div(share, step) * step);
    job->items /= groups; // every block has its channels
    return {min(most, heddle_ceil_div(job->items, threads / heddle_ceil_div(groups, slices))), slices, threads};
}

template <typename Element>
static heddle_status launch_slices(const heddle_call *call, norm_kernel<Element> *kernel, const norm_grid &grid,
                                   const norm_job &job, const norm_operands<Element> &on, size_t shared_bytes)
{
    heddle_cuda_launch_dependent(kernel, dim3(grid.blocks, grid.slices), dim3(grid.threads), shared_bytes,
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
    if (shape->window <= 2)
        return launch_wave(call, NORM_CHOOSE(rows_norm_forward, shape, shape->window, on.add, aligned), job, on);
    heddle_cuda_launch_dependent(aligned ? rows_norm_pool<Element, true> : rows_norm_pool<Element, false>,
                                 dim3(heddle_ceil_div(job.items, POOL_ITEMS)), dim3(POOL_THREADS), 0,
                                 heddle_cuda_stream_of(call), job, on);
    return heddle_cuda_launched("01_vectorised");
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
    on.parts = (float *)call->workspace;
    const bool aligned = heddle_aligned16(on.grad_output) && heddle_aligned16(on.grad_more) &&
                         heddle_aligned16(on.input) && heddle_aligned16(on.add) && heddle_aligned16(on.output) &&
                         heddle_aligned16(on.grad_add);
    // Pixels of a large mean do not depend on each other, unless their gradients are added.
    const int pixels = aligned && shape->average && shape->window > 2 && !on.grad_add ? 1 : shape->window;
    const bool around = on.add || on.grad_more || on.grad_add;
    int parts = 0;
    if (shape->normalise) {
        const int windows = shape->window / pixels; // items along a side of a window
        norm_job job = job_of(shape, heddle_rows_norm_out_h(shape) * windows, heddle_rows_norm_out_w(shape) * windows);
        const norm_grid grid = grid_of(&job);
        parts = (int)grid.blocks;
        const heddle_status status = launch_slices(call, NORM_CHOOSE(rows_norm_sums, shape, pixels, around, aligned),
                                                   grid, job, on, sums_shared_bytes(grid.threads));
        if (status != HEDDLE_OK)
            return status;
    }
    const int lines = shape->image_rows / shape->pitch;
    norm_job job = job_of(shape, (int)heddle_ceil_div(lines, pixels), (int)heddle_ceil_div(shape->pitch, pixels));
    const norm_grid grid = grid_of(&job);
    job.parts = parts;
    return launch_slices(call, NORM_CHOOSE(rows_norm_backward, shape, pixels, around, aligned), grid, job, on,
                         factors_shared_bytes(grid.threads));
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

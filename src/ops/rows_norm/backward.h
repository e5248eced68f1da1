// rows_norm backward, second part: the gradient of the input and of what was added. A thread has a window of the input
// and writes its pixels, gaps included. The largest pixel of a window is found again from the input, not saved.
#pragma once

#include "ops/cuda/dependent.h"
#include "ops/rows_norm/sums.h"
#include "ops/rows_norm/window.h"

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

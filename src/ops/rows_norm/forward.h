// rows_norm forward: eight channels of one output pixel per thread, which reads its window; sixteen threads share a
// window larger than two by two.
#pragma once

#include "ops/cuda/dependent.h"
#include "ops/rows_norm/window.h"

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
    if constexpr (sizeof(Element) == 1)
#pragma unroll
        for (int j = 0; j < ROWS8; j++)
            result.v[j] *= rows_byte_unit(shape.function);
    return result;
}

template <typename Element>
__device__ static norm_scale forward_scale(const norm_shape &shape, const norm_operands<Element> &on, int c)
{
    if constexpr (sizeof(Element) == 1)
        return no_scale(shape.scale);
    else
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
        if constexpr (sizeof(Element) == 1)
#pragma unroll
            for (int j = 0; j < ROWS8; j++)
                result.v[j] *= rows_byte_unit(shape.function);
        rows8_store<Aligned>(in_output(job, on.output, number * ROWS8, at), job.out_columns, result);
    }
    if (blockIdx.x == 0 && shape.normalise && on.running_mean && on.running_var)
        update_running(shape, on);
}

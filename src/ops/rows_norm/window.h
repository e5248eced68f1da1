// What rows_norm's kernels share, forward and backward: which item a thread has, where pixels and gaps lie, and the
// pixels of one window, eight channels at a time.
#pragma once

#include "ops/cuda/division.h"
#include "ops/cuda/rows8.h"
#include "ops/cuda/vector.h"
#include "ops/rows_conv/functions.h"
#include "ops/rows_norm/rows_norm.h"

typedef heddle_rows_norm_shape norm_shape;

template <typename Element> struct norm_operands {
    const Element *input, *add, *grad_output, *grad_more;
    const float *sums, *gamma, *beta;
    Element *output, *grad_add; // output: of forward, grad_input of backward
    float *running_mean, *running_var, *grad_gamma, *grad_beta, *parts;
};

// The shape, and what items are divided by: (image, down, across, group of channels).
struct norm_job {
    norm_shape shape;
    unsigned items;
    heddle_divisor groups, across, down, window;
    int out_h, out_w, out_columns;
    int parts; // of the sums, per slice
};

struct norm_item {
    int image, y, x, c;
};

// Item `number` of (image, down, across), and the channel it begins at.
__device__ static norm_item item_of(const norm_job &job, unsigned number, int c)
{
    unsigned x, y;
    norm_item item;
    item.image = (int)heddle_divide(heddle_divide(number, job.across, &x), job.down, &y);
    item.y = (int)y, item.x = (int)x, item.c = c;
    return item;
}

__device__ static norm_item item_of(const norm_job &job, unsigned number)
{
    unsigned group;
    const unsigned row = heddle_divide(number, job.groups, &group);
    return item_of(job, row, (int)group * ROWS8);
}

// Of an item of the output: not a gap.
__device__ static bool is_inside(const norm_job &job, const norm_item &item)
{
    return item.y < job.out_h && item.x < job.out_w;
}

// Places in the frames, in elements: fewer than 2^31.
__device__ static unsigned input_at(const norm_shape &shape, int image, int line, int pixel, int c)
{
    return (unsigned)((image * shape.image_rows + line * shape.pitch + pixel) * shape.c + c);
}

__device__ static unsigned output_at(const norm_job &job, int image, int y, int x, int c)
{
    const int lines = job.out_h + job.shape.gap, pitch = job.out_w + job.shape.gap;
    return (unsigned)(((image * lines + y) * pitch + x) * job.shape.c + c);
}

// Value `at` of the output or of its gradient.
template <typename Element>
__device__ static auto in_output(const norm_job &job, Element *matrix, unsigned at, const norm_item &item)
{
    return rows_at(matrix, at, job.shape.flat ? (int)at - item.image * job.out_columns : item.c);
}

// Function and window, known at compile time or from the shape.
template <typename Element, int Function> __device__ static float value_of(const norm_shape &shape, float z)
{
    const int function = Function < 0 ? shape.function : Function;
    return rows_layout<Element>::ELEMENTS == 1 ? rows_function16(function, z) : rows_function(function, z);
}

// The gradient of z from that of the function's value.
template <typename Element, int Function>
__device__ static float through_function(const norm_shape &shape, float z, float grad)
{
    if (Function == HEDDLE_ROWS_RELU)
        return z > 0.0f ? grad : 0.0f;
    return grad * rows_slope(Function < 0 ? shape.function : Function, value_of<Element, Function>(shape, z));
}

template <int Window> __device__ static int window_of(const norm_shape &shape)
{
    return Window > 0 ? Window : shape.window;
}

// z = x * scale + shift.
struct norm_scale {
    float scale[ROWS8], shift[ROWS8];
};

// Eight floats, one per channel.
__device__ static rows8 floats8(const float *from)
{
    rows8 values;
    if ((uintptr_t)from % sizeof(float4) == 0) {
        const float4 low = ((const float4 *)from)[0], high = ((const float4 *)from)[1];
        values = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    } else {
#pragma unroll
        for (int i = 0; i < ROWS8; i++)
            values.v[i] = from[i];
    }
    return values;
}

// Of eight channels: the mean, and one over the standard deviation.
struct norm_statistics {
    rows8 mean, inverse;
};

template <typename Element>
__device__ static norm_statistics statistics_of(const norm_shape &shape, const norm_operands<Element> &on, int c)
{
    const rows8 sums = floats8(on.sums + c), squares = floats8(on.sums + shape.c + c);
    const float share = 1.0f / ((float)shape.n * shape.h * shape.w);
    norm_statistics found;
#pragma unroll
    for (int i = 0; i < ROWS8; i++) {
        const float mean = sums.v[i] * share, variance = fmaxf(squares.v[i] * share - mean * mean, 0.0f);
        found.mean.v[i] = mean;
        found.inverse.v[i] = rsqrtf(variance + shape.epsilon);
    }
    return found;
}

template <typename Element>
__device__ static norm_scale scale_of(const norm_operands<Element> &on, const norm_statistics &by_batch, int c)
{
    const rows8 gamma = floats8(on.gamma + c), beta = floats8(on.beta + c);
    norm_scale by;
#pragma unroll
    for (int i = 0; i < ROWS8; i++) {
        by.scale[i] = gamma.v[i] * by_batch.inverse.v[i];
        by.shift[i] = beta.v[i] - by_batch.mean.v[i] * by.scale[i];
    }
    return by;
}

__device__ static norm_scale no_scale(float factor = 1.0f)
{
    norm_scale by;
#pragma unroll
    for (int i = 0; i < ROWS8; i++)
        by.scale[i] = factor, by.shift[i] = 0.0f;
    return by;
}

// What one thread reads of one window, on its way: nothing waits for it until it is converted.
//
// Window is the size along a side if it is known at compile time, 0 if not: then the input is read place by place. A
// pixel is a window of 1, or of any size if windows are averaged, because a pixel then does not depend on the others.
// NORM_AROUND is a pixel with `add` or `grad_more`, which a window of 1 does not have. After pooling both are rare, and
// read when they are needed.
enum { NORM_AROUND = -1 };

template <typename Element, bool Aligned, int Window> struct norm_window {
    typedef typename rows_layout<Element>::place place;
    enum { PIXEL = Window * Window == 1, PLACES = Window == 0 ? 1 : Window * Window };

    rows8_bits<Element> x[PLACES], grad, add, more;
    float add_scale; // of bytes
    const place *from, *add_from, *more_from;
    int pitch, step, columns; // elements from line to line and from pixel to pixel; channels

    __device__ void fetch_input(const norm_shape &shape, const norm_operands<Element> &on, const norm_item &at)
    {
        const int w = PIXEL ? 1 : window_of<Window>(shape);
        from = rows_at(on.input, input_at(shape, at.image, at.y * w, at.x * w, at.c), at.c);
        columns = shape.c, step = columns * rows_layout<Element>::ELEMENTS, pitch = shape.pitch * step;
#pragma unroll
        for (int i = 0; i < Window * Window; i++)
            x[i] = rows8_fetch<Element, Aligned>(from + (i / w) * pitch + (i % w) * step, columns);
    }
    __device__ void fetch_add(const norm_shape &shape, const norm_operands<Element> &on, unsigned output, int c)
    {
        add_from = Window != 1 && on.add ? rows_at(on.add, output, c) : NULL;
        if constexpr (sizeof(Element) == 1)
            add_scale = shape.add_scale;
        if (Window == NORM_AROUND && on.add)
            add = rows8_fetch<Element, Aligned>(add_from, shape.c);
    }
    __device__ void fetch_gradient(const norm_job &job, const norm_operands<Element> &on, const norm_item &at)
    {
        unsigned rest, y = (unsigned)at.y, x = (unsigned)at.x;
        if (PIXEL && job.shape.window > 1)
            y = heddle_divide(y, job.window, &rest), x = heddle_divide(x, job.window, &rest);
        const unsigned output = output_at(job, at.image, (int)y, (int)x, at.c);
        grad = rows8_fetch<Element, Aligned>(in_output(job, on.grad_output, output, at), job.out_columns);
        fetch_add(job.shape, on, output, at.c);
        more_from = Window != 1 && on.grad_more ? in_output(job, on.grad_more, output, at) : NULL;
        if (Window == NORM_AROUND && on.grad_more)
            more = rows8_fetch<Element, Aligned>(more_from, job.out_columns);
    }
    __device__ void fetch_nothing()
    {
#pragma unroll
        for (int i = 0; i < PLACES; i++)
            x[i] = {};
        grad = {}, add = {}, more = {};
        add_from = more_from = NULL;
    }

    __device__ static int places(const norm_shape &shape)
    {
        return Window != 0 ? PLACES : shape.window * shape.window;
    }
    __device__ rows8 input(int i, int w) const
    {
        if (Window != 0)
            return rows8_values(x[Window != 0 ? i : 0]);
        return rows8_values(rows8_fetch<Element, Aligned>(from + (size_t)(i / w) * pitch + (i % w) * step, columns));
    }
    // z = x * scale + shift, with what is added to the window.
    __device__ norm_scale scale(const norm_operands<Element> &on, const norm_scale &by) const
    {
        norm_scale result = by;
        if (Window != 1 && (Window == NORM_AROUND ? on.add != NULL : add_from != NULL)) {
            const rows8 values =
                rows8_values(Window == NORM_AROUND ? add : rows8_fetch<Element, Aligned>(add_from, columns));
#pragma unroll
            for (int j = 0; j < ROWS8; j++)
                result.shift[j] += sizeof(Element) == 1 ? values.v[j] * add_scale : values.v[j];
        }
        return result;
    }
    // The gradient of each place that has one.
    __device__ rows8 gradient(const norm_job &job, const norm_operands<Element> &on) const
    {
        rows8 sum = rows8_values(grad);
        if (Window != 1 && (Window == NORM_AROUND ? on.grad_more != NULL : more_from != NULL)) {
            const rows8 values =
                rows8_values(Window == NORM_AROUND ? more : rows8_fetch<Element, Aligned>(more_from, job.out_columns));
#pragma unroll
            for (int j = 0; j < ROWS8; j++)
                sum.v[j] += values.v[j];
        }
        if (job.shape.average) {
            const float share = 1.0f / (float)(job.shape.window * job.shape.window);
#pragma unroll
            for (int j = 0; j < ROWS8; j++)
                sum.v[j] *= share;
        }
        return sum;
    }
};

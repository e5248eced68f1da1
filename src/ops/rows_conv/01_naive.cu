// rows_conv, rung 1: one thread per element of the result.
//
// Each tap of the filter is a shift by a number of rows, so a thread adds its products without checking its place in
// the image. One thread computes each sum over rows too, for batchnorm and for gradients.
//
// Limited by: loads, two per product.

#include "ops/cuda/element16.h"
#include "ops/cuda/rung.h"
#include "ops/rows_conv/functions.h"
#include "ops/rows_conv/rows_conv.h"

typedef heddle_rows_conv_shape conv_shape;

// The geometry, computed on the host: kernels need no division by values that all of them share.
struct naive_frame {
    int rows, taps, pitch, image_rows, h, w; // h, w: lines and pixels that count
    int shift[HEDDLE_ROWS_MOST_TAPS];
};

static naive_frame frame_of(const conv_shape *shape, int turn, int h, int w)
{
    naive_frame frame = {};
    frame.rows = heddle_rows_conv_rows(shape);
    frame.taps = shape->r * shape->s;
    frame.pitch = shape->w + shape->gap;
    frame.image_rows = (shape->h + shape->gap) * frame.pitch;
    frame.h = h;
    frame.w = w;
    for (int tap = 0; tap < frame.taps; tap++)
        frame.shift[tap] = turn * heddle_rows_conv_shift(shape, tap);
    return frame;
}

__device__ static bool holds(const naive_frame &frame, int row)
{
    const int in_image = row % frame.image_rows;
    return in_image / frame.pitch < frame.h && in_image % frame.pitch < frame.w;
}

// rows: (rows, c), weight: (to, taps, c)
template <typename Element>
__device__ static float product(const naive_frame &frame, const Element *rows, const Element *weight, int c, int row,
                                int to)
{
    float sum = 0;
    for (int tap = 0; tap < frame.taps; tap++) {
        const int at = row + frame.shift[tap];
        if (at < 0 || at >= frame.rows)
            continue;
        for (int i = 0; i < c; i++)
            sum += rows_read(rows, at, c, i) * rows_read(weight, (size_t)to * frame.taps + tap, c, i);
    }
    return sum;
}

// The same of bytes, whole.
__device__ static int product(const naive_frame &frame, const int8_t *rows, const int8_t *weight, int c, int row,
                              int to)
{
    int sum = 0;
    for (int tap = 0; tap < frame.taps; tap++) {
        const int at = row + frame.shift[tap];
        for (int i = 0; at >= 0 && at < frame.rows && i < c; i++)
            sum += rows[(size_t)at * c + i] * weight[((size_t)to * frame.taps + tap) * c + i];
    }
    return sum;
}

// input: (rows, c), weight: (k, taps, c), bias, scale: (k), output: (rows, k)
__global__ void rows_conv_naive_bytes(const naive_frame frame, int c, int k, int function, int zero_gaps,
                                      const int8_t *input, const int8_t *weight, const float *bias, const float *scale,
                                      int8_t *output)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)frame.rows * k)
        return;
    const int row = (int)(i / k), to = (int)(i % k);
    const float value = rows_requantise(function, product(frame, input, weight, c, row, to), scale ? scale[to] : 1.0f,
                                        bias ? bias[to] : 0.0f);
    rows_write(output, row, k, to, zero_gaps && !holds(frame, row) ? 0.0f : value);
}

// input: (rows, c), weight: (k, taps, c), bias: (k), output: (rows, k)
template <typename Element, typename Output>
__global__ void rows_conv_naive(const naive_frame frame, int c, int k, int function, int zero_gaps,
                                const Element *input, const Element *weight, const float *bias, Output *output)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)frame.rows * k)
        return;
    const int row = (int)(i / k), to = (int)(i % k);
    const float sum = product(frame, input, weight, c, row, to) + (bias ? bias[to] : 0.0f);
    rows_write(output, row, k, to, zero_gaps && !holds(frame, row) ? 0.0f : rows_function(function, sum));
}

// A result before pooling: of bytes one that is rounded, as it would be stored.
template <typename Element>
__device__ static float result_of(const naive_frame &frame, int c, int function, const Element *input,
                                  const Element *weight, const float *bias, const float *scale, int row, int to)
{
    return rows_function(function, product(frame, input, weight, c, row, to) + (bias ? bias[to] : 0.0f));
}

__device__ static float result_of(const naive_frame &frame, int c, int function, const int8_t *input,
                                  const int8_t *weight, const float *bias, const float *scale, int row, int to)
{
    return (float)rows_element<int8_t>::round(rows_requantise(function, product(frame, input, weight, c, row, to),
                                                              scale ? scale[to] : 1.0f, bias ? bias[to] : 0.0f));
}

// What pooling leaves of an image, and its frame.
struct naive_pool {
    int window, average, h, w, pitch, image_rows, rows, columns; // columns: of a row of pairs
};

// input: (rows, c), weight: (k, taps, c), bias, scale: (k), output: (pooled rows, k)
template <typename Element>
__global__ void rows_conv_naive_pool(const naive_frame frame, const naive_pool pool, int c, int k, int function,
                                     const Element *input, const Element *weight, const float *bias, const float *scale,
                                     Element *output)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)pool.rows * k)
        return;
    const int row = (int)(i / k), to = (int)(i % k), image = row / pool.image_rows;
    const int y = row % pool.image_rows / pool.pitch, x = row % pool.image_rows % pool.pitch;
    float pooled = 0;
    for (int at = 0; y < pool.h && x < pool.w && at < pool.window * pool.window; at++) {
        const int line = y * pool.window + at / pool.window, pixel = x * pool.window + at % pool.window;
        const float value = result_of(frame, c, function, input, weight, bias, scale,
                                      image * frame.image_rows + line * frame.pitch + pixel, to);
        if (pool.average)
            pooled += value;
        else if (at == 0 || value > pooled || isnan(value))
            pooled = value;
    }
    rows_write(output, i / pool.columns, pool.columns, (int)(i % pool.columns),
               pool.average ? pooled / (float)(pool.window * pool.window) : pooled);
}

// sums: (2, k), of what rows_conv_naive would store, without rounding
template <typename Element>
__global__ void rows_conv_naive_sums(const naive_frame frame, int c, int k, int function, const Element *input,
                                     const Element *weight, const float *bias, float *sums)
{
    const int to = blockIdx.x * blockDim.x + threadIdx.x;
    if (to >= k)
        return;
    double sum = 0, squares = 0;
    for (int row = 0; row < frame.rows; row++) {
        if (!holds(frame, row))
            continue;
        const float value =
            rows_function(function, product(frame, input, weight, c, row, to) + (bias ? bias[to] : 0.0f));
        sum += value;
        squares += (double)value * value;
    }
    sums[to] = (float)sum;
    sums[k + to] = (float)squares;
}

// grad_output: (rows, k), weight: (k, taps, c), input, grad_input: (rows, c)
template <typename Element>
__global__ void rows_conv_naive_data(const naive_frame frame, int c, int k, int function, int zero_gaps,
                                     const Element *grad_output, const Element *weight, const Element *input,
                                     Element *grad_input)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)frame.rows * c)
        return;
    const int row = (int)(i / c), to = (int)(i % c);
    float sum = 0;
    for (int tap = 0; tap < frame.taps; tap++) {
        const int at = row + frame.shift[tap];
        for (int o = 0; at >= 0 && at < frame.rows && o < k; o++)
            sum += rows_read(grad_output, at, k, o) * rows_read(weight, (size_t)o * frame.taps + tap, c, to);
    }
    if (input)
        sum *= rows_slope(function, rows_read(input, row, c, to));
    rows_write(grad_input, row, c, to, zero_gaps && !holds(frame, row) ? 0.0f : sum);
}

// grad_weight: (parts, k, taps, c); after these elements come those of grad_bias: (parts, k)
template <typename Element>
__global__ void rows_conv_naive_weight(const naive_frame frame, int c, int k, int parts, int part_rows,
                                       const Element *grad_output, const Element *input, float *grad_weight,
                                       float *grad_bias)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, weights = (size_t)parts * k * frame.taps * c;
    if (i >= weights + (grad_bias ? (size_t)parts * k : 0))
        return;
    const bool is_bias = i >= weights;
    const size_t which = is_bias ? i - weights : i / ((size_t)frame.taps * c); // of parts * k
    const int to = (int)(which % k), first = (int)(which / k) * part_rows, end = min(frame.rows, first + part_rows);
    const int shift = is_bias ? 0 : frame.shift[i / c % frame.taps];
    float sum = 0;
    for (int row = first; row < end; row++) {
        const int at = row + shift;
        const float grad = rows_read(grad_output, row, k, to);
        if (is_bias)
            sum += grad;
        else if (at >= 0 && at < frame.rows)
            sum += grad * rows_read(input, at, c, (int)(i % c));
    }
    *(is_bias ? &grad_bias[which] : &grad_weight[i]) = sum;
}

static naive_frame forward_frame(const conv_shape *shape)
{
    return frame_of(shape, 1, heddle_rows_conv_out_h(shape), heddle_rows_conv_out_w(shape));
}

template <typename Element, typename Output> static heddle_status launch_product(const heddle_call *call, int zero_gaps)
{
    const conv_shape *shape = (const conv_shape *)call->shape;
    const naive_frame frame = forward_frame(shape);
    rows_conv_naive<Element, Output>
        <<<heddle_cuda_blocks((size_t)frame.rows * shape->k), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            frame, shape->c, shape->k, shape->function, zero_gaps, (const Element *)call->input[0],
            (const Element *)call->input[1], (const float *)call->input[2], (Output *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

template <typename Element> static heddle_status forward_with(const heddle_call *call)
{
    const conv_shape *shape = (const conv_shape *)call->shape;
    const heddle_status status = launch_product<Element, Element>(call, shape->zero_gaps);
    if (status != HEDDLE_OK || !call->output[1])
        return status;
    rows_conv_naive_sums<Element><<<heddle_cuda_blocks(shape->k), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
        forward_frame(shape), shape->c, shape->k, shape->function, (const Element *)call->input[0],
        (const Element *)call->input[1], (const float *)call->input[2], (float *)call->output[1]);
    return heddle_cuda_launched("01_naive");
}

template <> heddle_status forward_with<int8_t>(const heddle_call *call)
{
    const conv_shape *shape = (const conv_shape *)call->shape;
    const naive_frame frame = forward_frame(shape);
    rows_conv_naive_bytes<<<heddle_cuda_blocks((size_t)frame.rows * shape->k), HEDDLE_CUDA_BLOCK, 0,
                            heddle_cuda_stream_of(call)>>>(
        frame, shape->c, shape->k, shape->function, shape->zero_gaps, (const int8_t *)call->input[0],
        (const int8_t *)call->input[1], (const float *)call->input[2], (const float *)call->input[3],
        (int8_t *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

template <typename Element> static heddle_status pool_with(const heddle_call *call)
{
    const conv_shape *shape = (const conv_shape *)call->shape;
    naive_pool pool = {};
    pool.window = shape->window;
    pool.average = shape->average;
    pool.h = heddle_rows_conv_pool_h(shape);
    pool.w = heddle_rows_conv_pool_w(shape);
    pool.pitch = pool.w + shape->next_gap;
    pool.image_rows = heddle_rows_conv_pool_rows(shape);
    pool.rows = shape->n * pool.image_rows;
    pool.columns = shape->k * (shape->flat ? pool.image_rows : 1);
    rows_conv_naive_pool<Element>
        <<<heddle_cuda_blocks((size_t)pool.rows * shape->k), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            forward_frame(shape), pool, shape->c, shape->k, shape->function, (const Element *)call->input[0],
            (const Element *)call->input[1], (const float *)call->input[2], (const float *)call->input[3],
            (Element *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

template <typename Element> static heddle_status logits_with(const heddle_call *call)
{
    return launch_product<Element, float>(call, 0);
}

template <typename Element> static heddle_status data_with(const heddle_call *call)
{
    const conv_shape *shape = (const conv_shape *)call->shape;
    const naive_frame frame = frame_of(shape, -1, shape->h, shape->w);
    rows_conv_naive_data<Element>
        <<<heddle_cuda_blocks((size_t)frame.rows * shape->c), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            frame, shape->c, shape->k, shape->function, shape->zero_gaps, (const Element *)call->input[0],
            (const Element *)call->input[1], (const Element *)call->input[2], (Element *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

template <typename Element> static heddle_status weight_with(const heddle_call *call)
{
    const conv_shape *shape = (const conv_shape *)call->shape;
    const naive_frame frame = forward_frame(shape);
    const size_t rows = (size_t)shape->parts * shape->k, elements = rows * frame.taps * shape->c;
    rows_conv_naive_weight<Element>
        <<<heddle_cuda_blocks(elements + rows), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            frame, shape->c, shape->k, shape->parts, heddle_rows_conv_part_rows(shape), (const Element *)call->input[0],
            (const Element *)call->input[1], (float *)call->output[0], (float *)call->output[1]);
    return heddle_cuda_launched("01_naive");
}

heddle_status heddle_rows_conv_forward_naive(const heddle_call *call)
{
    return ROWS_WITH_ANY_ELEMENT(heddle_rows_conv_shape, forward_with, call);
}

heddle_status heddle_rows_conv_logits_naive(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(heddle_rows_conv_shape, logits_with, call);
}

heddle_status heddle_rows_conv_pool_naive(const heddle_call *call)
{
    return ROWS_WITH_ANY_ELEMENT(heddle_rows_conv_shape, pool_with, call);
}

heddle_status heddle_rows_conv_data_naive(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(heddle_rows_conv_shape, data_with, call);
}

heddle_status heddle_rows_conv_weight_naive(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(heddle_rows_conv_shape, weight_with, call);
}

HEDDLE_CUDA_RUNG("rows_conv_forward", "01_naive", heddle_rows_conv_forward_naive)
HEDDLE_CUDA_RUNG("rows_conv_logits", "01_naive", heddle_rows_conv_logits_naive)
HEDDLE_CUDA_RUNG("rows_conv_pool", "01_naive", heddle_rows_conv_pool_naive)
HEDDLE_CUDA_RUNG("rows_conv_backward_data", "01_naive", heddle_rows_conv_data_naive)
HEDDLE_CUDA_RUNG("rows_conv_backward_weight", "01_naive", heddle_rows_conv_weight_naive)

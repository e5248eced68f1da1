// softmax and log_softmax, rung 4: the row in registers, moved by 16-byte loads and stores.
//
// Rung 3 read a row twice, 4 bytes per load, and used either a warp or a block for it. Here a group that just fits the
// row (row_group.h: from 4 threads for ten classes to 512) holds all of it in registers. The row is read once, with all
// loads in flight at once, and written once. With the elements in registers, the online softmax gains nothing: the
// largest value is found first, exp is called once per element, and the result is scaled in place.
//
// Rows whose length is not a multiple of 4, or whose start is not 16-byte aligned, are moved 4 bytes at a time, still
// coalesced. Rows too long for any group are read twice by a block of 1024 threads, as in rung 3.
//
// Limited by: memory bandwidth.

#include "heddle/ops.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"
#include "ops/softmax/softmax.h"

// --- forward --------------------------------------------------------------------------------------------------------

// Subtracts `most` from every element and returns the sum of exp over this thread's elements. softmax keeps exp,
// log_softmax does not.
template <int vectors, bool logarithm> __device__ static float exp_sum(float (*value)[HEDDLE_VECTOR], float most)
{
    float sum = 0;
#pragma unroll
    for (int i = 0; i < vectors; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++) {
            float distance = value[i][k] - most, power = expf(distance);
            value[i][k] = logarithm ? distance : power;
            sum += power;
        }
    return sum;
}

// input and output: (rows, cols)
template <int threads, int vectors, bool aligned, bool logarithm>
__global__ void __launch_bounds__(heddle_row_block(threads))
    softmax_in_registers(heddle_rows_shape shape, const float *input, float *output)
{
    __shared__ float of_warp[2][HEDDLE_WARPS];
    size_t row = heddle_group_row<threads>();
    int cols = row < (size_t)shape.rows ? shape.cols : 0; // beyond the last row, a group has no work
    float value[vectors][HEDDLE_VECTOR];
    heddle_row_load<threads, vectors, aligned>(input + row * shape.cols, cols, -INFINITY, value);

    float most = -INFINITY;
#pragma unroll
    for (int i = 0; i < vectors; i++)
        most = fmaxf(most, fmaxf(fmaxf(value[i][0], value[i][1]), fmaxf(value[i][2], value[i][3])));
    most = heddle_group_max<threads>(most, of_warp[0]);

    float sum = heddle_group_sum<threads>(exp_sum<vectors, logarithm>(value, most), of_warp[1]);
    float log_sum = logf(sum), scale = 1 / sum;
#pragma unroll
    for (int i = 0; i < vectors; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++)
            value[i][k] = logarithm ? value[i][k] - log_sum : value[i][k] * scale;
    heddle_row_store<threads, vectors, aligned>(output + row * shape.cols, cols, value);
}

// Rows too long for any group: one block per row reads it twice, piece by piece.
enum {
    LONG = 1024,
    LONG_VECTORS = 4, // per thread: loads in flight
    PIECE = LONG * LONG_VECTORS * HEDDLE_VECTOR,
};

// input and output: (rows, cols)
template <bool aligned, bool logarithm>
__global__ void __launch_bounds__(LONG) softmax_long_rows(heddle_rows_shape shape, const float *input, float *output)
{
    __shared__ float of_warp[2][HEDDLE_WARPS];
    const float *x = input + (size_t)blockIdx.x * shape.cols;
    float *y = output + (size_t)blockIdx.x * shape.cols;
    float value[LONG_VECTORS][HEDDLE_VECTOR];

    float most = -INFINITY, sum = 0; // of this thread's elements so far
    for (int first = 0; first < shape.cols; first += PIECE) {
        heddle_row_load<LONG, LONG_VECTORS, aligned>(x + first, shape.cols - first, -INFINITY, value);
        float before = most;
#pragma unroll
        for (int i = 0; i < LONG_VECTORS; i++)
            most = fmaxf(most, fmaxf(fmaxf(value[i][0], value[i][1]), fmaxf(value[i][2], value[i][3])));
        float from = most == -INFINITY ? 0 : most; // a difference from -inf is NaN
        sum = sum * expf(before - from) + exp_sum<LONG_VECTORS, logarithm>(value, from);
    }
    float row_most = heddle_group_max<LONG>(most, of_warp[0]);
    sum *= expf(most - (row_most == -INFINITY ? 0 : row_most));
    sum = heddle_group_sum<LONG>(sum, of_warp[1]);

    float log_sum = logf(sum), scale = 1 / sum;
    for (int first = 0; first < shape.cols; first += PIECE) {
        heddle_row_load<LONG, LONG_VECTORS, aligned>(x + first, shape.cols - first, -INFINITY, value);
#pragma unroll
        for (int i = 0; i < LONG_VECTORS; i++)
#pragma unroll
            for (int k = 0; k < HEDDLE_VECTOR; k++) {
                float distance = value[i][k] - row_most;
                value[i][k] = logarithm ? distance - log_sum : expf(distance) * scale;
            }
        heddle_row_store<LONG, LONG_VECTORS, aligned>(y + first, shape.cols - first, value);
    }
}

// --- backward -------------------------------------------------------------------------------------------------------

// The sum is Σ grad * y for softmax, Σ grad for log_softmax.
template <int vectors, bool logarithm>
__device__ static float thread_sum(const float (*y)[HEDDLE_VECTOR], const float (*grad)[HEDDLE_VECTOR])
{
    float sum = 0;
#pragma unroll
    for (int i = 0; i < vectors; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++)
            sum += logarithm ? grad[i][k] : grad[i][k] * y[i][k];
    return sum;
}

// softmax:     grad_input = y * (grad - Σ grad * y)
// log_softmax: grad_input = grad - exp(y) * Σ grad
template <int vectors, bool logarithm>
__device__ static void to_gradient(const float (*y)[HEDDLE_VECTOR], float (*grad)[HEDDLE_VECTOR], float sum)
{
#pragma unroll
    for (int i = 0; i < vectors; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++)
            grad[i][k] = logarithm ? grad[i][k] - expf(y[i][k]) * sum : y[i][k] * (grad[i][k] - sum);
}

// output, grad_output and grad_input: (rows, cols)
template <int threads, int vectors, bool aligned, bool logarithm>
__global__ void __launch_bounds__(heddle_row_block(threads))
    softmax_backward_in_registers(heddle_rows_shape shape, const float *output, const float *grad_output,
                                  float *grad_input)
{
    __shared__ float of_warp[HEDDLE_WARPS];
    size_t row = heddle_group_row<threads>();
    int cols = row < (size_t)shape.rows ? shape.cols : 0;
    float y[vectors][HEDDLE_VECTOR], grad[vectors][HEDDLE_VECTOR];
    heddle_row_load<threads, vectors, aligned>(output + row * shape.cols, cols, 0, y);
    heddle_row_load<threads, vectors, aligned>(grad_output + row * shape.cols, cols, 0, grad);

    float sum = heddle_group_sum<threads>(thread_sum<vectors, logarithm>(y, grad), of_warp);
    to_gradient<vectors, logarithm>(y, grad, sum);
    heddle_row_store<threads, vectors, aligned>(grad_input + row * shape.cols, cols, grad);
}

template <bool aligned, bool logarithm>
__global__ void __launch_bounds__(LONG) softmax_backward_long_rows(heddle_rows_shape shape, const float *output,
                                                                   const float *grad_output, float *grad_input)
{
    __shared__ float of_warp[HEDDLE_WARPS];
    size_t at = (size_t)blockIdx.x * shape.cols;
    float y[LONG_VECTORS][HEDDLE_VECTOR], grad[LONG_VECTORS][HEDDLE_VECTOR], sum = 0;
    for (int first = 0; first < shape.cols; first += PIECE) {
        heddle_row_load<LONG, LONG_VECTORS, aligned>(output + at + first, shape.cols - first, 0, y);
        heddle_row_load<LONG, LONG_VECTORS, aligned>(grad_output + at + first, shape.cols - first, 0, grad);
        sum += thread_sum<LONG_VECTORS, logarithm>(y, grad);
    }
    sum = heddle_group_sum<LONG>(sum, of_warp);
    for (int first = 0; first < shape.cols; first += PIECE) {
        heddle_row_load<LONG, LONG_VECTORS, aligned>(output + at + first, shape.cols - first, 0, y);
        heddle_row_load<LONG, LONG_VECTORS, aligned>(grad_output + at + first, shape.cols - first, 0, grad);
        to_gradient<LONG_VECTORS, logarithm>(y, grad, sum);
        heddle_row_store<LONG, LONG_VECTORS, aligned>(grad_input + at + first, shape.cols - first, grad);
    }
}

// --- launching ------------------------------------------------------------------------------------------------------

typedef void forward_kernel(heddle_rows_shape shape, const float *input, float *output);
typedef void backward_kernel(heddle_rows_shape shape, const float *output, const float *grad_output, float *grad_input);

template <bool logarithm> static heddle_status launch_forward(const heddle_call *call)
{
#define KERNELS(threads, vectors)                                                                                      \
    {                                                                                                                  \
        softmax_in_registers<threads, vectors, false, logarithm>,                                                      \
            softmax_in_registers<threads, vectors, true, logarithm>                                                    \
    }
    static forward_kernel *const kernels[][2] = {HEDDLE_ROW_GROUPS(KERNELS)};
#undef KERNELS
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    bool aligned = shape->cols % HEDDLE_VECTOR == 0 && heddle_aligned16(input) && heddle_aligned16(output);
    int group = heddle_row_group_of(shape->cols);
    if (shape->rows == 0 || shape->cols == 0)
        return HEDDLE_OK;
    if (group >= 0)
        kernels[group][aligned]<<<heddle_row_blocks(group, shape->rows), heddle_row_threads(group), 0,
                                  heddle_cuda_stream_of(call)>>>(*shape, input, output);
    else
        (aligned ? softmax_long_rows<true, logarithm>
                 : softmax_long_rows<false, logarithm>)<<<shape->rows, LONG, 0, heddle_cuda_stream_of(call)>>>(
            *shape, input, output);
    return heddle_cuda_launched("04_vectorised");
}

template <bool logarithm> static heddle_status launch_backward(const heddle_call *call)
{
#define KERNELS(threads, vectors)                                                                                      \
    {                                                                                                                  \
        softmax_backward_in_registers<threads, vectors, false, logarithm>,                                             \
            softmax_backward_in_registers<threads, vectors, true, logarithm>                                           \
    }
    static backward_kernel *const kernels[][2] = {HEDDLE_ROW_GROUPS(KERNELS)};
#undef KERNELS
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    const float *output = (const float *)call->input[0], *grad_output = (const float *)call->input[1];
    float *grad_input = (float *)call->output[0];
    bool aligned = shape->cols % HEDDLE_VECTOR == 0 && heddle_aligned16(output) && heddle_aligned16(grad_output) &&
                   heddle_aligned16(grad_input);
    int group = heddle_row_group_of(shape->cols);
    if (shape->rows == 0 || shape->cols == 0)
        return HEDDLE_OK;
    if (group >= 0)
        kernels[group][aligned]<<<heddle_row_blocks(group, shape->rows), heddle_row_threads(group), 0,
                                  heddle_cuda_stream_of(call)>>>(*shape, output, grad_output, grad_input);
    else
        (aligned ? softmax_backward_long_rows<true, logarithm>
                 : softmax_backward_long_rows<false, logarithm>)<<<shape->rows, LONG, 0, heddle_cuda_stream_of(call)>>>(
            *shape, output, grad_output, grad_input);
    return heddle_cuda_launched("04_vectorised");
}

heddle_status heddle_softmax_forward_vectorised(const heddle_call *call)
{
    return launch_forward<false>(call);
}

heddle_status heddle_log_softmax_forward_vectorised(const heddle_call *call)
{
    return launch_forward<true>(call);
}

heddle_status heddle_softmax_backward_vectorised(const heddle_call *call)
{
    return launch_backward<false>(call);
}

heddle_status heddle_log_softmax_backward_vectorised(const heddle_call *call)
{
    return launch_backward<true>(call);
}

HEDDLE_CUDA_RUNG("softmax_forward", "04_vectorised", heddle_softmax_forward_vectorised)
HEDDLE_CUDA_RUNG("softmax_backward", "04_vectorised", heddle_softmax_backward_vectorised)
HEDDLE_CUDA_RUNG("log_softmax_forward", "04_vectorised", heddle_log_softmax_forward_vectorised)
HEDDLE_CUDA_RUNG("log_softmax_backward", "04_vectorised", heddle_log_softmax_backward_vectorised)

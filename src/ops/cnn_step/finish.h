// Last kernel of a cnn_step: adds up what the blocks of the others left, in a fixed order, and writes gradients of the
// mean loss in the layers' own layouts, loss, right answers, and running statistics.
//
// conv1's gradient is not left as such. With dz the gradient of batchnorm 1's output and u its normalised input, the
// gradient of conv1's output is gamma * inverse_std * (dz - mean(dz) - u * mean(dz * u)). Multiplied by the pixel x
// under a tap and added up over the batch, that takes the sums of dz, of dz * x, of x, and of x times other taps' x:
// backward.h left the first two over the windows' winners, where alone dz is not zero, forward.h the others. What is
// subtracted is large beside what is left, so it is done in double.
//
// Reads all partial sums, statistics and moments, conv1_weight, gamma1. Writes everything that the operator gives.
//
// Work: a block is one of these:
//   CNN_CHANNELS1               a channel of conv1 and batchnorm 1
//   1                           batchnorm 2, running statistics, the convolutions' biases, whose gradients are zero
//   CNN_FINISH_HEAD_BLOCKS      CNN_FINISH_COLUMNS elements of what head.h left, added up by eight warps
//   CNN_FINISH_HIDDEN_BLOCKS    half a row of hidden_weight's gradient, turned in shared memory
//   CNN_FINISH_CONV2_BLOCKS     as of head.h's, elements of conv2's gradient
// Only the first and the last need what backward.h left. The others do their work on multiprocessors that it has left
// already, or never had, and wait for its end when they have done.
//
// Half precision may overflow. Then every gradient becomes NaN, by which an optimiser knows to leave the parameter and
// its moments as they were: the last block to end looks at a flag that any block may have raised.
//
// Limited by: latency of a few trips to L2, where the partial sums still are: 10 MB of conv2's from 132 blocks, 1.6 MB
// of the hidden layer's for each part that its batch was cut into.
#ifndef HEDDLE_OPS_CNN_STEP_FINISH_H
#define HEDDLE_OPS_CNN_STEP_FINISH_H

#include <math.h>

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/layout.h"
#include "ops/cuda/dependent.h"

enum {
    CNN_FINISH_WARPS = 8,
    CNN_FINISH_THREADS = CNN_FINISH_WARPS * 32,
    CNN_FINISH_RESIDENT = 5, // blocks of a multiprocessor: all that there are at once
    CNN_FINISH_COUNTER = 3,  // of workspace.counters: blocks that are done
    CNN_OVERFLOW_FLAG = 4,   // likewise: not zero when a gradient is not finite

    CNN_FINISH_COLUMNS = 64, // two a lane: 8 bytes a load, and blocks enough for every multiprocessor
    CNN_FINISH_CONV2_BLOCKS = CNN_CHANNELS2 * CNN_PATCH / CNN_FINISH_COLUMNS,
    CNN_FINISH_HEAD_BLOCKS = (CNN_HEAD_PARTIAL + CNN_FINISH_COLUMNS - 1) / CNN_FINISH_COLUMNS,
    CNN_FINISH_CHANNELS = CNN_CHANNELS2 / 2, // of half a row of hidden_weight
    CNN_FINISH_HIDDEN_BLOCKS = CNN_HIDDEN * 2,

    CNN_STEM_GROUPS = CNN_FINISH_THREADS / CNN_STEM_SUMS, // threads that share the adding up of one of a channel's sums
};

// --- writing ---------------------------------------------------------------------------------------------------------

// Stores a gradient, and says whether it may be used.
CNN_DEVICE bool cnn_write_gradient(float *to, float value)
{
    *to = value;
    return isfinite(value);
}

CNN_DEVICE void cnn_void(float *values, int count)
{
    for (int i = threadIdx.x; values && i < count; i += CNN_FINISH_THREADS)
        values[i] = NAN;
}

// By one block: rare, so it may take its time.
CNN_DEVICE void cnn_void_gradients(const heddle_cnn_step_gradients &gradients, int classes)
{
    cnn_void(gradients.conv1_weight, CNN_CHANNELS1 * CNN_TAPS);
    cnn_void(gradients.conv1_bias, CNN_CHANNELS1);
    cnn_void(gradients.gamma1, CNN_CHANNELS1);
    cnn_void(gradients.beta1, CNN_CHANNELS1);
    cnn_void(gradients.conv2_weight, CNN_CHANNELS2 * CNN_PATCH);
    cnn_void(gradients.conv2_bias, CNN_CHANNELS2);
    cnn_void(gradients.gamma2, CNN_CHANNELS2);
    cnn_void(gradients.beta2, CNN_CHANNELS2);
    cnn_void(gradients.hidden_weight, CNN_HIDDEN * CNN_FEATURES);
    cnn_void(gradients.hidden_bias, CNN_HIDDEN);
    cnn_void(gradients.output_weight, classes * CNN_HIDDEN);
    cnn_void(gradients.output_bias, classes);
}

// --- conv1 and batchnorm 1 -------------------------------------------------------------------------------------------

// One channel's sums over all blocks of backward.h, into sums[CNN_STEM_SUMS], each divided by `divisor`.
CNN_DEVICE void cnn_add_stem_sums(const float *partial, int blocks, int channel, double divisor, double *sums)
{
    enum { AHEAD = 6 }; // loads on their way at once: of 150 blocks all
    __shared__ double groups[CNN_STEM_GROUPS][CNN_STEM_SUMS];
    const int which = threadIdx.x % CNN_STEM_SUMS, group = threadIdx.x / CNN_STEM_SUMS;
    if (group < CNN_STEM_GROUPS) {
        double sum = 0;
        for (int first = group; first < blocks; first += AHEAD * CNN_STEM_GROUPS) {
            float values[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                const int block = first + i * CNN_STEM_GROUPS;
                values[i] =
                    block < blocks ? partial[((size_t)block * CNN_CHANNELS1 + channel) * CNN_STEM_SUMS + which] : 0.0f;
            }
#pragma unroll
            for (int i = 0; i < AHEAD; i++)
                sum += values[i];
        }
        groups[group][which] = sum;
    }
    __syncthreads();
    if (threadIdx.x < CNN_STEM_SUMS) {
        double sum = 0;
#pragma unroll
        for (int i = 0; i < CNN_STEM_GROUPS; i++)
            sum += groups[i][threadIdx.x];
        sums[threadIdx.x] = sum / divisor;
    }
    __syncthreads();
}

// What needs nothing of backward.h is done before the wait for it.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE bool cnn_finish_stem(const Arguments &arguments, int channel)
{
    __shared__ double sums[CNN_STEM_SUMS];
    const double white = 255.0, inverse_places = 1 / ((double)arguments.n * CNN_PIXELS);
    const heddle_cnn_step_gradients &gradients = arguments.operands.gradients;
    const double *moments = arguments.workspace.stem_moments;
    const float *statistics = arguments.workspace.stem_statistics;
    const double mean = statistics[channel], inverse_std = statistics[CNN_CHANNELS1 + channel];
    const int tap = threadIdx.x % CNN_TAPS;
    const double moment = moments[tap];
    double weight[CNN_TAPS], cross = -mean * moment; // becomes the sum of u * x under this tap
#pragma unroll
    for (int i = 0; i < CNN_TAPS; i++) {
        weight[i] = arguments.operands.parameters.conv1_weight[channel * CNN_TAPS + i] / white;
        cross += weight[i] * moments[i < tap ? CNN_MOMENT(i, tap) : CNN_MOMENT(tap, i)];
    }
    cross *= inverse_std;
    const double scale = arguments.operands.parameters.gamma1[channel] * inverse_std / white;
    heddle_wait_for_previous();
    heddle_release_next();
    cnn_add_stem_sums(arguments.workspace.stem_sums_partial, arguments.backward_blocks, channel,
                      (double)arguments.n * Arithmetic::gradient_scale, sums);
    if (threadIdx.x >= CNN_TAPS)
        return true;

    const double grad = sums[CNN_TAPS]; // sum of dz
    double product = -mean * grad;      // becomes the sum of dz * u
#pragma unroll
    for (int i = 0; i < CNN_TAPS; i++)
        product += weight[i] * sums[i];
    product *= inverse_std;
    const double value = scale * (sums[tap] - (grad * moment + product * cross) * inverse_places);
    bool finite = cnn_write_gradient(gradients.conv1_weight + channel * CNN_TAPS + tap, (float)value);
    if (tap == 0) {
        finite &= cnn_write_gradient(gradients.gamma1 + channel, (float)product);
        finite &= cnn_write_gradient(gradients.beta1 + channel, (float)grad);
    }
    return finite;
}

// --- batchnorm 2 and statistics --------------------------------------------------------------------------------------

// `running` moves towards the batch's value. Either may have a bias that the convolution left out.
CNN_DEVICE void cnn_run_on(float *running, int channel, float value, float momentum)
{
    if (running)
        running[channel] += momentum * (value - running[channel]);
}

// Batchnorm divides by the number of values, running statistics by one less.
CNN_DEVICE float cnn_unbiased(float variance, int n, int pixels)
{
    const double places = (double)n * pixels;
    return (float)(variance * (places / (places - 1)));
}

template <typename Arithmetic, typename Arguments> CNN_DEVICE bool cnn_finish_channels(const Arguments &arguments)
{
    const heddle_cnn_step_operands &operands = arguments.operands;
    const float momentum = arguments.momentum, inverse = 1.0f / (arguments.n * Arithmetic::gradient_scale);
    const int channel = threadIdx.x;
    bool finite = true;
    if (channel < CNN_CHANNELS1) {
        const float *statistics = arguments.workspace.stem_statistics;
        const float bias = operands.parameters.conv1_bias ? operands.parameters.conv1_bias[channel] : 0.0f;
        const float variance = statistics[2 * CNN_CHANNELS1 + channel];
        cnn_run_on(operands.running_mean1, channel, statistics[channel] + bias, momentum);
        cnn_run_on(operands.running_var1, channel, cnn_unbiased(variance, arguments.n, CNN_PIXELS), momentum);
        if (operands.gradients.conv1_bias)
            operands.gradients.conv1_bias[channel] = 0.0f; // batchnorm subtracts whatever the bias adds
    }
    if (channel < CNN_CHANNELS2) {
        const cnn_statistics *statistics = arguments.workspace.statistics2;
        const float *sums = arguments.workspace.sums2;
        const float bias = operands.parameters.conv2_bias ? operands.parameters.conv2_bias[channel] : 0.0f;
        const float variance = statistics->variance[channel];
        cnn_run_on(operands.running_mean2, channel, statistics->mean[channel] + bias, momentum);
        cnn_run_on(operands.running_var2, channel, cnn_unbiased(variance, arguments.n, CNN_PIXELS1), momentum);
        if (operands.gradients.conv2_bias)
            operands.gradients.conv2_bias[channel] = 0.0f;
        finite &= cnn_write_gradient(operands.gradients.beta2 + channel, sums[channel] * inverse);
        finite &= cnn_write_gradient(operands.gradients.gamma2 + channel, sums[CNN_CHANNELS2 + channel] * inverse);
    }
    return finite;
}

// --- sums of rows ----------------------------------------------------------------------------------------------------

// Two columns a lane of (rows, pitch), added up over the rows by all warps; the sums are the first warp's.
CNN_DEVICE float2 cnn_add_rows(const float *partial, int rows, int pitch, int column, bool inside)
{
    enum { AHEAD = 9 }; // loads of a lane on their way at once: half of those of 132 rows
    __shared__ float2 parts[CNN_FINISH_WARPS][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float2 sum = make_float2(0.0f, 0.0f);
    for (int first = warp; inside && first < rows; first += AHEAD * CNN_FINISH_WARPS) {
        float2 two[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const int row = first + i * CNN_FINISH_WARPS;
            two[i] = row < rows ? *(const float2 *)(partial + (size_t)row * pitch + column) : make_float2(0.0f, 0.0f);
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            sum.x += two[i].x, sum.y += two[i].y;
    }
    parts[warp][lane] = sum;
    __syncthreads();
    for (int i = 1; warp == 0 && i < CNN_FINISH_WARPS; i++) {
        sum.x += parts[i][lane].x;
        sum.y += parts[i][lane].y;
    }
    return sum;
}

// (64 out, 9 taps, 32 in) to (64 out, 32 in, 9 taps)
template <typename Arithmetic, typename Arguments>
CNN_DEVICE bool cnn_finish_conv2(const Arguments &arguments, int block)
{
    const int column = block * CNN_FINISH_COLUMNS + threadIdx.x % 32 * 2;
    const float2 sum = cnn_add_rows(arguments.workspace.grad_conv2_partial, arguments.backward_blocks,
                                    CNN_CHANNELS2 * CNN_PATCH, column, true);
    if (threadIdx.x >= 32)
        return true;
    const float inverse = 1.0f / (arguments.n * Arithmetic::gradient_scale);
    const int out = column / CNN_PATCH, tap = column % CNN_PATCH / CNN_CHANNELS1, in = column % CNN_CHANNELS1;
    float *to = arguments.operands.gradients.conv2_weight + (out * CNN_CHANNELS1 + in) * CNN_TAPS + tap;
    const bool first = cnn_write_gradient(to, sum.x * inverse);
    return cnn_write_gradient(to + CNN_TAPS, sum.y * inverse) && first;
}

// One sum of head.h's goes where it belongs.
template <typename Arguments> CNN_DEVICE bool cnn_write_head(const Arguments &arguments, int column, float sum)
{
    const heddle_cnn_step_operands &operands = arguments.operands;
    const float mean = sum / arguments.n;
    if (column < arguments.classes * CNN_HIDDEN)
        return cnn_write_gradient(operands.gradients.output_weight + column, mean);
    if (column >= CNN_HEAD_HIDDEN_BIAS && column < CNN_HEAD_OUTPUT_BIAS)
        return cnn_write_gradient(operands.gradients.hidden_bias + column - CNN_HEAD_HIDDEN_BIAS, mean);
    if (column >= CNN_HEAD_OUTPUT_BIAS && column < CNN_HEAD_OUTPUT_BIAS + arguments.classes)
        return cnn_write_gradient(operands.gradients.output_bias + column - CNN_HEAD_OUTPUT_BIAS, mean);
    if (column == CNN_HEAD_LOSS)
        *operands.loss = mean;
    if (column == CNN_HEAD_CORRECT)
        *operands.correct = (int32_t)sum;
    return true;
}

// Columns of classes that there are not were never written: whether a pair of columns is.
CNN_DEVICE bool cnn_is_head_column(int column, int classes)
{
    return column < classes * CNN_HIDDEN ||
           (column >= CNN_HEAD_HIDDEN_BIAS && column < CNN_HEAD_OUTPUT_BIAS + classes) ||
           (column >= CNN_HEAD_LOSS && column < CNN_HEAD_PARTIAL);
}

template <typename Arguments> CNN_DEVICE bool cnn_finish_head(const Arguments &arguments, int head_blocks, int block)
{
    const int column = block * CNN_FINISH_COLUMNS + threadIdx.x % 32 * 2;
    const float2 sum = cnn_add_rows(arguments.workspace.head_partial, head_blocks, CNN_HEAD_PARTIAL, column,
                                    cnn_is_head_column(column, arguments.classes));
    if (threadIdx.x >= 32)
        return true;
    const bool first = cnn_write_head(arguments, column, sum.x);
    return cnn_write_head(arguments, column + 1, sum.y) && first;
}

// --- the hidden layer's weight ---------------------------------------------------------------------------------------

// Half the channels of one row, from (pixel, channel) to (channel, pixel).
template <typename Arithmetic, typename Arguments>
CNN_DEVICE bool cnn_finish_hidden(const Arguments &arguments, int splits, int block)
{
    __shared__ float tile[CNN_FINISH_CHANNELS * CNN_PIXELS2]; // 49 is odd: neither way do two lanes meet in a bank
    const float inverse = 1.0f / (arguments.n * Arithmetic::gradient_scale);
    const int row = block / 2, first = block % 2 * CNN_FINISH_CHANNELS, lane = threadIdx.x % 32;
    const float *partial = arguments.workspace.grad_hidden_partial + (size_t)row * CNN_FEATURES + first + lane;
    bool finite = true;
#pragma unroll
    for (int i = 0; i < CNN_PIXELS2; i += CNN_FINISH_WARPS) {
        const int pixel = i + threadIdx.x / 32;
        float sum = 0.0f;
        for (int split = 0; pixel < CNN_PIXELS2 && split < splits; split++)
            sum += partial[(size_t)split * CNN_HIDDEN * CNN_FEATURES + pixel * CNN_CHANNELS2];
        if (pixel < CNN_PIXELS2)
            tile[lane * CNN_PIXELS2 + pixel] = sum * inverse;
    }
    __syncthreads();
    float *to = arguments.operands.gradients.hidden_weight + (size_t)row * CNN_FEATURES + first * CNN_PIXELS2;
    for (int i = threadIdx.x; i < CNN_FINISH_CHANNELS * CNN_PIXELS2; i += CNN_FINISH_THREADS)
        finite &= cnn_write_gradient(to + i, tile[i]);
    return finite;
}

// --- the kernel ------------------------------------------------------------------------------------------------------

// After everything a block does, where gradients may overflow.
template <typename Arguments> CNN_DEVICE void cnn_finish_check(const Arguments &arguments, bool finite)
{
    unsigned *counters = arguments.workspace.counters;
    __shared__ bool all_done;
    const bool overflow = __syncthreads_or(!finite);
    if (threadIdx.x == 0) {
        if (overflow)
            atomicOr(counters + CNN_OVERFLOW_FLAG, 1u);
        __threadfence();
        all_done = atomicAdd(counters + CNN_FINISH_COUNTER, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (all_done && atomicOr(counters + CNN_OVERFLOW_FLAG, 0u))
        cnn_void_gradients(arguments.operands.gradients, arguments.classes);
}

template <typename Arithmetic>
static __global__ void __launch_bounds__(CNN_FINISH_THREADS, CNN_FINISH_RESIDENT)
    cnn_finish(cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments, cnn_cuts cuts)
{
    const int others = 1 + CNN_FINISH_HEAD_BLOCKS + CNN_FINISH_HIDDEN_BLOCKS, block = (int)blockIdx.x - CNN_CHANNELS1;
    bool finite;
    if (block < 0) {
        finite = cnn_finish_stem<Arithmetic>(arguments, blockIdx.x);
    } else if (block >= others) {
        heddle_wait_for_previous();
        heddle_release_next();
        finite = cnn_finish_conv2<Arithmetic>(arguments, block - others);
    } else {
        if (block == 0)
            finite = cnn_finish_channels<Arithmetic>(arguments);
        else if (block <= CNN_FINISH_HEAD_BLOCKS)
            finite = cnn_finish_head(arguments, cuts.head_blocks, block - 1);
        else
            finite = cnn_finish_hidden<Arithmetic>(arguments, cuts.backward_splits, block - 1 - CNN_FINISH_HEAD_BLOCKS);
        heddle_wait_for_previous();
        heddle_release_next();
    }
    if (Arithmetic::gradient_scale != 1.0f)
        cnn_finish_check(arguments, finite);
}

template <typename Arithmetic>
static cudaError_t
cnn_launch_finish(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
                  cudaStream_t stream)
{
    const unsigned blocks =
        CNN_CHANNELS1 + 1 + CNN_FINISH_CONV2_BLOCKS + CNN_FINISH_HEAD_BLOCKS + CNN_FINISH_HIDDEN_BLOCKS;
    return heddle_cuda_launch_dependent(cnn_finish<Arithmetic>, blocks, CNN_FINISH_THREADS, 0, stream, arguments,
                                        cnn_cuts_of(arguments.n));
}

#endif

// Last kernel of a cnn_step: adds the partial sums of the other kernels' blocks in a fixed order, and writes gradients
// of the mean loss in the layers' own layouts, loss, correct answers, and running statistics.
//
// conv1's gradient is not stored as such. With dz the gradient of batchnorm 1's output and u its normalised input, the
// gradient of conv1's output is gamma * inverse_std * (dz - mean(dz) - u * mean(dz * u)). Multiplied by the pixel x
// under a tap and summed over the batch, that takes the sums of dz, of dz * x, of x, and of x times other taps' x:
// backward.h left the first two over the windows' winners, the only places where dz is not zero, forward.h the others.
// What is subtracted is large compared with the result, so it is done in double.
//
// Reads all partial sums, statistics and moments, conv1_weight, gamma1. Writes all outputs of the operator.
//
// In cnn_train no gradient is written. The thread that has one takes the optimiser's step with it, and, if another step
// follows, packs the new weight as prepare.h does. Parameters and moments are in flight before the sums are. The block
// that has the loss also does the work of step_end: tally, cursor, hyper-parameters. The blocks that have conv1 end
// first: they fold batchnorm 1 into it for the next step, whose moments head.h has computed already, so that forward.h
// can begin at once.
//
// A block is one of these:
//   CNN_CHANNELS1               a channel of conv1 and batchnorm 1
//   1                           batchnorm 2, running statistics, the convolutions' biases, whose gradients are zero
//   CNN_FINISH_HEAD_BLOCKS      CNN_FINISH_COLUMNS elements of head.h's sums, added by eight warps
//   CNN_FINISH_HIDDEN_BLOCKS    half a row of hidden_weight's gradient, transposed in shared memory
//   CNN_FINISH_CONV2_BLOCKS     three taps of an output channel of conv2's gradient
// Only the first and the last need backward.h's results, and batchnorm 2's parameters are read there. The others run on
// SMs that it has already left or never used, and wait for its end when they are done.
//
// Half precision may overflow. Then every gradient becomes NaN, which tells an optimiser to leave the parameter and its
// moments unchanged: the last block to end checks a flag that any block may have set.
//
// Limited by: latency of a few trips to L2, where the partial sums still are: 10 MB of conv2's from 132 blocks, 1.6 MB
// of the hidden layer's for each part of its batch.
#pragma once

#include <math.h>

#include "ops/cnn_step/forward_stem.h"
#include "ops/cnn_step/update.h"
#include "ops/cuda/dependent.h"

// --- overflow --------------------------------------------------------------------------------------------------------

CNN_DEVICE void cnn_fill_nan(float *values, int count)
{
    for (int i = threadIdx.x; values && i < count; i += CNN_FINISH_THREADS)
        values[i] = NAN;
}

// By one block: rare, so it may be slow.
CNN_DEVICE void cnn_invalidate_gradients(const heddle_cnn_step_gradients &gradients, int classes)
{
    cnn_fill_nan(gradients.conv1_weight, CNN_CHANNELS1 * CNN_TAPS);
    cnn_fill_nan(gradients.conv1_bias, CNN_CHANNELS1);
    cnn_fill_nan(gradients.gamma1, CNN_CHANNELS1);
    cnn_fill_nan(gradients.beta1, CNN_CHANNELS1);
    cnn_fill_nan(gradients.conv2_weight, CNN_CHANNELS2 * CNN_PATCH);
    cnn_fill_nan(gradients.conv2_bias, CNN_CHANNELS2);
    cnn_fill_nan(gradients.gamma2, CNN_CHANNELS2);
    cnn_fill_nan(gradients.beta2, CNN_CHANNELS2);
    cnn_fill_nan(gradients.hidden_weight, CNN_HIDDEN * CNN_FEATURES);
    cnn_fill_nan(gradients.hidden_bias, CNN_HIDDEN);
    cnn_fill_nan(gradients.output_weight, classes * CNN_HIDDEN);
    cnn_fill_nan(gradients.output_bias, classes);
}

// --- conv1 and batchnorm 1 -------------------------------------------------------------------------------------------

// One channel's sums over all blocks of backward.h, into sums[CNN_STEM_SUMS], each times `factor`.
CNN_DEVICE void cnn_add_stem_sums(const float *partial, int blocks, int channel, double factor, double *sums)
{
    enum { AHEAD = 6 }; // loads in flight: all of 150 blocks
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
        sums[threadIdx.x] = sum * factor;
    }
    __syncthreads();
}

// A channel for the next step, which finds it folded (see forward_stem.h). This is the first half, before the channel's
// new weight is known: the moments of the next batch, from head.h.
template <typename Arguments>
CNN_DEVICE void cnn_finish_moments(const Arguments &arguments, int channel, double *moments)
{
    enum { PARTS = cnn_moment_parts<CNN_FINISH_THREADS>::PARTS };
    __shared__ __align__(16) unsigned long long parts[PARTS][CNN_MOMENTS];
    cnn_stem_add_moments<CNN_FINISH_THREADS>(arguments, parts, threadIdx.x);
    __syncthreads();
    cnn_stem_end_moments<CNN_FINISH_THREADS>(parts, moments, channel == 0 ? arguments.workspace.next_moments : NULL);
}

// The second half, by one warp: `fresh` are the channel's new weights, gamma and beta.
template <typename Arguments>
CNN_DEVICE void cnn_finish_fold(const Arguments &arguments, int channel, const float *fresh, const double *moments)
{
    const double inverse = 1 / ((double)arguments.n * CNN_PIXELS);
    const cnn_stem_channel_folded folded =
        cnn_stem_fold_channel(fresh, fresh[CNN_TAPS], fresh[CNN_TAPS + 1], moments, inverse, arguments.epsilon);
    float(*to)[CNN_CHANNELS1] = (float(*)[CNN_CHANNELS1])(arguments.workspace.folded + channel);
    if (threadIdx.x < CNN_TAPS - 1)
        to[threadIdx.x][0] = folded.own;
    if (threadIdx.x == 0) {
        to[CNN_TAPS - 1][0] = folded.ninth, to[CNN_FOLDED_BIAS][0] = folded.bias;
        to[CNN_FOLDED_MEAN][0] = folded.mean, to[CNN_FOLDED_INVERSE_STD][0] = folded.inverse_std;
        to[CNN_FOLDED_VARIANCE][0] = folded.variance;
    }
}

// Everything that does not depend on backward.h is done before the wait for it.
template <typename Arithmetic, cnn_optimizer Update, typename Arguments>
CNN_DEVICE bool cnn_finish_stem(const Arguments &arguments, int channel)
{
    __shared__ double sums[CNN_STEM_SUMS], next_moments[CNN_MOMENTS];
    __shared__ float fresh[CNN_TAPS + 2];
    const bool fold = Update != CNN_NO_UPDATE && arguments.training.another;
    if (fold)
        cnn_finish_moments(arguments, channel, next_moments);
    const double inverse_white = 1 / 255.0, inverse_n = 1 / (double)arguments.n;
    const double inverse_places = inverse_n * (1.0 / CNN_PIXELS);
    const heddle_cnn_step_gradients &gradients = arguments.operands.gradients;
    const double *moments = arguments.workspace.stem_moments;
    const float *statistics = arguments.workspace.stem_statistics;
    const double mean = statistics[channel], inverse_std = statistics[CNN_CHANNELS1 + channel];
    const int tap = threadIdx.x % CNN_TAPS;
    const double moment = moments[tap];
    double weight[CNN_TAPS], cross = -mean * moment; // becomes the sum of u * x under this tap
#pragma unroll
    for (int i = 0; i < CNN_TAPS; i++) {
        weight[i] = arguments.operands.parameters.conv1_weight[channel * CNN_TAPS + i] * inverse_white;
        cross += weight[i] * moments[i < tap ? CNN_MOMENT(i, tap) : CNN_MOMENT(tap, i)];
    }
    cross *= inverse_std;
    const double scale = arguments.operands.parameters.gamma1[channel] * inverse_std * inverse_white;
    const cnn_finish_hyper hyper = cnn_finish_hyper_of<Update>(arguments);
    const cnn_finish_element conv1 =
        cnn_finish_element_of<Update>(arguments, gradients.conv1_weight + channel * CNN_TAPS + tap);
    const cnn_finish_element gamma1 = cnn_finish_element_of<Update>(arguments, gradients.gamma1 + channel);
    const cnn_finish_element beta1 = cnn_finish_element_of<Update>(arguments, gradients.beta1 + channel);
    heddle_wait_for_previous();
    cnn_add_stem_sums(arguments.workspace.stem_sums_partial, arguments.backward_blocks, channel,
                      inverse_n * (1.0 / Arithmetic::gradient_scale), sums);
    if (threadIdx.x >= 32)
        return true;

    const double grad = sums[CNN_TAPS]; // sum of dz
    double product = -mean * grad;      // becomes the sum of dz * u
#pragma unroll
    for (int i = 0; i < CNN_TAPS; i++)
        product += weight[i] * sums[i];
    product *= inverse_std;
    const double value = scale * (sums[tap] - (grad * moment + product * cross) * inverse_places);
    bool finite = true;
    if (threadIdx.x < CNN_TAPS)
        fresh[tap] = cnn_finish_write<Update>(arguments, hyper, conv1, (float)value), finite = isfinite(fresh[tap]);
    if (threadIdx.x == 0) {
        fresh[CNN_TAPS] = cnn_finish_write<Update>(arguments, hyper, gamma1, (float)product);
        fresh[CNN_TAPS + 1] = cnn_finish_write<Update>(arguments, hyper, beta1, (float)grad);
        finite &= isfinite(fresh[CNN_TAPS]) && isfinite(fresh[CNN_TAPS + 1]);
    }
    __syncwarp();
    if (fold)
        cnn_finish_fold(arguments, channel, fresh, next_moments);
    return finite;
}

// --- batchnorm 2 and statistics --------------------------------------------------------------------------------------

// Moves `running` towards the batch's value. Either may have a bias that the convolution omitted.
CNN_DEVICE void cnn_run_on(float *running, int channel, float value, float momentum)
{
    if (running)
        running[channel] += momentum * (value - running[channel]);
}

// Batchnorm divides by the number of values, running statistics by one less.
CNN_DEVICE float cnn_unbiased(float variance, int n, int pixels)
{
    return variance + variance / ((float)n * pixels - 1.0f);
}

// Batchnorm subtracts whatever a convolution's bias adds: its gradient is zero.
template <cnn_optimizer Update, typename Arguments>
CNN_DEVICE void cnn_finish_bias(const Arguments &arguments, const cnn_finish_hyper &hyper, float *bias, int channel)
{
    if (bias)
        cnn_finish_write<Update>(arguments, hyper, cnn_finish_element_of<Update>(arguments, bias + channel), 0.0f);
}

template <typename Arithmetic, cnn_optimizer Update, typename Arguments>
CNN_DEVICE bool cnn_finish_channels(const Arguments &arguments)
{
    const heddle_cnn_step_operands &operands = arguments.operands;
    const float momentum = arguments.momentum, inverse = 1.0f / (arguments.n * Arithmetic::gradient_scale);
    const cnn_finish_hyper hyper = cnn_finish_hyper_of<Update>(arguments);
    const int channel = threadIdx.x;
    bool finite = true;
    if (channel < CNN_CHANNELS1) {
        const float *statistics = arguments.workspace.stem_statistics;
        const float bias = operands.parameters.conv1_bias ? operands.parameters.conv1_bias[channel] : 0.0f;
        const float variance = statistics[2 * CNN_CHANNELS1 + channel];
        cnn_run_on(operands.running_mean1, channel, statistics[channel] + bias, momentum);
        cnn_run_on(operands.running_var1, channel, cnn_unbiased(variance, arguments.n, CNN_PIXELS), momentum);
        cnn_finish_bias<Update>(arguments, hyper, operands.gradients.conv1_bias, channel);
    }
    if (channel < CNN_CHANNELS2) {
        const cnn_statistics *statistics = arguments.workspace.statistics2;
        const float bias = operands.parameters.conv2_bias ? operands.parameters.conv2_bias[channel] : 0.0f;
        const float variance = statistics->variance[channel];
        cnn_run_on(operands.running_mean2, channel, statistics->mean[channel] + bias, momentum);
        cnn_run_on(operands.running_var2, channel, cnn_unbiased(variance, arguments.n, CNN_PIXELS1), momentum);
        cnn_finish_bias<Update>(arguments, hyper, operands.gradients.conv2_bias, channel);
    }
    cnn_finish_element gamma2 = {}, beta2 = {};
    float grad_gamma2 = 0, grad_beta2 = 0;
    if (channel < CNN_CHANNELS2) {
        gamma2 = cnn_finish_element_of<Update>(arguments, operands.gradients.gamma2 + channel);
        beta2 = cnn_finish_element_of<Update>(arguments, operands.gradients.beta2 + channel);
    }
    heddle_wait_for_previous(); // backward.h reads gamma2 and the counters, and leaves sums2
    if (channel < CNN_CHANNELS2) {
        grad_beta2 = arguments.workspace.sums2[channel] * inverse;
        grad_gamma2 = arguments.workspace.sums2[CNN_CHANNELS2 + channel] * inverse;
        finite &= isfinite(cnn_finish_write<Update>(arguments, hyper, beta2, grad_beta2));
        finite &= isfinite(cnn_finish_write<Update>(arguments, hyper, gamma2, grad_gamma2));
    }
    if (Update != CNN_NO_UPDATE && channel < CNN_COUNTERS)
        arguments.workspace.counters[channel] = 0;
    return finite;
}

// --- sums of rows ----------------------------------------------------------------------------------------------------

// Two columns per lane of (rows, pitch), added over the rows by all warps; the first warp has the sums.
CNN_DEVICE float2 cnn_add_rows(const float *partial, int rows, int pitch, int column, bool inside)
{
    enum { AHEAD = 9 }; // loads in flight per lane: half of 132 rows
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

// --- conv2's weight --------------------------------------------------------------------------------------------------

// The sum over all rows of element threadIdx.x of a third, for the first CNN_FINISH_THIRD threads.
CNN_DEVICE float cnn_add_third(const float *partial, int rows)
{
    enum { AHEAD = 7 }; // loads in flight per thread: half of 132 rows
    __shared__ float4 parts[CNN_FINISH_ROWS][CNN_FINISH_QUADS];
    const int quad = threadIdx.x % CNN_FINISH_QUADS, group = threadIdx.x / CNN_FINISH_QUADS;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int first = group; group < CNN_FINISH_ROWS && first < rows; first += AHEAD * CNN_FINISH_ROWS) {
        float4 four[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const int row = first + i * CNN_FINISH_ROWS;
            four[i] = row < rows ? *(const float4 *)(partial + (size_t)row * CNN_CHANNELS2 * CNN_PATCH + quad * 4)
                                 : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            sum.x += four[i].x, sum.y += four[i].y, sum.z += four[i].z, sum.w += four[i].w;
    }
    if (group < CNN_FINISH_ROWS)
        parts[group][quad] = sum;
    __syncthreads();
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < CNN_FINISH_ROWS; i++)
        total += threadIdx.x < CNN_FINISH_THIRD ? ((const float *)parts[i])[threadIdx.x] : 0.0f;
    return total;
}

// (64 out, 9 taps, 32 in) to (64 out, 32 in, 9 taps)
template <typename Arithmetic, cnn_optimizer Update, typename Arguments>
CNN_DEVICE bool cnn_finish_conv2(const Arguments &arguments, int block)
{
    const int out = block / CNN_FINISH_THIRDS, first = block % CNN_FINISH_THIRDS * CNN_FINISH_THIRD;
    const int along = first + (int)threadIdx.x, tap = along / CNN_CHANNELS1, in = along % CNN_CHANNELS1;
    const bool own = threadIdx.x < CNN_FINISH_THIRD;
    float *const channel = arguments.operands.gradients.conv2_weight + out * CNN_PATCH;
    const cnn_finish_hyper hyper = cnn_finish_hyper_of<Update>(arguments);
    cnn_finish_element element = {};
    if (own)
        element = cnn_finish_element_of<Update>(arguments, channel + in * CNN_TAPS + tap);
    heddle_wait_for_previous();
    heddle_release_next();
    const float sum =
        cnn_add_third(arguments.workspace.grad_conv2_partial + out * CNN_PATCH + first, arguments.backward_blocks);
    float written = 0.0f;
    if (own)
        written = cnn_finish_write<Update>(arguments, hyper, element,
                                           sum * (1.0f / (arguments.n * Arithmetic::gradient_scale)));
    if (Update != CNN_NO_UPDATE && arguments.training.another && own)
        cnn_repack_conv2<Arithmetic>(arguments, out, along, written);
    return isfinite(written);
}

// --- the head --------------------------------------------------------------------------------------------------------

// What step_end does, by the block that has the step's loss and correct answers.
template <typename Arguments> CNN_DEVICE void cnn_finish_step_end(const Arguments &arguments, float loss, int correct)
{
    const cnn_training &training = arguments.training;
    const heddle_cnn_train_operands &operands = training.operands;
    if (isfinite(loss)) {
        operands.tally[0] += (double)loss * arguments.n;
        operands.tally[1] += correct;
    } else {
        operands.tally[2] += 1;
        operands.tally[3] = loss;
    }
    for (int i = 0; i < HEDDLE_CURSOR_COUNT; i++)
        operands.cursor[i] = training.next[i];
    for (int i = 0; i < HEDDLE_HYPER_COUNT; i++)
        operands.hyper[i] = training.hyper[HEDDLE_HYPER_COUNT + i];
}

// Where a column of head.h's sums belongs; NULL: it is not a gradient.
template <typename Arguments> CNN_DEVICE float *cnn_head_gradient(const Arguments &arguments, int column)
{
    const heddle_cnn_step_gradients &gradients = arguments.operands.gradients;
    if (column < arguments.classes * CNN_HIDDEN)
        return gradients.output_weight + column;
    if (column >= CNN_HEAD_HIDDEN_BIAS && column < CNN_HEAD_OUTPUT_BIAS)
        return gradients.hidden_bias + column - CNN_HEAD_HIDDEN_BIAS;
    if (column >= CNN_HEAD_OUTPUT_BIAS && column < CNN_HEAD_OUTPUT_BIAS + arguments.classes)
        return gradients.output_bias + column - CNN_HEAD_OUTPUT_BIAS;
    return NULL;
}

// Columns of missing classes were never written: whether a pair of columns was.
CNN_DEVICE bool cnn_is_head_column(int column, int classes)
{
    return column < classes * CNN_HIDDEN ||
           (column >= CNN_HEAD_HIDDEN_BIAS && column < CNN_HEAD_OUTPUT_BIAS + classes) ||
           (column >= CNN_HEAD_LOSS && column < CNN_HEAD_PARTIAL);
}

template <cnn_optimizer Update, typename Arguments>
CNN_DEVICE bool cnn_finish_head(const Arguments &arguments, int head_blocks, int block)
{
    const int column = block * CNN_FINISH_COLUMNS + threadIdx.x % 32 * 2;
    const cnn_finish_hyper hyper = cnn_finish_hyper_of<Update>(arguments);
    cnn_finish_element elements[2] = {};
#pragma unroll
    for (int i = 0; i < 2 && threadIdx.x < 32; i++) {
        float *to = cnn_head_gradient(arguments, column + i);
        if (to)
            elements[i] = cnn_finish_element_of<Update>(arguments, to);
    }
    const float2 sum = cnn_add_rows(arguments.workspace.head_partial, head_blocks, CNN_HEAD_PARTIAL, column,
                                    cnn_is_head_column(column, arguments.classes));
    if (threadIdx.x >= 32)
        return true;
    const float means[2] = {sum.x / arguments.n, sum.y / arguments.n};
    bool finite = true;
#pragma unroll
    for (int i = 0; i < 2; i++)
        if (elements[i].to)
            finite &= isfinite(cnn_finish_write<Update>(arguments, hyper, elements[i], means[i]));
    static_assert(CNN_HEAD_LOSS % 2 == 0 && CNN_HEAD_CORRECT == CNN_HEAD_LOSS + 1, "one thread has both");
    if (column == CNN_HEAD_LOSS) {
        *arguments.operands.loss = means[0];
        *arguments.operands.correct = (int32_t)sum.y;
        if (Update != CNN_NO_UPDATE) {
            heddle_wait_for_previous(); // backward.h still reads the cursor
            cnn_finish_step_end(arguments, means[0], (int32_t)sum.y);
        }
    }
    return finite;
}

// --- the hidden layer's weight ---------------------------------------------------------------------------------------

enum {
    CNN_FINISH_HIDDEN_ELEMENTS = CNN_FINISH_CHANNELS * CNN_PIXELS2,
    CNN_FINISH_HIDDEN_TURNS = (CNN_FINISH_HIDDEN_ELEMENTS + CNN_FINISH_THREADS - 1) / CNN_FINISH_THREADS,
};

// The sums over all parts of hidden_backward.h's results for half a row, times `factor`, into tile [channel][pixel].
// partial: a lane's channel of the first part; Ahead: parts in flight
template <int Ahead>
CNN_DEVICE void cnn_add_hidden(const float *partial, int parts, float factor, float *tile, int warp, int lane)
{
    enum { PIXELS = (CNN_PIXELS2 + CNN_FINISH_WARPS - 1) / CNN_FINISH_WARPS }; // per warp
    float sums[PIXELS] = {};
#pragma unroll 1
    for (int part = 0; part < parts; part += Ahead) {
        float values[Ahead][PIXELS];
#pragma unroll
        for (int j = 0; j < Ahead; j++)
#pragma unroll
            for (int i = 0; i < PIXELS; i++) {
                const int pixel = i * CNN_FINISH_WARPS + warp;
                values[j][i] =
                    pixel < CNN_PIXELS2 && part + j < parts
                        ? __ldcg(partial + (size_t)(part + j) * CNN_HIDDEN * CNN_FEATURES + pixel * CNN_CHANNELS2)
                        : 0.0f;
            }
#pragma unroll
        for (int j = 0; j < Ahead; j++)
#pragma unroll
            for (int i = 0; i < PIXELS; i++)
                sums[i] += values[j][i];
    }
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        const int pixel = i * CNN_FINISH_WARPS + warp;
        if (pixel < CNN_PIXELS2)
            tile[lane * CNN_PIXELS2 + pixel] = sums[i] * factor;
    }
}

// Stores the new weights of half a row, channels from `first` on, from (channel, pixel) to (pixel, channel), for the
// next step's products.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_repack_hidden(const Arguments &arguments, int row, int first, const float *tile)
{
    for (int i = threadIdx.x; i < CNN_FINISH_HIDDEN_ELEMENTS / 4; i += CNN_FINISH_THREADS) {
        const int pixel = i / (CNN_FINISH_CHANNELS / 4), channel = i % (CNN_FINISH_CHANNELS / 4) * 4;
        float four[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            four[j] = tile[(channel + j) * CNN_PIXELS2 + pixel];
        cnn_store_hidden<Arithmetic>(arguments, (size_t)row * CNN_FEATURES + pixel * CNN_CHANNELS2 + first + channel,
                                     four);
    }
}

// Half the channels of one row, from (pixel, channel) to (channel, pixel), and in cnn_train back again.
template <typename Arithmetic, cnn_optimizer Update, typename Arguments>
CNN_DEVICE bool cnn_finish_hidden(const Arguments &arguments, int splits, int block)
{
    enum { AHEAD = Update > CNN_SGD ? 1 : 3 };         // moments take registers
    __shared__ float tile[CNN_FINISH_HIDDEN_ELEMENTS]; // 49 is odd: no bank conflicts either way
    const float inverse = 1.0f / (arguments.n * Arithmetic::gradient_scale);
    const int row = block / 2, first = block % 2 * CNN_FINISH_CHANNELS;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const float *partial = arguments.workspace.grad_hidden_partial + (size_t)row * CNN_FEATURES + first + lane;
    float *to = arguments.operands.gradients.hidden_weight + (size_t)row * CNN_FEATURES + first * CNN_PIXELS2;
    const cnn_finish_hyper hyper = cnn_finish_hyper_of<Update>(arguments);
    cnn_finish_element elements[CNN_FINISH_HIDDEN_TURNS];
    bool finite = true;
#pragma unroll
    for (int i = 0; i < CNN_FINISH_HIDDEN_TURNS; i++) {
        const int at = i * CNN_FINISH_THREADS + (int)threadIdx.x;
        elements[i] =
            at < CNN_FINISH_HIDDEN_ELEMENTS ? cnn_finish_element_of<Update>(arguments, to + at) : cnn_finish_element();
    }
    cnn_add_hidden<AHEAD>(partial, splits, inverse, tile, warp, lane);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < CNN_FINISH_HIDDEN_TURNS; i++) {
        const int at = i * CNN_FINISH_THREADS + (int)threadIdx.x;
        if (at >= CNN_FINISH_HIDDEN_ELEMENTS)
            break;
        const float written = cnn_finish_write<Update>(arguments, hyper, elements[i], tile[at]);
        finite &= isfinite(written);
        if (Update != CNN_NO_UPDATE)
            tile[at] = written;
    }
    if (Update == CNN_NO_UPDATE || !arguments.training.another)
        return finite;
    __syncthreads();
    cnn_repack_hidden<Arithmetic>(arguments, row, first, tile);
    return finite;
}

// --- the kernel ------------------------------------------------------------------------------------------------------

// After all other work of a block, if gradients may overflow.
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
        cnn_invalidate_gradients(arguments.operands.gradients, arguments.classes);
}

template <typename Arithmetic, cnn_optimizer Update>
static __global__ void __launch_bounds__(CNN_FINISH_THREADS, CNN_FINISH_RESIDENT)
    cnn_finish(cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments, cnn_cuts cuts)
{
    const int others = 1 + CNN_FINISH_HEAD_BLOCKS + CNN_FINISH_HIDDEN_BLOCKS, block = (int)blockIdx.x - CNN_CHANNELS1;
    bool finite;
    // Before the wait: the next kernel, prepare.h or forward.h, needs only images before its own wait. It starts as
    // these blocks end, which takes a while.
    heddle_release_next();
    if (block < 0) {
        finite = cnn_finish_stem<Arithmetic, Update>(arguments, blockIdx.x);
    } else if (block == 0) {
        finite = cnn_finish_channels<Arithmetic, Update>(arguments);
    } else if (block >= others) {
        finite = cnn_finish_conv2<Arithmetic, Update>(arguments, block - others);
    } else {
        if (block <= CNN_FINISH_HEAD_BLOCKS)
            finite = cnn_finish_head<Update>(arguments, cuts.head_blocks, block - 1);
        else
            finite = cnn_finish_hidden<Arithmetic, Update>(arguments, cuts.backward_splits,
                                                           block - 1 - CNN_FINISH_HEAD_BLOCKS);
        heddle_wait_for_previous();
    }
    if (Arithmetic::gradient_scale != 1.0f)
        cnn_finish_check(arguments, finite);
}

template <typename Arithmetic, cnn_optimizer Update>
static cudaError_t
cnn_launch_finish_with(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
                       cudaStream_t stream)
{
    const unsigned blocks =
        CNN_CHANNELS1 + 1 + CNN_FINISH_CONV2_BLOCKS + CNN_FINISH_HEAD_BLOCKS + CNN_FINISH_HIDDEN_BLOCKS;
    return heddle_cuda_launch_dependent(cnn_finish<Arithmetic, Update>, blocks, CNN_FINISH_THREADS, 0, stream,
                                        arguments, cnn_cuts_for<Arithmetic>(arguments.n));
}

template <typename Arithmetic>
static cudaError_t
cnn_launch_finish(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
                  cudaStream_t stream)
{
    return cnn_launch_finish_with<Arithmetic, CNN_NO_UPDATE>(arguments, stream);
}

template <typename Arithmetic>
static cudaError_t cnn_launch_finish_and_update(
    const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments, cudaStream_t stream)
{
    switch (arguments.training.optimizer) {
    case CNN_SGD: return cnn_launch_finish_with<Arithmetic, CNN_SGD>(arguments, stream);
    case CNN_MOMENTUM: return cnn_launch_finish_with<Arithmetic, CNN_MOMENTUM>(arguments, stream);
    default: return cnn_launch_finish_with<Arithmetic, CNN_ADAMW>(arguments, stream);
    }
}

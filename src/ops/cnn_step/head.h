// The network's head: bias and relu of the first linear layer, the second one, softmax cross-entropy, and the gradient
// back to the first layer's outputs. All in float.
//
// Reads hidden_partial, the head's parameters and labels; writes grad_hidden (rows past the batch as zeros) and one row
// of head_partial per block: gradients of the second layer and of the first one's bias, losses and correct answers,
// summed over the block's samples. A block takes cuts.head_samples samples at a time, at most one warp each, in five
// steps with a barrier between them:
//
//   parts      every warp adds parts of hidden_partial; if samples are fewer than warps, several share a sample
//   values     the parts added, bias and relu
//   logits     sixteen threads per class, eight hidden values each, whose weights stay in registers
//   softmax    one warp per sample, one lane per class
//   gradients  two threads per hidden value: every second sample of grad_hidden, half of the classes of output_weight's
//
// Limited by: latency of that chain of short steps. In cnn_train the first blocks compute the moments of the next batch
// (prepare.h): they do not depend on this one, begin while hidden.h still runs, and make room for the others.
#pragma once

#include <math.h>

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/layout.h"
#include "ops/cnn_step/prepare.h"
#include "ops/cuda/dependent.h"

enum {
    CNN_HEAD_THREADS = CNN_HEAD_WARPS * 32,
    CNN_HEAD_SLICES = CNN_HEAD_THREADS / CNN_MOST_CLASSES, // threads of a class
    CNN_HEAD_SLICE = CNN_HIDDEN / CNN_HEAD_SLICES,         // hidden values of one of them: two groups of four
    CNN_HEAD_SIDES = CNN_HEAD_THREADS / CNN_HIDDEN,        // threads of a hidden value
    CNN_HEAD_SIDE_CLASSES = CNN_MOST_CLASSES / CNN_HEAD_SIDES,
};
static_assert((int)CNN_HEAD_THREADS == (int)CNN_PREPARE_THREADS, "moments are taken here, too");
static_assert(CNN_HEAD_SLICES == 16 && CNN_HEAD_SLICE == 8 && CNN_HEAD_SIDES == 2, "as the steps below are written");

// What the threads of a block exchange.
struct cnn_head_shared {
    float weight[CNN_MOST_CLASSES][CNN_HIDDEN]; // of the second layer; rows past the classes are zeros
    float parts[CNN_HEAD_WARPS][CNN_HIDDEN];    // of hidden_partial: the sums of each warp
    float value[CNN_HEAD_WARPS][CNN_HIDDEN];    // of each sample, after relu
    float logit[CNN_HEAD_WARPS][CNN_MOST_CLASSES];
    float grad_logit[CNN_HEAD_WARPS][CNN_MOST_CLASSES];
    float loss[CNN_HEAD_WARPS], correct[CNN_HEAD_WARPS];
    float most[CNN_HEAD_WARPS]; // of |weight|, if grad_hidden is halves
};

// A thread's sums over the block's samples.
struct cnn_head_sums {
    float weight[CNN_HEAD_SIDE_CLASSES], hidden_bias; // of its hidden value
    float output_bias, loss, correct;                 // of its warp's samples; output_bias of its lane's class
};

// A thread's part of the second layer, for its class and its slice of the hidden values.
struct cnn_head_slice {
    float weight[CNN_HEAD_SLICE], output_bias;
};

// The first of the four hidden values number `group` (0 or 1) of a slice: slices are interleaved, so that those of a
// row lie in different banks.
CNN_DEVICE int cnn_head_slice_at(int group)
{
    return group * CNN_HIDDEN / 2 + threadIdx.x % CNN_HEAD_SLICES * 4;
}

CNN_DEVICE void cnn_head_load_parameters(cnn_head_slice *slice, cnn_head_shared *shared,
                                         const heddle_cnn_step_parameters *parameters, int classes, bool in_halves)
{
    const int output = threadIdx.x / CNN_HEAD_SLICES;
    float most = 0.0f;
#pragma unroll
    for (int k = 0; k < CNN_MOST_CLASSES * CNN_HIDDEN / CNN_HEAD_THREADS; k++) {
        const int i = k * CNN_HEAD_THREADS + threadIdx.x;
        const float weight = i < classes * CNN_HIDDEN ? parameters->output_weight[i] : 0.0f;
        (&shared->weight[0][0])[i] = weight;
        most = fmaxf(most, fabsf(weight));
    }
    if (in_halves) {
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2)
            most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, distance));
        if (threadIdx.x % 32 == 0)
            shared->most[threadIdx.x / 32] = most;
    }
#pragma unroll
    for (int i = 0; i < CNN_HEAD_SLICE; i++) {
        const int at = cnn_head_slice_at(i / 4) + i % 4;
        slice->weight[i] = output < classes ? parameters->output_weight[output * CNN_HIDDEN + at] : 0.0f;
    }
    slice->output_bias = output < classes ? parameters->output_bias[output] : -INFINITY; // no such class: never chosen
}

CNN_DEVICE int cnn_head_label(const heddle_cnn_step_operands *operands, int sample, int n)
{
    return sample < n ? operands->labels[operands->order[*operands->cursor + sample]] : 0;
}

// Sums parts [begin, end) of hidden_partial for one sample; `from` is the lane's place in part 0.
CNN_DEVICE float4 cnn_head_add_parts(const float *from, size_t stride, int begin, int end)
{
    enum { AHEAD = 8 }; // loads in flight
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 1
    for (int part = begin; part < end; part += AHEAD) {
        float4 values[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            values[i] = part + i < end ? *(const float4 *)(from + (part + i) * stride) : make_float4(0, 0, 0, 0);
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            sum.x += values[i].x, sum.y += values[i].y, sum.z += values[i].z, sum.w += values[i].w;
    }
    return sum;
}

// The hidden values of all samples: parts added, bias, relu.
CNN_DEVICE void cnn_head_values(cnn_head_shared *shared, float hidden_bias, int samples)
{
    const int column = threadIdx.x % CNN_HIDDEN, sharers = CNN_HEAD_WARPS / samples;
#pragma unroll
    for (int i = 0; i < CNN_HEAD_WARPS / CNN_HEAD_SIDES; i++) {
        const int sample = i * CNN_HEAD_SIDES + threadIdx.x / CNN_HIDDEN;
        if (sample >= samples)
            break;
        float value = hidden_bias;
#pragma unroll
        for (int j = 0; j < CNN_HEAD_WARPS; j++)
            if (j < sharers)
                value += shared->parts[sample * sharers + j][column];
        shared->value[sample][column] = value < 0.0f ? 0.0f : value; // not fmaxf: NaN is preserved
    }
}

// Every thread: its slice of its class's logits, and their sums over the slices.
CNN_DEVICE void cnn_head_logits(cnn_head_shared *shared, const cnn_head_slice *slice, int samples)
{
    const int output = threadIdx.x / CNN_HEAD_SLICES, lane = threadIdx.x % CNN_HEAD_SLICES;
    float logit[CNN_HEAD_WARPS];
#pragma unroll
    for (int sample = 0; sample < CNN_HEAD_WARPS; sample++) {
        logit[sample] = 0.0f;
        if (sample >= samples)
            continue;
        float value[CNN_HEAD_SLICE];
        cnn_load4(value, shared->value[sample] + cnn_head_slice_at(0));
        cnn_load4(value + 4, shared->value[sample] + cnn_head_slice_at(1));
#pragma unroll
        for (int i = 0; i < CNN_HEAD_SLICE; i++)
            logit[sample] = fmaf(value[i], slice->weight[i], logit[sample]);
    }
    // Each turn halves the samples that a lane still has to add: lane i ends with sample i / 2.
#pragma unroll
    for (int half = CNN_HEAD_WARPS / 2; half > 0; half /= 2) {
        const bool upper = lane & (half * 2);
#pragma unroll
        for (int i = 0; i < half; i++) {
            const float kept = upper ? logit[i + half] : logit[i], given = upper ? logit[i] : logit[i + half];
            logit[i] = kept + __shfl_xor_sync(0xffffffffu, given, half * 2);
        }
    }
    logit[0] += __shfl_xor_sync(0xffffffffu, logit[0], 1);
    if (lane % 2 == 0 && lane / 2 < samples)
        shared->logit[lane / 2][output] = logit[0] + slice->output_bias;
}

// One warp, one sample: loss, and its gradient by the logits. Lanes past the classes do the same as those before.
CNN_DEVICE void cnn_head_softmax(cnn_head_sums *sums, cnn_head_shared *shared, int row, int label)
{
    const int output = threadIdx.x % CNN_MOST_CLASSES;
    const float logit = shared->logit[row][output];
    float largest = logit;
#pragma unroll
    for (int distance = CNN_MOST_CLASSES / 2; distance > 0; distance /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, distance));
    const float power = expf(logit - largest);
    float total = power;
#pragma unroll
    for (int distance = CNN_MOST_CLASSES / 2; distance > 0; distance /= 2)
        total += __shfl_xor_sync(0xffffffffu, total, distance);
    const float grad = __fdividef(power, total) - (output == label ? 1.0f : 0.0f);
    if (threadIdx.x % 32 < CNN_MOST_CLASSES)
        shared->grad_logit[row][output] = grad;
    const int winner = __ffs((int)__ballot_sync(0xffffffffu, logit == largest)) - 1; // the first of equals
    sums->output_bias += grad;
    sums->loss += logf(total) + largest - __shfl_sync(0xffffffffu, logit, label);
    sums->correct += winner == label ? 1.0f : 0.0f;
}

// The power of two for grad_hidden as halves: it is the gradient of a loss by its logits, whose magnitudes add up to at
// most 2, times output_weight.
CNN_DEVICE float cnn_head_scale(const cnn_head_shared *shared)
{
    float most = 0.0f;
#pragma unroll
    for (int i = 0; i < CNN_HEAD_WARPS; i++)
        most = fmaxf(most, shared->most[i]);
    return cnn_half_scale(2.0f * most);
}

// One element of grad_hidden, `at` from its beginning. half_scale 0: as an operand.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_head_store_grad(const Arguments &arguments, size_t at, float grad, float half_scale)
{
    typedef cnn_hidden_halves<Arithmetic> halves;
    if constexpr (halves::SCALED)
        if (arguments.in_halves) {
            __half *to = (__half *)arguments.workspace.grad_hidden + at;
            grad *= half_scale;
#pragma unroll
            for (int part = 0; part < halves::PARTS; part++, to += (size_t)arguments.n * CNN_HIDDEN) {
                const __half rounded = __float2half_rn(grad);
                *to = rounded;
                grad -= __half2float(rounded);
            }
            return;
        }
    arguments.workspace.grad_hidden[at] = cnn_round<Arithmetic>(grad * Arithmetic::gradient_scale);
}

// first: of the samples
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_head_gradients(cnn_head_sums *sums, const Arguments &arguments, const cnn_head_shared *shared,
                                   int first, int samples, float half_scale)
{
    const int classes = arguments.classes;
    const int column = threadIdx.x % CNN_HIDDEN, side = threadIdx.x / CNN_HIDDEN;
    float weight[CNN_MOST_CLASSES];
#pragma unroll
    for (int i = 0; i < CNN_MOST_CLASSES; i++)
        weight[i] = shared->weight[i][column];
#pragma unroll 4
    for (int sample = 0; sample < samples; sample++) {
        const float value = shared->value[sample][column];
        float grad_logit[4];
#pragma unroll
        for (int i = 0; i < CNN_HEAD_SIDE_CLASSES; i++) {
            if (i % 4 == 0)
                cnn_load4(grad_logit, shared->grad_logit[sample] + side * CNN_HEAD_SIDE_CLASSES + i);
            sums->weight[i] = fmaf(grad_logit[i % 4], value, sums->weight[i]);
        }
        if (sample % CNN_HEAD_SIDES != side)
            continue;
        float grad = 0.0f;
#pragma unroll
        for (int i = 0; i < CNN_MOST_CLASSES; i += 4)
            if (i < classes) {
                cnn_load4(grad_logit, shared->grad_logit[sample] + i);
                grad += grad_logit[0] * weight[i] + grad_logit[1] * weight[i + 1] + grad_logit[2] * weight[i + 2] +
                        grad_logit[3] * weight[i + 3];
            }
        grad = value > 0.0f ? grad : 0.0f;
        sums->hidden_bias += grad;
        cnn_head_store_grad<Arithmetic>(arguments, (size_t)(first + sample) * CNN_HIDDEN + column, grad, half_scale);
    }
}

// partial: the block's row of head_partial
CNN_DEVICE void cnn_head_store(float *partial, cnn_head_shared *shared, const cnn_head_sums *sums, int classes)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int column = threadIdx.x % CNN_HIDDEN, side = threadIdx.x / CNN_HIDDEN;
#pragma unroll
    for (int i = 0; i < CNN_HEAD_SIDE_CLASSES; i++)
        if (side * CNN_HEAD_SIDE_CLASSES + i < classes)
            partial[(side * CNN_HEAD_SIDE_CLASSES + i) * CNN_HIDDEN + column] = sums->weight[i];
    __syncthreads();
    shared->parts[side][column] = sums->hidden_bias;
    if (lane < CNN_MOST_CLASSES)
        shared->logit[warp][lane] = sums->output_bias;
    if (lane == 0)
        shared->loss[warp] = sums->loss, shared->correct[warp] = sums->correct;
    __syncthreads();
    const int other = column; // of the second side: classes, then loss and right answers
    float sum = 0.0f;
    if (side == 0)
        sum = shared->parts[0][column] + shared->parts[1][column];
    else if (other < CNN_MOST_CLASSES + 2)
        for (int i = 0; i < CNN_HEAD_WARPS; i++)
            sum += other < CNN_MOST_CLASSES    ? shared->logit[i][other]
                   : other == CNN_MOST_CLASSES ? shared->loss[i]
                                               : shared->correct[i];
    if (side == 0 || other < CNN_MOST_CLASSES + 2)
        partial[CNN_HEAD_HIDDEN_BIAS + threadIdx.x] = sum;
}

template <typename Arithmetic>
__global__ void __launch_bounds__(CNN_HEAD_THREADS, 2)
    cnn_head_kernel(cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments,
                    cnn_cuts cuts)
{
    __shared__ __align__(16) cnn_head_shared shared;
    const int moment_blocks = (int)gridDim.x - cuts.head_blocks, block = (int)blockIdx.x - moment_blocks;
    if (block < 0) { // without a wait: other blocks of this launch wait, so it ends after the previous one in any case
        cnn_moments(arguments, blockIdx.x, moment_blocks, *arguments.training.next, false, {});
        return;
    }
    const auto &workspace = arguments.workspace;
    const int n = arguments.n, samples = cuts.head_samples, sharers = CNN_HEAD_WARPS / samples;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sharer = warp % sharers;
    const size_t rows = (size_t)cuts.tiles * CNN_HIDDEN_TILE;

    cnn_head_slice slice;
    const bool in_halves = cnn_hidden_halves<Arithmetic>::SCALED && arguments.in_halves;
    cnn_head_load_parameters(&slice, &shared, &arguments.operands.parameters, arguments.classes, in_halves);
    const float hidden_bias = arguments.operands.parameters.hidden_bias[threadIdx.x % CNN_HIDDEN];
    int label = cnn_head_label(&arguments.operands, block * samples + warp, n);
    heddle_wait_for_previous();
    heddle_release_next();

    float half_scale = 0.0f;
    cnn_head_sums sums = {};
    for (int begin = block * samples; begin < n; begin += cuts.head_blocks * samples) {
        const float *from = workspace.hidden_partial + (size_t)(begin + warp / sharers) * CNN_HIDDEN + lane * 4;
        *(float4 *)(shared.parts[warp] + lane * 4) =
            cnn_head_add_parts(from, rows * CNN_HIDDEN, sharer * cuts.hidden_splits / sharers,
                               (sharer + 1) * cuts.hidden_splits / sharers);
        __syncthreads();
        if (in_halves && begin == block * samples)
            half_scale = cnn_head_scale(&shared);
        cnn_head_values(&shared, hidden_bias, samples);
        __syncthreads();
        cnn_head_logits(&shared, &slice, samples);
        __syncthreads();
        if (warp < samples && begin + warp < n)
            cnn_head_softmax(&sums, &shared, warp, label);
        __syncthreads();
        cnn_head_gradients<Arithmetic>(&sums, arguments, &shared, begin, min(samples, n - begin), half_scale);
        label = cnn_head_label(&arguments.operands, begin + cuts.head_blocks * samples + warp, n);
    }
    cnn_head_store(workspace.head_partial + (size_t)block * CNN_HEAD_PARTIAL, &shared, &sums, arguments.classes);
    if (in_halves && block == 0 && threadIdx.x == 0)
        *workspace.hidden_scale = half_scale;
    if (!in_halves && block == cuts.head_blocks - 1)
        for (size_t i = (size_t)n * CNN_HIDDEN + threadIdx.x; i < rows * CNN_HIDDEN; i += CNN_HEAD_THREADS)
            workspace.grad_hidden[i] = cnn_round<Arithmetic>(0.0f);
}

template <typename Arithmetic>
static cudaError_t
cnn_launch_head(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
                cudaStream_t stream)
{
    const cnn_cuts cuts = cnn_cuts_of(arguments.n);
    const int moment_blocks = arguments.training.another ? cnn_moment_blocks(arguments.n) : 0;
    return heddle_cuda_launch_dependent(cnn_head_kernel<Arithmetic>, dim3(moment_blocks + cuts.head_blocks),
                                        dim3(CNN_HEAD_THREADS), 0, stream, arguments, cuts);
}

// The gradient through the first linear layer: of its weights, and of the pooled activations 2, including relu's part
// and batchnorm 2's two sums over the batch.
//
// Reads grad_hidden, pooled2 and the packed hidden weight; writes grad_pooled2, grad_hidden_partial and sums2_partial,
// whose rows backward.h adds. A block has one pooled pixel and a part of the batch, a stage of ROWS samples at a time;
// both products read the same rows:
//
//   four warps  grad_pooled2 (samples, 64) = grad_hidden (samples, 128) * weight (128, 64): 16 channels each, whose
//               weights stay in registers for as long as the block lives
//   four warps  gradient of weight (128, 64) += grad_hidden (samples, 128) transposed * pooled2 (samples, 64): a
//               quarter of 64 by 32 each, in registers until the end
//
// Four stages in a ring, three of them in flight; one barrier per stage; two blocks per SM. Rows are 16 bytes longer
// than their data, 4 banks, so that the eight rows that ldmatrix takes lie in different banks.
//
// Limited by: shared memory, which serves each stage's grad_hidden to four warps and half of it to four others; and by
// the latency of the first stages, if a block has few.
#pragma once

#include <math.h>

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/layout.h"
#include "ops/cuda/dependent.h"

enum {
    CNN_MOST_GRAD = 5, // of workspace.counters: the largest of |grad_pooled2|, as the bits of a float
};

template <typename Arithmetic> struct cnn_hidden_backward_plan {
    typedef typename Arithmetic::operand operand;
    enum {
        THREADS = 256,
        DATA_WARPS = 4, // the first four
        DATA_THREADS = DATA_WARPS * 32,
        WARP_CHANNELS = CNN_CHANNELS2 / DATA_WARPS,
        SIZE = sizeof(operand),
        ROWS = 64, // samples of a stage
        STAGES = 4,
        HIDDEN_PITCH = CNN_HIDDEN * SIZE + 16,
        POOLED_PITCH = CNN_CHANNELS2 * SIZE + 16,
        STAGE_BYTES = ROWS * (HIDDEN_PITCH + POOLED_PITCH),
        SHARED_BYTES = STAGES * STAGE_BYTES,
        DEPTH = CNN_FRAGMENT_BYTES / SIZE, // K of one product
        DATA_STEPS = CNN_HIDDEN / DEPTH,
        BANDS = ROWS / 16, // fragments of a
        WEIGHT_ROWS = 64,  // of a warp's quarter
        WEIGHT_COLUMNS = 32,
    };
};

// Which channels' normalised values cannot be computed from pooled2 = gamma * normalised + beta: gamma is too small
// compared with beta for the digits of pooled2.
CNN_DEVICE bool cnn_hidden_backward_tiny(float gamma, float beta)
{
    return fabsf(gamma) < 0.0625f * fabsf(beta) || fabsf(gamma) < 1e-6f;
}

// Copies rows [from, from + ROWS) of grad_hidden and of one pixel of pooled2; rows past the batch are zeros.
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_backward_fetch(
    char *stage, const cnn_workspace<typename Arithmetic::operand, typename Arithmetic::convolution> &workspace,
    int from, int pixel, int n)
{
    typedef cnn_hidden_backward_plan<Arithmetic> plan;
    enum { HIDDEN_PIECES = CNN_HIDDEN * plan::SIZE / 16, HIDDEN_ROWS = plan::THREADS / HIDDEN_PIECES };
    enum { POOLED_PIECES = CNN_CHANNELS2 * plan::SIZE / 16, POOLED_ROWS = plan::THREADS / POOLED_PIECES };
    int row = threadIdx.x / HIDDEN_PIECES, piece = threadIdx.x % HIDDEN_PIECES;
    const char *source = (const char *)(workspace.grad_hidden + (size_t)(from + row) * CNN_HIDDEN) + piece * 16;
    char *to = stage + row * plan::HIDDEN_PITCH + piece * 16;
#pragma unroll
    for (int i = 0; i < plan::ROWS; i += HIDDEN_ROWS)
        cp_async_16(to + i * plan::HIDDEN_PITCH, source + i * CNN_HIDDEN * plan::SIZE);

    row = threadIdx.x / POOLED_PIECES, piece = threadIdx.x % POOLED_PIECES;
    source =
        (const char *)(workspace.pooled2 + ((size_t)(from + row) * CNN_PIXELS2 + pixel) * CNN_CHANNELS2) + piece * 16;
    to = stage + plan::ROWS * plan::HIDDEN_PITCH + row * plan::POOLED_PITCH + piece * 16;
#pragma unroll
    for (int i = 0; i < plan::ROWS; i += POOLED_ROWS)
        if (from + row + i < n)
            cp_async_16(to + i * plan::POOLED_PITCH, source + i * CNN_FEATURES * plan::SIZE);
        else
            *(uint4 *)(to + i * plan::POOLED_PITCH) = make_uint4(0, 0, 0, 0);
}

// --- fragments -------------------------------------------------------------------------------------------------------

// Two of b, 16 columns along a row; K is down. `from` is the corner.
template <int Pitch> CNN_DEVICE void cnn_hidden_backward_columns(uint32_t b[4], const char *from)
{
    const int lane = threadIdx.x % 32;
    ldmatrix_x4_transposed(b, from + lane % 16 * Pitch + lane / 16 * 16);
}

// One of a, 16 rows that lie along a row of shared memory; K is down.
template <int Pitch> CNN_DEVICE void cnn_hidden_backward_turned(uint32_t a[4], const char *from)
{
    const int lane = threadIdx.x % 32;
    ldmatrix_x4_transposed(a, from + (lane % 8 + lane / 16 * 8) * Pitch + lane / 8 % 2 * 16);
}

// --- the gradient of pooled2 -----------------------------------------------------------------------------------------

// Of batchnorm 2, for all channels, in shared memory. inverse_gamma 0: gamma is tiny.
struct cnn_hidden_backward_channels {
    float beta[CNN_CHANNELS2], inverse_gamma[CNN_CHANNELS2];
};

// Over the samples of a thread of the data warps, for its four channels: of the gradient, and of it times the
// normalised value.
struct cnn_hidden_backward_sums {
    float gradient[4], product[4];
};

// A register of b: two operands, of rows k and k + 1.
template <typename Operand> CNN_DEVICE uint32_t cnn_hidden_backward_bits(const Operand *column, int k)
{
    const uint16_t *bits = (const uint16_t *)column + (size_t)k * CNN_FEATURES;
    return bits[0] | (uint32_t)bits[CNN_FEATURES] << 16;
}

// A data warp's weights, 128 by 16 channels, as fragments. Column 2i + j of fragment f is channel 4i + 2f + j: so that
// a thread's four columns of the product are four neighbours, and a row's are whole sectors.
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_backward_load_weight(uint32_t held[][4], const typename Arithmetic::operand *weight)
{
    typedef cnn_hidden_backward_plan<Arithmetic> plan;
    const int lane = threadIdx.x % 32, channel = lane / 8 * 4 + lane / 4 % 2;
#pragma unroll
    for (int step = 0; step < plan::DATA_STEPS; step++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int k = step * plan::DEPTH + i % 2 * plan::DEPTH / 2 + lane % 4 * (4 / plan::SIZE);
            held[step][i] = cnn_hidden_backward_bits(weight + channel + i / 2 * 2, k);
        }
}

// One stage, whose first sample is `from`: products, relu's mask, sums, and the store.
template <typename Arithmetic>
CNN_DEVICE void
cnn_hidden_backward_data(cnn_hidden_backward_sums *sums, const cnn_hidden_backward_channels *channels,
                         const uint32_t weight[][4], const char *stage,
                         const cnn_workspace<typename Arithmetic::operand, typename Arithmetic::convolution> &workspace,
                         int from, int pixel, int n)
{
    typedef cnn_hidden_backward_plan<Arithmetic> plan;
    const int lane = threadIdx.x % 32, channel = threadIdx.x / 32 * plan::WARP_CHANNELS + lane % 4 * 4;
    const char *hidden = stage + lane % 16 * plan::HIDDEN_PITCH + lane / 16 * 16;
    float sum[plan::BANDS][2][4] = {};
#pragma unroll
    for (int step = 0; step < plan::DATA_STEPS; step++)
#pragma unroll
        for (int band = 0; band < plan::BANDS; band++) {
            uint32_t a[4];
            ldmatrix_x4(a, hidden + band * 16 * plan::HIDDEN_PITCH + step * CNN_FRAGMENT_BYTES);
            cnn_multiply<Arithmetic>(sum[band][0], a, weight[step]);
            cnn_multiply<Arithmetic>(sum[band][1], a, weight[step] + 2);
        }
    const char *pooled = stage + plan::ROWS * plan::HIDDEN_PITCH + lane / 4 * plan::POOLED_PITCH + channel * plan::SIZE;
    float beta[4], inverse_gamma[4], value[2 * plan::BANDS][4];
    cnn_load4(beta, channels->beta + channel);
    cnn_load4(inverse_gamma, channels->inverse_gamma + channel);
    // Rows of a thread, eight apart. All are read before the first store, past which the compiler does not move loads.
#pragma unroll
    for (int part = 0; part < 2 * plan::BANDS; part++)
        cnn_load4(value[part], (const typename plan::operand *)(pooled + part * 8 * plan::POOLED_PITCH));
#pragma unroll
    for (int part = 0; part < 2 * plan::BANDS; part++) {
        const int sample = from + part * 8 + lane / 4;
        float grad[4];
#pragma unroll
        for (int i = 0; i < 4; i++) { // rows past the batch are zeros, and add none
            grad[i] = value[part][i] > 0.0f ? sum[part / 2][i / 2][part % 2 * 2 + i % 2] : 0.0f;
            sums->gradient[i] += grad[i];
            sums->product[i] += grad[i] * ((value[part][i] - beta[i]) * inverse_gamma[i]);
        }
        if (sample < n)
            cnn_store4_global(workspace.grad_pooled2 + ((size_t)sample * CNN_PIXELS2 + pixel) * CNN_CHANNELS2 + channel,
                              grad);
    }
}

// sums2_partial's row of this block: a channel's samples lie in the eight lanes of a column.
CNN_DEVICE void cnn_hidden_backward_store_sums(float *partial, const cnn_hidden_backward_sums *sums, int channel)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float gradient = sums->gradient[i], product = sums->product[i];
#pragma unroll
        for (int distance = 4; distance < 32; distance *= 2) {
            gradient += __shfl_xor_sync(0xffffffffu, gradient, distance);
            product += __shfl_xor_sync(0xffffffffu, product, distance);
        }
        if (threadIdx.x % 32 < 4) {
            partial[channel + i] = gradient;
            partial[CNN_CHANNELS2 + channel + i] = product;
        }
    }
}

// The largest gradient of all: nonnegative floats have the order of their bits.
CNN_DEVICE void cnn_hidden_backward_store_most(unsigned *counters, float most)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, distance));
    if (threadIdx.x % 32 == 0)
        atomicMax(counters + CNN_MOST_GRAD, __float_as_uint(most));
}

// The data warps' own barrier: the others are not delayed by what follows their last product.
template <typename Arithmetic> CNN_DEVICE void cnn_hidden_backward_meet()
{
    typedef cnn_hidden_backward_plan<Arithmetic> plan;
    __barrier_sync_count(1, plan::DATA_THREADS);
}

// The sum of the gradient times the normalised value for a channel whose gamma is tiny: the winner's value is looked up
// in convolution2. Rare, and left to the end of a block, whose data warps then share its samples [from, to).
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_backward_look_up(
    float *partial, const cnn_workspace<typename Arithmetic::operand, typename Arithmetic::convolution> &workspace,
    int from, int to, int pixel, int channel, float *shared)
{
    typedef cnn_hidden_backward_plan<Arithmetic> plan;
    const int y = pixel / CNN_SIDE2 * 2, x = pixel % CNN_SIDE2 * 2;
    const float mean = workspace.statistics2->mean[channel], inverse_std = workspace.statistics2->inverse_std[channel];
    float product = 0.0f;
#pragma unroll 1
    for (int sample = from + (int)threadIdx.x; sample < to; sample += plan::DATA_THREADS) {
        const size_t at = ((size_t)sample * CNN_PIXELS2 + pixel) * CNN_CHANNELS2 + channel;
        const int code = workspace.code2[at];
        if (code == CNN_NO_WINNER)
            continue;
        const size_t winner = ((size_t)sample * CNN_SIDE1 + y + code / 2) * CNN_SIDE1 + x + code % 2;
        const float value = cnn_float(workspace.convolution2[winner * CNN_CHANNELS2 + channel]);
        product += cnn_float(workspace.grad_pooled2[at]) * ((value - mean) * inverse_std);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        product += __shfl_xor_sync(0xffffffffu, product, distance);
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = product;
    cnn_hidden_backward_meet<Arithmetic>();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < plan::DATA_WARPS; warp++)
            product += shared[warp];
        partial[CNN_CHANNELS2 + channel] = product;
    }
    cnn_hidden_backward_meet<Arithmetic>();
}

// After a block's data warps have written its row of sums2_partial: adds what tiny gammas left out. [from, to) are the
// block's samples.
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_backward_finish_sums(
    const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
    const cnn_hidden_backward_channels *channels, int from, int to, int pixel, float *shared)
{
    const auto &workspace = arguments.workspace;
    const int lane = threadIdx.x % 32;
    const bool tiny = channels->inverse_gamma[lane] == 0.0f || channels->inverse_gamma[lane + 32] == 0.0f;
    if (!__any_sync(0xffffffffu, tiny))
        return;
    cnn_hidden_backward_meet<Arithmetic>();
#pragma unroll 1
    for (int i = 0; i < CNN_CHANNELS2; i++)
        if (channels->inverse_gamma[i] == 0.0f)
            cnn_hidden_backward_look_up<Arithmetic>(workspace.sums2_partial + (size_t)blockIdx.x * 2 * CNN_CHANNELS2,
                                                    workspace, from, to, pixel, i, shared);
}

// --- the gradient of the weights -------------------------------------------------------------------------------------

// sum: (64, 32) += a stage's grad_hidden (rows, 64 of 128) transposed * pooled2 (rows, 32 of 64)
template <typename Arithmetic>
CNN_DEVICE void cnn_hidden_backward_weight(float sum[16][4], const char *stage, int rows, int row, int column)
{
    typedef cnn_hidden_backward_plan<Arithmetic> plan;
    const char *hidden = stage + row * plan::SIZE;
    const char *pooled = stage + plan::ROWS * plan::HIDDEN_PITCH + column * plan::SIZE;
#pragma unroll 1
    for (int sample = 0; sample < rows; sample += plan::DEPTH) {
        uint32_t b[2][4];
#pragma unroll
        for (int j = 0; j < 2; j++)
            cnn_hidden_backward_columns<plan::POOLED_PITCH>(b[j],
                                                            pooled + sample * plan::POOLED_PITCH + j * 16 * plan::SIZE);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint32_t a[4];
            cnn_hidden_backward_turned<plan::HIDDEN_PITCH>(a,
                                                           hidden + sample * plan::HIDDEN_PITCH + i * 16 * plan::SIZE);
#pragma unroll
            for (int j = 0; j < 4; j += 2)
                cnn_multiply_two<Arithmetic>(sum[i * 4 + j], sum[i * 4 + j + 1], a, b[j / 2]);
        }
    }
}

// gradient: (128, 49, 64), at the pixel; the warp's quarter begins at row and column
CNN_DEVICE void cnn_hidden_backward_store_weight(float *gradient, const float sum[16][4], int row, int column)
{
    const int lane = threadIdx.x % 32;
    gradient += (size_t)(row + lane / 4) * CNN_FEATURES + column + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float *to = gradient + (size_t)i * 16 * CNN_FEATURES + j * 8;
            __stcg((float2 *)to, make_float2(sum[i * 4 + j][0], sum[i * 4 + j][1]));
            __stcg((float2 *)(to + 8 * CNN_FEATURES), make_float2(sum[i * 4 + j][2], sum[i * 4 + j][3]));
        }
}

// --- the kernel ------------------------------------------------------------------------------------------------------

CNN_DEVICE void cnn_hidden_backward_load_channels(cnn_hidden_backward_channels *channels,
                                                  const heddle_cnn_step_parameters *parameters)
{
    if (threadIdx.x < CNN_CHANNELS2) {
        const float gamma = parameters->gamma2[threadIdx.x], beta = parameters->beta2[threadIdx.x];
        channels->beta[threadIdx.x] = beta;
        channels->inverse_gamma[threadIdx.x] = cnn_hidden_backward_tiny(gamma, beta) ? 0.0f : 1.0f / gamma;
    }
}

// A barrier of the whole block, which its two kinds of warps reach from loops of their own. The simulated GPU reports
// such warps as diverged unless they wait at one place: there it is a function, and its last statement is not the call.
#if defined(HEDDLE_SIM_MODULE)
static __device__ __noinline__ void cnn_hidden_backward_meet_all(int threads)
#else
CNN_DEVICE void cnn_hidden_backward_meet_all(int threads)
#endif
{
    __barrier_sync_count(2, threads);
    asm volatile("" ::: "memory");
}

// The work of a block.
struct cnn_hidden_backward_work {
    int pixel, split;
    int first, end; // stages
    char *ring;
};

template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hidden_backward_fetch_stage(const cnn_hidden_backward_work *work, int stage,
                                                const Arguments &arguments)
{
    typedef cnn_hidden_backward_plan<Arithmetic> plan;
    if (stage < work->end)
        cnn_hidden_backward_fetch<Arithmetic>(work->ring + stage % plan::STAGES * plan::STAGE_BYTES,
                                              arguments.workspace, stage * plan::ROWS, work->pixel, arguments.n);
    cp_async_commit();
}

// Both kinds of warps: the beginning, until the first stages are in flight.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hidden_backward_begin(const cnn_hidden_backward_work *work, const Arguments &arguments)
{
    heddle_wait_for_previous();
    heddle_release_next();
#pragma unroll 1
    for (int i = 0; i < cnn_hidden_backward_plan<Arithmetic>::STAGES - 1; i++)
        cnn_hidden_backward_fetch_stage<Arithmetic>(work, work->first + i, arguments);
}

// Both kinds of warps: waits for a stage and returns it. The one before it is then finished, and its place refilled.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE const char *cnn_hidden_backward_stage(const cnn_hidden_backward_work *work, int stage,
                                                 const Arguments &arguments)
{
    typedef cnn_hidden_backward_plan<Arithmetic> plan;
    cp_async_wait_group<plan::STAGES - 2>();
    cnn_hidden_backward_meet_all(plan::THREADS);
    cnn_hidden_backward_fetch_stage<Arithmetic>(work, stage + plan::STAGES - 1, arguments);
    return work->ring + stage % plan::STAGES * plan::STAGE_BYTES;
}

template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hidden_backward_data_role(const cnn_hidden_backward_work *work, const Arguments &arguments,
                                              const cnn_hidden_backward_channels *channels, float *shared)
{
    typedef cnn_hidden_backward_plan<Arithmetic> plan;
    const auto &workspace = arguments.workspace;
    const int channel = threadIdx.x / 32 * plan::WARP_CHANNELS;
    uint32_t weight[plan::DATA_STEPS][4];
    cnn_hidden_backward_load_weight<Arithmetic>(weight, workspace.hidden + work->pixel * CNN_CHANNELS2 + channel);
    cnn_hidden_backward_sums sums = {};
    cnn_hidden_backward_begin<Arithmetic>(work, arguments);
#pragma unroll 1
    for (int stage = work->first; stage < work->end; stage++)
        cnn_hidden_backward_data<Arithmetic>(&sums, channels, weight,
                                             cnn_hidden_backward_stage<Arithmetic>(work, stage, arguments), workspace,
                                             stage * plan::ROWS, work->pixel, arguments.n);
    cnn_hidden_backward_store_sums(workspace.sums2_partial + (size_t)blockIdx.x * 2 * CNN_CHANNELS2, &sums,
                                   channel + threadIdx.x % 4 * 4);
    cnn_hidden_backward_finish_sums<Arithmetic>(arguments, channels, work->first * plan::ROWS,
                                                min(work->end * plan::ROWS, arguments.n), work->pixel, shared);
}

template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hidden_backward_weight_role(const cnn_hidden_backward_work *work, const Arguments &arguments)
{
    typedef cnn_hidden_backward_plan<Arithmetic> plan;
    const int warp = threadIdx.x / 32 - plan::DATA_WARPS;
    const int row = warp % 2 * plan::WEIGHT_ROWS, column = warp / 2 * plan::WEIGHT_COLUMNS;
    float sum[16][4] = {};
    cnn_hidden_backward_begin<Arithmetic>(work, arguments);
#pragma unroll 1
    for (int stage = work->first; stage < work->end; stage++)
        cnn_hidden_backward_weight<Arithmetic>(sum, cnn_hidden_backward_stage<Arithmetic>(work, stage, arguments),
                                               min(plan::ROWS + 0, arguments.n - stage * plan::ROWS), row, column);
    cnn_hidden_backward_store_weight(arguments.workspace.grad_hidden_partial +
                                         (size_t)work->split * CNN_HIDDEN * CNN_FEATURES + work->pixel * CNN_CHANNELS2,
                                     sum, row, column);
}

template <typename Arithmetic>
__global__ void __launch_bounds__(cnn_hidden_backward_plan<Arithmetic>::THREADS, 2)
    cnn_hidden_backward_kernel(cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments,
                               cnn_cuts cuts)
{
    typedef cnn_hidden_backward_plan<Arithmetic> plan;
    extern __shared__ __align__(128) char cnn_shared[];
    __shared__ __align__(16) cnn_hidden_backward_channels channels;
    __shared__ __align__(16) float shared[plan::DATA_WARPS * 2 * CNN_CHANNELS2];
    const int stages = (arguments.n + plan::ROWS - 1) / plan::ROWS; // of the whole batch
    cnn_hidden_backward_work work;
    work.pixel = blockIdx.x % CNN_PIXELS2, work.split = blockIdx.x / CNN_PIXELS2;
    work.first = work.split * stages / cuts.backward_splits;
    work.end = (work.split + 1) * stages / cuts.backward_splits;
    work.ring = cnn_shared;
    cnn_hidden_backward_load_channels(&channels, &arguments.operands.parameters);
    __syncthreads();
    if (threadIdx.x < plan::DATA_THREADS)
        cnn_hidden_backward_data_role<Arithmetic>(&work, arguments, &channels, shared);
    else
        cnn_hidden_backward_weight_role<Arithmetic>(&work, arguments);
}

template <typename Arithmetic>
static cudaError_t cnn_launch_hidden_backward(
    const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments, cudaStream_t stream)
{
    typedef cnn_hidden_backward_plan<Arithmetic> plan;
    const cnn_cuts cuts = cnn_cuts_for<Arithmetic>(arguments.n);
    const cudaError_t error = cudaFuncSetAttribute(cnn_hidden_backward_kernel<Arithmetic>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, plan::SHARED_BYTES);
    if (error != cudaSuccess)
        return error;
    return heddle_cuda_launch_dependent(cnn_hidden_backward_kernel<Arithmetic>,
                                        dim3(CNN_PIXELS2 * cuts.backward_splits), dim3(plan::THREADS),
                                        plan::SHARED_BYTES, stream, arguments, cuts);
}

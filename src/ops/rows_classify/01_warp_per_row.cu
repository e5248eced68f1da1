// rows_classify, rung 1: one warp per sample, from its features to their probabilities.
//
// A lane has every 32nd group of eight features. It computes its part of each logit, and the warp adds the parts. If
// there are few samples, all warps of a block share one; else the block keeps the weight in shared memory, for every
// warp reads it. Where the loss is wanted, each block stores that of its samples and the number of correct ones; the
// last block to arrive adds these in order.
//
// Limited by: latency.

#include "ops/cuda/dependent.h"
#include "ops/cuda/loss_sum.h"
#include "ops/cuda/rows8.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/rows_classify/rows_classify.h"

typedef heddle_rows_classify_shape classify_shape;

enum { WARPS = 4, MOST_STAGED = 64 << 10 };

template <typename Element> struct classify_operands {
    const Element *input, *weight;
    const float *bias;
    const int32_t *labels;
    float *probabilities, *loss;
    int32_t *correct;
    int *arrived;
    double *parts; // (blocks, 2)
    bool staged;   // blocks of many samples keep the weight in shared memory
};

// The logits of a sample, in all lanes. Features from `first` on, every `step`-th group.
template <typename Element, bool Aligned, int Columns>
__device__ static void add_features(const classify_shape &shape, const classify_operands<Element> &on, int row,
                                    int first, int step, float (&logits)[Columns])
{
#pragma unroll
    for (int j = 0; j < Columns; j++)
        logits[j] = 0;
    for (int c = first; c < shape.c; c += step) {
        const rows8 x = rows8_load<Aligned>(rows_at(on.input, (size_t)row * shape.c + c, c), shape.c);
#pragma unroll
        for (int first_row = 0; first_row < Columns; first_row += ROWS8) {
            if (first_row >= shape.k)
                break;
            rows8 w[ROWS8];
            rows8_load_eight<Aligned>(on.weight, first_row, shape.c, c, w);
#pragma unroll
            for (int j = 0; j < ROWS8; j++)
#pragma unroll
                for (int i = 0; i < ROWS8; i++)
                    logits[first_row + j] += x.v[i] * w[j].v[i];
        }
    }
#pragma unroll
    for (int j = 0; j < Columns; j++) {
        for (int distance = 16; distance > 0; distance /= 2)
            logits[j] += __shfl_xor_sync(~0u, logits[j], distance);
    }
}

// Adds the parts of the warps of a block, if they share a sample, and the bias.
template <bool Shared, int Columns>
__device__ static void join_logits(const float *bias, int k, float (*kept)[Columns], float (&logits)[Columns])
{
    if (Shared) {
        __syncthreads(); // the sample before has been read
        if (threadIdx.x % 32 == 0)
#pragma unroll
            for (int j = 0; j < Columns; j++)
                kept[threadIdx.x / 32][j] = logits[j];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < Columns; j++) {
            logits[j] = 0;
            for (int warp = 0; warp < WARPS; warp++)
                logits[j] += kept[warp][j];
        }
    }
#pragma unroll
    for (int j = 0; j < Columns; j++)
        logits[j] += bias && j < k ? bias[j] : 0.0f;
}

// Turns logits into probabilities; returns the loss.
template <int Columns>
__device__ static double find_probabilities(const classify_shape &shape, float (&logits)[Columns], int label,
                                            bool *right)
{
    float most = logits[0], sum = 0, own = 0;
    int best = 0;
#pragma unroll
    for (int j = 1; j < Columns; j++)
        if (j < shape.classes && logits[j] > most) {
            most = logits[j];
            best = j;
        }
#pragma unroll
    for (int j = 0; j < Columns; j++) {
        own = j == label ? logits[j] : own;
        logits[j] = j < shape.classes ? expf(logits[j] - most) : 0.0f;
        sum += logits[j];
    }
#pragma unroll
    for (int j = 0; j < Columns; j++)
        logits[j] /= sum;
    *right = best == label;
    // A kernel cannot report a label that is not a class: the loss becomes NaN.
    return label >= 0 && label < shape.classes ? logf(sum) + most - own : NAN;
}

// The sums of all samples, where they are wanted.
template <typename Element>
__device__ static void store_loss(const classify_shape &shape, const classify_operands<Element> &on, double loss,
                                  double correct)
{
    double total[2];
    if (!loss_sum<WARPS>(loss, correct, on.parts, on.arrived, total))
        return;
    if (on.loss)
        *on.loss = (float)(total[0] / shape.n);
    if (on.correct)
        *on.correct = (int32_t)total[1];
}

template <typename Element, bool Aligned, bool Shared, int Columns>
__global__ void __launch_bounds__(WARPS * 32) rows_classify(const classify_shape shape, classify_operands<Element> on)
{
    extern __shared__ uint4 room[];
    __shared__ float kept[Shared ? WARPS : 1][Columns];
    heddle_wait_for_previous();
    heddle_release_next();
    if (on.staged)
        on.weight = rows_stage(on.weight, shape.k * shape.c, room);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int first = (Shared ? (int)threadIdx.x : lane) * ROWS8;
    const int step = (Shared ? WARPS : 1) * 32 * ROWS8, rows = Shared ? 1 : WARPS; // rows: of a block at a time
    double loss = 0, correct = 0;
    for (int row = blockIdx.x * rows + (Shared ? 0 : warp); row < shape.n; row += gridDim.x * rows) {
        float logits[Columns];
        bool right;
        add_features<Element, Aligned, Columns>(shape, on, row, first, step, logits);
        join_logits<Shared>(on.bias, shape.k, kept, logits);
        const double found = find_probabilities<Columns>(shape, logits, on.labels[row], &right);
        loss += Shared && warp > 0 ? 0 : found;
        correct += !(Shared && warp > 0) && right;
#pragma unroll
        for (int j = 0; j < Columns; j++)
            if (lane == j && j < shape.classes && !(Shared && warp > 0))
                on.probabilities[(size_t)row * shape.classes + j] = logits[j];
    }
    if (on.loss || on.correct)
        store_loss(shape, on, loss, correct);
}

template <typename Element, int Columns>
static heddle_status launch_columns(const heddle_call *call, classify_operands<Element> on)
{
    const classify_shape *shape = (const classify_shape *)call->shape;
    const bool shared = shape->n <= heddle_cuda_multiprocessors() * 2;
    const unsigned wanted = shared ? shape->n : heddle_ceil_div(shape->n, WARPS);
    const unsigned most = (on.loss || on.correct) && !on.arrived ? 1 : HEDDLE_ROWS_CLASSIFY_BLOCKS;
    const bool aligned = heddle_aligned16(on.input) && heddle_aligned16(on.weight);
    const auto kernel = !aligned ? rows_classify<Element, false, false, Columns>
                        : shared ? rows_classify<Element, true, true, Columns>
                                 : rows_classify<Element, true, false, Columns>;
    const size_t bytes = (size_t)shape->k * shape->c * sizeof(Element);
    on.staged = aligned && !shared && bytes <= MOST_STAGED;
    if (on.staged)
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST_STAGED);
    heddle_cuda_launch_dependent(kernel, dim3(wanted < most ? wanted : most), dim3(WARPS * 32), on.staged ? bytes : 0,
                                 heddle_cuda_stream_of(call), *shape, on);
    return heddle_cuda_launched("01_warp_per_row");
}

template <typename Element> static heddle_status launch_with(const heddle_call *call)
{
    const classify_shape *shape = (const classify_shape *)call->shape;
    classify_operands<Element> on = {};
    on.input = (const Element *)call->input[0];
    on.weight = (const Element *)call->input[1];
    on.bias = (const float *)call->input[2];
    on.labels = (const int32_t *)call->input[3];
    on.probabilities = (float *)call->output[0];
    on.loss = (float *)call->output[1];
    on.correct = (int32_t *)call->output[2];
    on.arrived = (int *)call->output[3];
    on.parts = (double *)call->workspace;
    return shape->k <= 16 ? launch_columns<Element, 16>(call, on) : launch_columns<Element, 32>(call, on);
}

static heddle_status launch(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(classify_shape, launch_with, call);
}

HEDDLE_CUDA_RUNG("rows_classify", "01_warp_per_row", launch)

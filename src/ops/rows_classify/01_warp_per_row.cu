// rows_classify, rung 1: one warp per sample, from its features to their probabilities.
//
// logits.h has the way to the softmax. Where the loss is wanted, each block stores that of its samples and the number
// of correct ones; the last block to arrive adds these in order.
//
// Limited by: latency.

#include "ops/cuda/dependent.h"
#include "ops/cuda/loss_sum.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/rows_classify/rows_classify.h"
#include "ops/rows_head/logits.h"

typedef heddle_rows_classify_shape classify_shape;

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

// The sums of all samples, where they are wanted.
template <typename Element>
__device__ static void store_loss(const classify_shape &shape, const classify_operands<Element> &on, double loss,
                                  double correct)
{
    double total[2];
    if (!loss_sum<LOGITS_WARPS>(loss, correct, on.parts, on.arrived, total))
        return;
    if (on.loss)
        *on.loss = (float)(total[0] / shape.n);
    if (on.correct)
        *on.correct = (int32_t)total[1];
}

template <typename Element, bool Aligned, bool Shared, int Columns>
__global__ void __launch_bounds__(LOGITS_WARPS * 32)
    rows_classify(const classify_shape shape, classify_operands<Element> on)
{
    extern __shared__ uint4 room[];
    __shared__ float kept[Shared ? LOGITS_WARPS : 1][Columns];
    heddle_wait_for_previous();
    heddle_release_next();
    if (on.staged)
        on.weight = rows_stage(on.weight, shape.k * shape.c, room);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int first = (Shared ? (int)threadIdx.x : lane) * ROWS8;
    const int step = (Shared ? LOGITS_WARPS : 1) * 32 * ROWS8,
              rows = Shared ? 1 : LOGITS_WARPS; // rows: of a block at a time
    double loss = 0, correct = 0;
    for (int row = blockIdx.x * rows + (Shared ? 0 : warp); row < shape.n; row += gridDim.x * rows) {
        float logits[Columns];
        bool right;
        logits_add_features<Aligned>(on.input, on.weight, shape.c, shape.k, row, first, step, logits);
        logits_join<Shared>(on.bias, shape.k, kept, logits);
        const double found = logits_softmax(shape.classes, on.labels[row], logits, &right);
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
    const unsigned wanted = shared ? shape->n : heddle_ceil_div(shape->n, LOGITS_WARPS);
    const unsigned most = (on.loss || on.correct) && !on.arrived ? 1 : HEDDLE_ROWS_CLASSIFY_BLOCKS;
    const bool aligned = heddle_aligned16(on.input) && heddle_aligned16(on.weight);
    const auto kernel = !aligned ? rows_classify<Element, false, false, Columns>
                        : shared ? rows_classify<Element, true, true, Columns>
                                 : rows_classify<Element, true, false, Columns>;
    const size_t staged = logits_stage<Element>(kernel, shape->k, shape->c, aligned && !shared);
    on.staged = staged > 0;
    heddle_cuda_launch_dependent(kernel, dim3(wanted < most ? wanted : most), dim3(LOGITS_WARPS * 32), staged,
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

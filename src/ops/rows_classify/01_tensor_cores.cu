// rows_classify, rung 1: sixteen samples per block, from their features to their probabilities.
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
    const float *bias, *scale;
    const int32_t *labels;
    float *probabilities, *loss;
    int32_t *correct;
    int *arrived;
    double *parts; // (blocks, 2)
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

template <typename Element, bool Aligned, int Columns>
__device__ static void add_features(const classify_shape &shape, const classify_operands<Element> &on, int first,
                                    logits_room<Columns> &room)
{
    typedef logits_groups<Aligned, Element, Columns, 2> groups;
    typename groups::sum sums[Columns / 8][4] = {};
    float lower[Columns / 8][4] = {};
    groups own;
    for (int begin = 0; begin < shape.c; begin += 2 * (int)groups::SPAN) {
        own.load_input(on.input, shape.n, shape.c, first, begin);
        own.load_weight(on.weight, shape.c, shape.k, begin);
        own.multiply(sums, lower);
    }
    if constexpr (sizeof(Element) == 1) {
        float scaled[Columns / 8][4];
#pragma unroll
        for (int i = 0; i < Columns / 2; i++) {
            const int column = i / 4 * 8 + (int)threadIdx.x % 4 * 2 + i % 2;
            scaled[i / 4][i % 4] = (float)sums[i / 4][i % 4] * (on.scale && column < shape.k ? on.scale[column] : 1.0f);
        }
        logits_keep<Columns>(scaled, lower, room);
    } else {
        logits_keep<Columns>(sums, lower, room);
    }
}

template <typename Element, bool Aligned, int Columns>
__global__ void __launch_bounds__(LOGITS_THREADS)
    rows_classify(const classify_shape shape, const classify_operands<Element> on)
{
    enum { PASSES = LOGITS_SAMPLES * Columns / LOGITS_THREADS };
    __shared__ logits_room<Columns> room;
    heddle_wait_for_previous();
    heddle_release_next();
    double loss = 0, correct = 0;
    for (int first = blockIdx.x * LOGITS_SAMPLES; first < shape.n; first += gridDim.x * LOGITS_SAMPLES) {
        logits_given given[PASSES];
#pragma unroll
        for (int pass = 0; pass < PASSES; pass++)
            given[pass] = logits_give<Columns>(on.bias, on.labels, shape.n, shape.k, first, pass);
        add_features<Element, Aligned, Columns>(shape, on, first, room);
        __syncthreads();
#pragma unroll
        for (int pass = 0; pass < PASSES; pass++) {
            const logits_given &own = given[pass];
            const logits_one one = logits_softmax<Columns>(room, own, shape.n, shape.classes, first);
            logits_count<Columns>(one, &loss, &correct);
            if (own.row < shape.n && own.column < shape.classes)
                on.probabilities[(size_t)own.row * shape.classes + own.column] = one.probability;
        }
        __syncthreads(); // the logits have been read
    }
    if (on.loss || on.correct)
        store_loss(shape, on, loss, correct);
}

template <typename Element, int Columns>
static heddle_status launch_columns(const heddle_call *call, const classify_operands<Element> &on)
{
    const classify_shape *shape = (const classify_shape *)call->shape;
    classify_shape given = *shape;
    given.c /=
        (int)(sizeof(uint16_t) / sizeof(typename rows_layout<Element>::type)); // two bytes are loaded as one word
    const unsigned wanted = heddle_ceil_div(shape->n, LOGITS_SAMPLES);
    const unsigned most = (on.loss || on.correct) && !on.arrived ? 1 : HEDDLE_ROWS_CLASSIFY_BLOCKS;
    const bool aligned = heddle_aligned16(on.input) && heddle_aligned16(on.weight);
    heddle_cuda_launch_dependent(
        aligned ? rows_classify<Element, true, Columns> : rows_classify<Element, false, Columns>,
        dim3(wanted < most ? wanted : most), dim3(LOGITS_THREADS), 0, heddle_cuda_stream_of(call), given, on);
    return heddle_cuda_launched("01_tensor_cores");
}

template <typename Element> static heddle_status launch_with(const heddle_call *call)
{
    const classify_shape *shape = (const classify_shape *)call->shape;
    classify_operands<Element> on = {};
    on.input = (const Element *)call->input[0];
    on.weight = (const Element *)call->input[1];
    on.bias = (const float *)call->input[2];
    on.labels = (const int32_t *)call->input[3];
    on.scale = (const float *)call->input[4];
    on.probabilities = (float *)call->output[0];
    on.loss = (float *)call->output[1];
    on.correct = (int32_t *)call->output[2];
    on.arrived = (int *)call->output[3];
    on.parts = (double *)call->workspace;
    return shape->k <= 16 ? launch_columns<Element, 16>(call, on) : launch_columns<Element, 32>(call, on);
}

static heddle_status launch(const heddle_call *call)
{
    return ROWS_WITH_ANY_ELEMENT(classify_shape, launch_with, call);
}

HEDDLE_CUDA_RUNG("rows_classify", "01_tensor_cores", launch)

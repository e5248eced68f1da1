// rows_head, rung 1: one warp per sample, from its features to their gradient.
//
// logits.h has the way to the softmax, which is in all lanes' registers; each lane computes the gradient of its own
// features. Each block stores the loss of its samples and the number of correct ones; the last block to arrive adds
// these in order.
//
// Limited by: latency.

#include "ops/cuda/dependent.h"
#include "ops/cuda/loss_sum.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/rows_conv/functions.h"
#include "ops/rows_head/logits.h"
#include "ops/rows_head/rows_head.h"

typedef heddle_rows_head_shape head_shape;

template <typename Element> struct head_operands {
    const Element *input, *weight;
    const float *bias, *grad_loss;
    const int32_t *labels;
    float *loss;
    int32_t *correct;
    Element *grad_logits, *grad_input;
    int *arrived;
    double *parts; // (blocks, 2)
    bool staged;   // blocks of many samples keep the weight in shared memory
};

template <typename Element, bool Aligned, int Columns>
__device__ static void store_gradients(const head_shape &shape, const head_operands<Element> &on, int row, int first,
                                       int step, const float (&grad)[Columns])
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < Columns; j++)
        if (lane == j && j < shape.k && first < 32 * ROWS8) // one warp's
            rows_write(on.grad_logits, row, shape.k, j, grad[j]);
    for (int c = first; c < shape.c; c += step) {
        const rows8 x = rows8_load<Aligned>(rows_at(on.input, (size_t)row * shape.c + c, c), shape.c);
        rows8 result = {};
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
                    result.v[i] += grad[first_row + j] * w[j].v[i];
        }
#pragma unroll
        for (int i = 0; i < ROWS8; i++)
            result.v[i] *= rows_slope(shape.function, x.v[i]);
        rows8_store<Aligned>(rows_at(on.grad_input, (size_t)row * shape.c + c, c), shape.c, result);
    }
}

template <typename Element, bool Aligned, bool Shared, int Columns>
__global__ void __launch_bounds__(LOGITS_WARPS * 32) rows_head(const head_shape shape, head_operands<Element> on)
{
    extern __shared__ uint4 room[];
    __shared__ float kept[Shared ? LOGITS_WARPS : 1][Columns];
    heddle_wait_for_previous();
    heddle_release_next();
    if (on.staged)
        on.weight = rows_stage(on.weight, shape.k * shape.c, room);
    const int warp = threadIdx.x / 32;
    const float unit = ldexpf(*on.grad_loss / (float)shape.n, shape.scale);
    const int first = (Shared ? (int)threadIdx.x : (int)threadIdx.x % 32) * ROWS8;
    const int step = (Shared ? LOGITS_WARPS : 1) * 32 * ROWS8,
              rows = Shared ? 1 : LOGITS_WARPS; // rows: of a block at a time
    double loss = 0, correct = 0;
    for (int row = blockIdx.x * rows + (Shared ? 0 : warp); row < shape.n; row += gridDim.x * rows) {
        float logits[Columns];
        bool right;
        logits_add_features<Aligned>(on.input, on.weight, shape.c, shape.k, row, first, step, logits);
        logits_join<Shared>(on.bias, shape.k, kept, logits);
        const int label = on.labels[row];
        const double found = logits_softmax(shape.classes, label, logits, &right);
#pragma unroll
        for (int j = 0; j < Columns; j++) // into gradients
            logits[j] = unit * (logits[j] - (j == label ? 1.0f : 0.0f));
        loss += Shared && warp > 0 ? 0 : found;
        correct += !(Shared && warp > 0) && right;
        store_gradients<Element, Aligned, Columns>(shape, on, row, first, step, logits);
    }
    double total[2];
    if (loss_sum<LOGITS_WARPS>(loss, correct, on.parts, on.arrived, total)) {
        *on.loss = (float)(total[0] / shape.n);
        *on.correct = (int32_t)total[1];
    }
}

template <typename Element, int Columns>
static heddle_status launch_columns(const heddle_call *call, head_operands<Element> on)
{
    const head_shape *shape = (const head_shape *)call->shape;
    const bool shared = shape->n <= heddle_cuda_multiprocessors() * 2;
    const unsigned wanted = shared ? shape->n : heddle_ceil_div(shape->n, LOGITS_WARPS), most = HEDDLE_ROWS_HEAD_BLOCKS;
    const bool aligned = heddle_aligned16(on.input) && heddle_aligned16(on.weight) && heddle_aligned16(on.grad_input);
    const auto kernel = !aligned ? rows_head<Element, false, false, Columns>
                        : shared ? rows_head<Element, true, true, Columns>
                                 : rows_head<Element, true, false, Columns>;
    const size_t staged = logits_stage<Element>(kernel, shape->k, shape->c, aligned && !shared);
    on.staged = staged > 0;
    heddle_cuda_launch_dependent(kernel, dim3(wanted < most ? wanted : most), dim3(LOGITS_WARPS * 32), staged,
                                 heddle_cuda_stream_of(call), *shape, on);
    return heddle_cuda_launched("01_warp_per_row");
}

template <typename Element> static heddle_status launch_with(const heddle_call *call)
{
    const head_shape *shape = (const head_shape *)call->shape;
    head_operands<Element> on = {};
    on.input = (const Element *)call->input[0];
    on.weight = (const Element *)call->input[1];
    on.bias = (const float *)call->input[2];
    on.labels = (const int32_t *)call->input[3];
    on.grad_loss = (const float *)call->input[4];
    on.loss = (float *)call->output[0];
    on.correct = (int32_t *)call->output[1];
    on.grad_logits = (Element *)call->output[2];
    on.grad_input = (Element *)call->output[3];
    on.arrived = (int *)call->output[4];
    on.parts = (double *)call->workspace;
    return shape->k <= 16 ? launch_columns<Element, 16>(call, on) : launch_columns<Element, 32>(call, on);
}

static heddle_status launch(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(head_shape, launch_with, call);
}

HEDDLE_CUDA_RUNG("rows_head", "01_warp_per_row", launch)

// rows_loss, rung 1: one warp per sample; its lanes share the classes.
//
// Each block stores the loss of its samples and the number of correct ones. The last block to arrive adds these in
// order, so that the sum has the same bits every time.
//
// Limited by: latency; a batch of logits is small.

#include "ops/cuda/dependent.h"
#include "ops/cuda/element16.h"
#include "ops/cuda/loss_sum.h"
#include "ops/cuda/rows8.h"
#include "ops/cuda/rung.h"
#include "ops/rows_loss/rows_loss.h"

typedef heddle_rows_loss_shape loss_shape;

enum { WARPS = 8 };

template <typename Element> struct loss_operands {
    const float *logits, *grad_loss;
    const int32_t *labels;
    float *loss, *probabilities;
    int32_t *correct;
    Element *grad_logits;
    int *arrived;
    double *parts; // (blocks, 2)
};

// The largest value of a row and its first position; NaN is never larger, and shows in the sum.
__device__ static void find_largest(const loss_shape &shape, const float *x, float *most, int *best)
{
    *most = -INFINITY;
    *best = 0x7fffffff;
    for (int j = threadIdx.x % 32; j < shape.classes; j += 32)
        if (x[j] > *most || *best == 0x7fffffff) {
            *most = x[j];
            *best = j;
        }
    for (int distance = 16; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(~0u, *most, distance);
        const int at = __shfl_xor_sync(~0u, *best, distance);
        if (other > *most || (other == *most && at < *best)) {
            *most = other;
            *best = at;
        }
    }
}

// One sample; returns its loss, and whether it is correct. A label that is not a class makes the loss NaN.
template <typename Element>
__device__ static double sample_loss(const loss_shape &shape, const loss_operands<Element> &on, int row, bool *right)
{
    const float *x = on.logits + (size_t)row * shape.k;
    const int lane = threadIdx.x % 32, label = on.labels[row];
    float most, sum = 0;
    int best;
    find_largest(shape, x, &most, &best);
    for (int j = lane; j < shape.classes; j += 32)
        sum += expf(x[j] - most);
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(~0u, sum, distance);
    const float unit = ldexpf(*on.grad_loss / (float)shape.n, shape.scale);
    for (int j = lane; j < shape.k; j += 32) {
        const float probability = j < shape.classes ? expf(x[j] - most) / sum : 0.0f;
        if (on.probabilities && j < shape.classes)
            on.probabilities[(size_t)row * shape.classes + j] = probability;
        if (on.grad_logits)
            rows_write(on.grad_logits, row, shape.k, j, unit * (probability - (j == label ? 1.0f : 0.0f)));
    }
    *right = best == label;
    return label >= 0 && label < shape.classes ? logf(sum) + most - x[label] : NAN;
}

template <typename Element> __global__ void rows_loss(const loss_shape shape, const loss_operands<Element> on)
{
    heddle_wait_for_previous();
    heddle_release_next();
    const int warp = threadIdx.x / 32;
    double loss = 0, correct = 0;
    for (int row = blockIdx.x * WARPS + warp; row < shape.n; row += gridDim.x * WARPS) {
        bool right;
        loss += sample_loss(shape, on, row, &right);
        correct += right;
    }
    double total[2];
    if (loss_sum<WARPS>(loss, correct, on.parts, on.arrived, total)) {
        *on.loss = (float)(total[0] / shape.n);
        *on.correct = (int32_t)total[1];
    }
}

template <typename Element> static heddle_status launch_with(const heddle_call *call)
{
    const loss_shape *shape = (const loss_shape *)call->shape;
    loss_operands<Element> on = {};
    on.logits = (const float *)call->input[0];
    on.labels = (const int32_t *)call->input[1];
    on.grad_loss = (const float *)call->input[2];
    on.loss = (float *)call->output[0];
    on.correct = (int32_t *)call->output[1];
    on.probabilities = (float *)call->output[2];
    on.grad_logits = (Element *)call->output[3];
    on.arrived = (int *)call->output[4];
    on.parts = (double *)call->workspace;
    const unsigned wanted = heddle_ceil_div(shape->n, WARPS), most = HEDDLE_ROWS_LOSS_BLOCKS;
    heddle_cuda_launch_dependent(rows_loss<Element>, dim3(wanted < most ? wanted : most), dim3(WARPS * 32), 0,
                                 heddle_cuda_stream_of(call), *shape, on);
    return heddle_cuda_launched("01_warp_per_row");
}

static heddle_status launch(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(loss_shape, launch_with, call);
}

HEDDLE_CUDA_RUNG("rows_loss", "01_warp_per_row", launch)

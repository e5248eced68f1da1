// globalavgpool, second rung: planes spread over the threads, with several independent sums, so that an addition does
// not wait for the one before and vectors can be used.
//
// Limited by: memory bandwidth.

#include "heddle/ops.h"
#include "ops/clones.h"
#include "ops/globalavgpool/globalavgpool.h"
#include "ops/pieces.h"

enum { SUMS = 8 };

HEDDLE_CLONES static float sum_of(const float *plane, size_t pixels)
{
    float sums[SUMS] = {0}, sum = 0;
    size_t whole = pixels / SUMS * SUMS;
    for (size_t i = 0; i < whole; i += SUMS)
        for (int j = 0; j < SUMS; j++)
            sums[j] += plane[i + j];
    for (size_t i = whole; i < pixels; i++)
        sum += plane[i];
    for (int j = 0; j < SUMS; j++)
        sum += sums[j];
    return sum;
}

static void average_planes(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_globalavgpool_shape *shape = call->shape;
    size_t pixels = (size_t)shape->h * shape->w;
    for (size_t p = begin; p < end; p++)
        ((float *)call->output[0])[p] = sum_of((const float *)call->input[0] + p * pixels, pixels) / (float)pixels;
}

static void fill_planes(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_globalavgpool_shape *shape = call->shape;
    size_t pixels = (size_t)shape->h * shape->w;
    for (size_t p = begin; p < end; p++) {
        float share = ((const float *)call->input[0])[p] / (float)pixels;
        float *grad_plane = (float *)call->output[0] + p * pixels;
        for (size_t i = 0; i < pixels; i++)
            grad_plane[i] = share;
    }
}

static heddle_status for_planes(const heddle_call *call, heddle_piece_task *task)
{
    const heddle_globalavgpool_shape *shape = call->shape;
    size_t grain = heddle_piece_rows((size_t)shape->h * shape->w);
    heddle_pieces_run(call->pool, (size_t)shape->n * shape->c, grain, task, (void *)call);
    return HEDDLE_OK;
}

heddle_status heddle_globalavgpool_forward_cpu_planes(const heddle_call *call)
{
    return for_planes(call, average_planes);
}

heddle_status heddle_globalavgpool_backward_cpu_planes(const heddle_call *call)
{
    return for_planes(call, fill_planes);
}

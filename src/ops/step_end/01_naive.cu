// step_end, the GPU's rung: one warp, one thread per hyper-parameter; the first thread does the rest.
//
// The row of the schedule follows from the cursor and, for AdamW's corrections, from the number of skipped steps: two
// dependent trips to memory. The schedule does not change, so the row is read before the wait for the previous kernel,
// with the values of that moment. If they have changed by the end of the wait, the row is read again.
//
// Limited by: the launch, and one trip to memory.

#include "heddle/ops.h"
#include "ops/cuda/dependent.h"
#include "ops/cuda/rung.h"

enum { WARP = 32 };

// The schedule's row that this thread's hyper-parameter is taken from after `steps` steps.
static __device__ int64_t schedule_row(int64_t steps, int64_t left_out, int length)
{
    const bool correction = threadIdx.x == HEDDLE_HYPER_CORRECTION1 || threadIdx.x == HEDDLE_HYPER_CORRECTION2;
    return max(min(correction ? steps - left_out : steps, (int64_t)length - 1), (int64_t)0);
}

// schedule: (length, HEDDLE_HYPER_COUNT), hyper: (HEDDLE_HYPER_COUNT)
__global__ void step_end_naive(int n, int length, const float *loss, const int32_t *correct, const float *schedule,
                               const float *grad, int64_t *cursor, double *tally, float *hyper)
{
    const bool moves = schedule && hyper && threadIdx.x < HEDDLE_HYPER_COUNT;
    const double left_before = grad ? *(const volatile double *)(tally + 4) : 0;
    const int64_t guess = schedule_row(*(const volatile int64_t *)(cursor + 1) + 1, (int64_t)left_before, length);
    float next = moves ? schedule[guess * HEDDLE_HYPER_COUNT + threadIdx.x] : 0.0f;
    heddle_wait_for_previous();
    heddle_release_next();
    const int64_t position = cursor[0], steps = cursor[1] + 1;
    const double losses = tally[0], right = tally[1], not_finite = tally[2];
    const double left_out = grad ? tally[4] + (isnan(*grad) ? 1 : 0) : 0;
    const int64_t row = schedule_row(steps, (int64_t)left_out, length);
    const float own_loss = *loss;
    const int own_right = *correct;
    if (moves && row != guess)
        next = schedule[row * HEDDLE_HYPER_COUNT + threadIdx.x];
    __syncwarp(); // all threads have read cursor and tally before they change
    if (moves)
        hyper[threadIdx.x] = next;
    if (threadIdx.x > 0)
        return;
    if (isfinite(own_loss)) {
        tally[0] = losses + (double)own_loss * n;
        tally[1] = right + own_right;
    } else {
        tally[2] = not_finite + 1;
        tally[3] = own_loss;
    }
    if (grad)
        tally[4] = left_out;
    cursor[0] = position + n;
    cursor[1] = steps;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_step_end_shape *shape = (const heddle_step_end_shape *)call->shape;
    heddle_cuda_launch_dependent(step_end_naive, 1, WARP, 0, heddle_cuda_stream_of(call), shape->n, shape->length,
                                 (const float *)call->input[0], (const int32_t *)call->input[1],
                                 (const float *)call->input[2], (const float *)call->input[3],
                                 (int64_t *)call->output[0], (double *)call->output[1], (float *)call->output[2]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("step_end", "01_naive", launch)

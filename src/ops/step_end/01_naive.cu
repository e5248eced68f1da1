// step_end, the GPU's rung: one warp, a thread a hyper-parameter; the first thread does the rest.
//
// Limited by: the launch, and two dependent loads.

#include "heddle/ops.h"
#include "ops/cuda/dependent.h"
#include "ops/cuda/rung.h"

enum { WARP = 32 };

// schedule: (length, HEDDLE_HYPER_COUNT), hyper: (HEDDLE_HYPER_COUNT)
__global__ void step_end_naive(int n, int length, const float *loss, const int32_t *correct, const float *schedule,
                               int64_t *cursor, double *tally, float *hyper)
{
    heddle_wait_for_previous();
    heddle_release_next();
    const int64_t steps = cursor[1] + 1, row = steps < length ? steps : length - 1;
    __syncwarp(); // all have read the cursor before it moves
    if (schedule && hyper && threadIdx.x < HEDDLE_HYPER_COUNT)
        hyper[threadIdx.x] = schedule[row * HEDDLE_HYPER_COUNT + threadIdx.x];
    if (threadIdx.x > 0)
        return;
    if (isfinite(*loss)) {
        tally[0] += (double)*loss * n;
        tally[1] += *correct;
    } else {
        tally[2] += 1;
        tally[3] = *loss;
    }
    cursor[0] += n;
    cursor[1] = steps;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_step_end_shape *shape = (const heddle_step_end_shape *)call->shape;
    heddle_cuda_launch_dependent(step_end_naive, 1, WARP, 0, heddle_cuda_stream_of(call), shape->n, shape->length,
                                 (const float *)call->input[0], (const int32_t *)call->input[1],
                                 (const float *)call->input[2], (int64_t *)call->output[0], (double *)call->output[1],
                                 (float *)call->output[2]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("step_end", "01_naive", launch)

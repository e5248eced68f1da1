// Optimisers, second rung: vector loops over all threads; whatever is the same for all parameters is computed once. A
// select between new and old values handles NaN gradients, so the loops have no branch.
//
// Limited by: memory bandwidth.

#include <math.h>

#include "heddle/ops.h"
#include "ops/clones.h"
#include "ops/optimizer/optimizer.h"
#include "ops/pieces.h"

HEDDLE_CLONES static void sgd(const float *restrict grad, float rate, float decay, size_t count,
                              float *restrict parameter)
{
    for (size_t i = 0; i < count; i++) {
        float moved = parameter[i] - rate * (grad[i] + decay * parameter[i]);
        parameter[i] = isnan(grad[i]) ? parameter[i] : moved;
    }
}

static void sgd_part(const heddle_call *call, float decay, size_t begin, size_t end)
{
    const float *hyper = call->input[1];
    sgd((const float *)call->input[0] + begin, hyper[HEDDLE_HYPER_LEARNING_RATE], decay, end - begin,
        (float *)call->output[0] + begin);
}

HEDDLE_CLONES static void momentum(const float *restrict grad, float rate, float decay, float kept, size_t count,
                                   float *restrict parameter, float *restrict velocity)
{
    for (size_t i = 0; i < count; i++) {
        float moved = kept * velocity[i] + (grad[i] + decay * parameter[i]);
        parameter[i] = isnan(grad[i]) ? parameter[i] : parameter[i] - rate * moved;
        velocity[i] = isnan(grad[i]) ? velocity[i] : moved;
    }
}

static void momentum_part(const heddle_call *call, float decay, size_t begin, size_t end)
{
    const float *hyper = call->input[1];
    momentum((const float *)call->input[0] + begin, hyper[HEDDLE_HYPER_LEARNING_RATE], decay,
             hyper[HEDDLE_HYPER_MOMENTUM], end - begin, (float *)call->output[0] + begin,
             (float *)call->output[1] + begin);
}

typedef struct adamw_factors {
    float kept; // of a parameter, after decay
    float beta1, beta2;
    float rate;            // divided by the first correction
    float root_correction; // 1 / sqrt of the second
    float epsilon;
} adamw_factors;

static adamw_factors adamw_factors_of(const float *hyper, float decay)
{
    float rate = hyper[HEDDLE_HYPER_LEARNING_RATE];
    return (adamw_factors){.kept = 1.0f - rate * decay,
                           .beta1 = hyper[HEDDLE_HYPER_MOMENTUM],
                           .beta2 = hyper[HEDDLE_HYPER_BETA2],
                           .rate = rate / hyper[HEDDLE_HYPER_CORRECTION1],
                           .root_correction = 1.0f / sqrtf(hyper[HEDDLE_HYPER_CORRECTION2]),
                           .epsilon = hyper[HEDDLE_HYPER_EPSILON]};
}

HEDDLE_CLONES static void adamw(const float *restrict grad, adamw_factors factors, size_t count,
                                float *restrict parameter, float *restrict first_moment, float *restrict second_moment)
{
    for (size_t i = 0; i < count; i++) {
        float first = factors.beta1 * first_moment[i] + (1.0f - factors.beta1) * grad[i];
        float second = factors.beta2 * second_moment[i] + (1.0f - factors.beta2) * grad[i] * grad[i];
        float root = sqrtf(second) * factors.root_correction + factors.epsilon;
        float moved = factors.kept * parameter[i] - factors.rate * first / root;
        bool number = !isnan(grad[i]);
        first_moment[i] = number ? first : first_moment[i];
        second_moment[i] = number ? second : second_moment[i];
        parameter[i] = number ? moved : parameter[i];
    }
}

static void adamw_part(const heddle_call *call, float decay, size_t begin, size_t end)
{
    adamw((const float *)call->input[0] + begin, adamw_factors_of(call->input[1], decay), end - begin,
          (float *)call->output[0] + begin, (float *)call->output[1] + begin, (float *)call->output[2] + begin);
}

typedef struct update {
    const heddle_call *call;
    void (*part)(const heddle_call *call, float decay, size_t begin, size_t end);
} update;

// The part of a piece with weight decay, then the part without.
static void update_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const update *of = context;
    const heddle_update_shape *shape = of->call->shape;
    size_t middle = (size_t)(shape->n - shape->undecayed);
    middle = middle < begin ? begin : middle > end ? end : middle;
    if (middle > begin)
        of->part(of->call, ((const float *)of->call->input[1])[HEDDLE_HYPER_WEIGHT_DECAY], begin, middle);
    if (end > middle)
        of->part(of->call, 0.0f, middle, end);
}

static heddle_status run(update of)
{
    const heddle_update_shape *shape = of.call->shape;
    heddle_pieces_run(of.call->pool, (size_t)shape->n, HEDDLE_PIECE_ELEMENTS, update_piece, &of);
    return HEDDLE_OK;
}

heddle_status heddle_sgd_update_cpu_vectorised(const heddle_call *call)
{
    return run((update){call, sgd_part});
}

heddle_status heddle_momentum_update_cpu_vectorised(const heddle_call *call)
{
    return run((update){call, momentum_part});
}

heddle_status heddle_adamw_update_cpu_vectorised(const heddle_call *call)
{
    return run((update){call, adamw_part});
}

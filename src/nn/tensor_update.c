// The optimisers of heddle/tensor.h: one step over every parameter that has a gradient, by the ladders' operators.

#include <math.h>

#include "heddle/ops.h"
#include "nn/tensor.h"

// Hyper-parameters on the device. Parameters that have taken the same number of steps share them.
static heddle_status make_hyper(heddle_context *context, const float hyper[HEDDLE_HYPER_COUNT], const void **memory)
{
    int count = HEDDLE_HYPER_COUNT;
    heddle_tensor *tensor = heddle_tensor_make(context, HEDDLE_F32, 1, &count, hyper);
    if (!tensor)
        return context->failure;
    tensor->released = true;
    *memory = context->trace.values[tensor->value].memory;
    return HEDDLE_OK;
}

static heddle_status launch(const heddle_tensor *parameter, const char *op_name, const void *grad, const void *hyper)
{
    heddle_context *context = parameter->context;
    const heddle_op *op;
    const heddle_rung *rung;
    heddle_update_shape shape = {.n = (int)heddle_tensor_elements(parameter)};
    heddle_call call = {.shape = &shape,
                        .stream = context->stream,
                        .input = {grad, hyper},
                        .output = {parameter->memory, parameter->moment[0], parameter->moment[1]}};
    HEDDLE_TRY(heddle_op_find(op_name, &op));
    HEDDLE_TRY(
        heddle_rung_choose(op, heddle_device_get_kind(context->device), HEDDLE_FUSED, HEDDLE_FULL, &shape, &rung));
    return heddle_launch(op, rung, &call);
}

// What the optimiser remembers of a parameter, zero before its first step.
static heddle_status prepare_moments(heddle_tensor *parameter, heddle_optimizer optimizer, int moments)
{
    heddle_context *context = parameter->context;
    const size_t bytes = heddle_tensor_elements(parameter) * sizeof(float);
    for (int i = 0; i < moments && parameter->moments_of != optimizer; i++) {
        if (!parameter->moment[i])
            HEDDLE_TRY(heddle_alloc(context->device, bytes, &parameter->moment[i]));
        HEDDLE_TRY(heddle_fill(context->stream, parameter->moment[i], 0, bytes));
    }
    if (parameter->moments_of != optimizer)
        parameter->steps = 0;
    parameter->moments_of = optimizer;
    return HEDDLE_OK;
}

static heddle_status check(heddle_context *context, const char *name, const void *options, float rate)
{
    if (!context || !options)
        return heddle_fail(HEDDLE_INVALID, "%s needs a context%s, and got NULL", name, context ? " and options" : "");
    if (!isfinite(rate))
        return heddle_fail(HEDDLE_INVALID, "%s: a learning rate of %g", name, (double)rate);
    return HEDDLE_OK;
}

// In [0, 1), as the parts of running means are.
static bool is_part(float value)
{
    return value >= 0 && value < 1;
}

static bool is_positive(float value)
{
    return value >= 0 && isfinite(value);
}

// --- sgd ------------------------------------------------------------------------------------------------------------

heddle_status heddle_sgd_step(heddle_context *context, float rate)
{
    HEDDLE_TRY(check(context, "heddle_sgd_step", &rate, rate));
    const void *hyper = NULL;
    HEDDLE_TRY(make_hyper(context, (float[HEDDLE_HYPER_COUNT]){[HEDDLE_HYPER_LEARNING_RATE] = rate}, &hyper));
    for (heddle_tensor *parameter = context->parameters; parameter; parameter = parameter->next) {
        if (!parameter->has_gradient)
            continue;
        HEDDLE_TRY(launch(parameter, "sgd_update", parameter->gradient, hyper));
        parameter->has_gradient = false;
    }
    return heddle_stream_synchronize(context->stream);
}

// --- momentum -------------------------------------------------------------------------------------------------------

// velocity = momentum * velocity + slope, with slope = gradient + decay * parameter; then parameter -= rate * velocity,
// or, with Nesterov's look ahead, parameter -= rate * (slope + momentum * velocity). The operators have no such update,
// but its parts: the velocity alone (a rate of 0), the slope, and the velocity as if it were a gradient.
heddle_status heddle_momentum_step(heddle_context *context, const heddle_momentum_options *options)
{
    enum { VELOCITY, SLOPE, AHEAD, PARTS };
    HEDDLE_TRY(check(context, "heddle_momentum_step", options, options ? options->rate : 0));
    if (!is_part(options->momentum) || !is_positive(options->weight_decay) || (options->nesterov && !options->momentum))
        return heddle_fail(HEDDLE_INVALID,
                           "heddle_momentum_step: momentum %g, weight decay %g%s; momentum is at least 0 and below 1, "
                           "above 0 with Nesterov, weight decay at least 0",
                           (double)options->momentum, (double)options->weight_decay,
                           options->nesterov ? ", Nesterov" : "");
    float hyper[PARTS][HEDDLE_HYPER_COUNT] = {
        [VELOCITY] = {[HEDDLE_HYPER_LEARNING_RATE] = options->nesterov ? 0 : options->rate,
                      [HEDDLE_HYPER_WEIGHT_DECAY] = options->weight_decay,
                      [HEDDLE_HYPER_MOMENTUM] = options->momentum},
        [SLOPE] = {[HEDDLE_HYPER_LEARNING_RATE] = options->rate, [HEDDLE_HYPER_WEIGHT_DECAY] = options->weight_decay},
        [AHEAD] = {[HEDDLE_HYPER_LEARNING_RATE] = options->rate * options->momentum},
    };
    const void *memory[PARTS] = {NULL};
    for (int i = 0; i < (options->nesterov ? PARTS : SLOPE); i++)
        HEDDLE_TRY(make_hyper(context, hyper[i], &memory[i]));
    for (heddle_tensor *parameter = context->parameters; parameter; parameter = parameter->next) {
        if (!parameter->has_gradient)
            continue;
        HEDDLE_TRY(prepare_moments(parameter, HEDDLE_MOMENTUM, 1));
        HEDDLE_TRY(launch(parameter, "momentum_update", parameter->gradient, memory[VELOCITY]));
        if (options->nesterov) {
            HEDDLE_TRY(launch(parameter, "sgd_update", parameter->gradient, memory[SLOPE]));
            HEDDLE_TRY(launch(parameter, "sgd_update", parameter->moment[0], memory[AHEAD]));
        }
        parameter->has_gradient = false;
    }
    return heddle_stream_synchronize(context->stream);
}

// --- AdamW ----------------------------------------------------------------------------------------------------------

heddle_adamw_options heddle_adamw_defaults(void)
{
    return (heddle_adamw_options){
        .rate = 1e-3F, .beta1 = 0.9F, .beta2 = 0.999F, .epsilon = 1e-8F, .weight_decay = 0.01F};
}

heddle_status heddle_adamw_step(heddle_context *context, const heddle_adamw_options *options)
{
    HEDDLE_TRY(check(context, "heddle_adamw_step", options, options ? options->rate : 0));
    if (!is_part(options->beta1) || !is_part(options->beta2) || !is_positive(options->epsilon) ||
        !is_positive(options->weight_decay))
        return heddle_fail(HEDDLE_INVALID,
                           "heddle_adamw_step: betas %g and %g, epsilon %g, weight decay %g; betas are at least 0 and "
                           "below 1, the others at least 0",
                           (double)options->beta1, (double)options->beta2, (double)options->epsilon,
                           (double)options->weight_decay);
    const void *memory = NULL;
    int steps = 0; // that `memory` is for
    for (heddle_tensor *parameter = context->parameters; parameter; parameter = parameter->next) {
        if (!parameter->has_gradient)
            continue;
        HEDDLE_TRY(prepare_moments(parameter, HEDDLE_ADAMW, 2));
        parameter->steps++;
        if (parameter->steps != steps) {
            steps = parameter->steps;
            const float hyper[HEDDLE_HYPER_COUNT] = {
                [HEDDLE_HYPER_LEARNING_RATE] = options->rate,
                [HEDDLE_HYPER_WEIGHT_DECAY] = options->weight_decay,
                [HEDDLE_HYPER_MOMENTUM] = options->beta1,
                [HEDDLE_HYPER_BETA2] = options->beta2,
                [HEDDLE_HYPER_EPSILON] = options->epsilon,
                [HEDDLE_HYPER_CORRECTION1] = (float)(1 - pow((double)options->beta1, steps)),
                [HEDDLE_HYPER_CORRECTION2] = (float)(1 - pow((double)options->beta2, steps)),
            };
            HEDDLE_TRY(make_hyper(context, hyper, &memory));
        }
        HEDDLE_TRY(launch(parameter, "adamw_update", parameter->gradient, memory));
        parameter->has_gradient = false;
    }
    return heddle_stream_synchronize(context->stream);
}

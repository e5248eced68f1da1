// cnn_train: whole training steps of the course's network, one after another. How its tensors lie in one buffer, and
// its operands by name, for the rungs; the CUDA rungs' kernels are cnn_step's.
#ifndef HEDDLE_OPS_CNN_TRAIN_H
#define HEDDLE_OPS_CNN_TRAIN_H

#include "ops/cnn_step/cnn_step.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const heddle_op heddle_op_cnn_train;

enum {
    HEDDLE_CNN_PARAMETERS = 12, // tensors of heddle_cnn_step_parameters, in its order
    HEDDLE_CNN_STATISTICS = 4,  // running_mean1, running_var1, running_mean2, running_var2
    HEDDLE_CNN_ALIGNMENT = 64,  // floats: where tensors of a bank begin, as a model's state has them
};

// Where the tensors of a bank begin, in floats; those that a network without biases has not, at -1.
typedef struct heddle_cnn_train_bank {
    int at[HEDDLE_CNN_PARAMETERS];
    int floats;
} heddle_cnn_train_bank;

static inline heddle_cnn_train_bank heddle_cnn_train_place(const int *elements, int count)
{
    heddle_cnn_train_bank bank = {{0}, 0};
    for (int i = 0; i < count; i++) {
        bank.at[i] = elements[i] > 0 ? bank.floats : -1;
        bank.floats += (elements[i] + HEDDLE_CNN_ALIGNMENT - 1) / HEDDLE_CNN_ALIGNMENT * HEDDLE_CNN_ALIGNMENT;
    }
    return bank;
}

static inline heddle_cnn_train_bank heddle_cnn_train_parameters(const heddle_cnn_train_shape *shape)
{
    const int taps = 9, features = shape->k2 * (shape->h / 4) * (shape->w / 4);
    const int bias1 = shape->bias ? shape->k1 : 0, bias2 = shape->bias ? shape->k2 : 0;
    const int elements[HEDDLE_CNN_PARAMETERS] = {
        shape->k1 * shape->c * taps,
        bias1,
        shape->k1,
        shape->k1,
        shape->k2 * shape->k1 * taps,
        bias2,
        shape->k2,
        shape->k2,
        shape->hidden * features,
        shape->hidden,
        shape->classes * shape->hidden,
        shape->classes,
    };
    return heddle_cnn_train_place(elements, HEDDLE_CNN_PARAMETERS);
}

static inline heddle_cnn_train_bank heddle_cnn_train_statistics(const heddle_cnn_train_shape *shape)
{
    const int elements[HEDDLE_CNN_STATISTICS] = {shape->k1, shape->k1, shape->k2, shape->k2};
    return heddle_cnn_train_place(elements, HEDDLE_CNN_STATISTICS);
}

// Where the cursor stands behind a call's `samples`: an order that is used up begins anew, so that calls may follow
// each other for ever, each with samples that are there.
// A macro, because kernels need it, too.
#define HEDDLE_CNN_TRAIN_CURSOR(position, length, samples)                                                             \
    ((position) == (length) ? (int64_t)((length) % (samples)) : (position))

// One step's, without the update.
static inline heddle_cnn_step_shape heddle_cnn_train_step(const heddle_cnn_train_shape *shape)
{
    heddle_cnn_step_shape step;
    step.n = shape->n, step.count = shape->count, step.length = shape->length;
    step.c = shape->c, step.h = shape->h, step.w = shape->w;
    step.k1 = shape->k1, step.k2 = shape->k2, step.hidden = shape->hidden, step.classes = shape->classes;
    step.epsilon = shape->epsilon, step.momentum = shape->momentum;
    return step;
}

// Moments that the optimiser has none of are NULL or empty.
typedef struct heddle_cnn_train_operands {
    const uint8_t *images;
    const int32_t *labels, *order;
    const float *schedule; // (rows, HEDDLE_HYPER_COUNT)
    float *parameters, *first_moment, *second_moment;
    float *statistics;
    int64_t *cursor;
    double *tally;
    float *hyper;
    float *loss; // of the last step
    int32_t *correct;
} heddle_cnn_train_operands;

static inline heddle_cnn_train_operands heddle_cnn_train_unpack(const heddle_call *call)
{
    heddle_cnn_train_operands operands;
    operands.images = (const uint8_t *)call->input[0];
    operands.labels = (const int32_t *)call->input[1];
    operands.order = (const int32_t *)call->input[2];
    operands.schedule = (const float *)call->input[3];
    operands.parameters = (float *)call->output[0];
    operands.first_moment = (float *)call->output[1];
    operands.second_moment = (float *)call->output[2];
    operands.statistics = (float *)call->output[3];
    operands.cursor = (int64_t *)call->output[4];
    operands.tally = (double *)call->output[5];
    operands.hyper = (float *)call->output[6];
    operands.loss = (float *)call->output[7];
    operands.correct = (int32_t *)call->output[8];
    return operands;
}

heddle_status heddle_cnn_train_cpu_naive(const heddle_call *call);
size_t heddle_cnn_train_cpu_naive_workspace(const void *shape, int threads);
heddle_status heddle_cnn_train_cpu_chain(const heddle_call *call);
size_t heddle_cnn_train_cpu_chain_workspace(const void *shape, int threads);

#ifdef __cplusplus
}
#endif
#endif

// cnn_train: whole training steps of the MNIST CNN, one after another. The layout of its tensors in one buffer, and its
// operands by name; the kernels of the CUDA rungs are cnn_step's.
#pragma once

#include "ops/cnn_step/cnn_step.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const heddle_op heddle_op_cnn_train;

enum { HEDDLE_CNN_ALIGNMENT = 64 }; // floats: the alignment of tensors in a bank, as in a model's state

// Where the tensors of a bank begin, in floats; -1 for those that a network without biases does not have.
typedef struct heddle_cnn_train_bank {
    int at[HEDDLE_CNN_PARAMETERS];
    int floats;
} heddle_cnn_train_bank;

// Appends a tensor of this many elements.
static inline void heddle_cnn_train_place(heddle_cnn_train_bank *bank, int tensor, int elements)
{
    bank->at[tensor] = elements > 0 ? bank->floats : -1;
    bank->floats += (elements + HEDDLE_CNN_ALIGNMENT - 1) / HEDDLE_CNN_ALIGNMENT * HEDDLE_CNN_ALIGNMENT;
}

static inline int heddle_cnn_train_product(const int *extents, size_t bytes)
{
    int product = 1;
    for (size_t i = 0; i < bytes / sizeof *extents; i++)
        product *= extents[i];
    return product;
}

static inline heddle_cnn_train_bank heddle_cnn_train_parameters(const heddle_cnn_train_shape *shape)
{
    heddle_cnn_train_bank bank = {{0}, 0};
#define HEDDLE_CNN_PLACE(name, optional, smooth, ...)                                                                  \
    {                                                                                                                  \
        const int extents[] = {__VA_ARGS__};                                                                           \
        const int elements = heddle_cnn_train_product(extents, sizeof extents);                                        \
        heddle_cnn_train_place(&bank, HEDDLE_CNN_##name, (optional) && !shape->bias ? 0 : elements);                   \
    }
    HEDDLE_CNN_TENSORS(HEDDLE_CNN_PLACE)
#undef HEDDLE_CNN_PLACE
    return bank;
}

static inline heddle_cnn_train_bank heddle_cnn_train_statistics(const heddle_cnn_train_shape *shape)
{
    heddle_cnn_train_bank bank = {{0}, 0};
#define HEDDLE_CNN_PLACE(name, values, extent) heddle_cnn_train_place(&bank, HEDDLE_CNN_##name, extent);
    HEDDLE_CNN_STATISTICS_OF(HEDDLE_CNN_PLACE)
#undef HEDDLE_CNN_PLACE
    return bank;
}

// The cursor after a call's `samples`: an order that is used up starts again, so that calls may follow each other
// forever, each with valid samples. A macro, because kernels need it, too.
#define HEDDLE_CNN_TRAIN_WRAPPED(position, length, samples)                                                            \
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

// The places of the operands in a call's inputs and outputs.
enum { HEDDLE_CNN_TRAIN_IMAGES, HEDDLE_CNN_TRAIN_LABELS, HEDDLE_CNN_TRAIN_ORDER, HEDDLE_CNN_TRAIN_SCHEDULE };
enum {
    HEDDLE_CNN_TRAIN_PARAMETERS,
    HEDDLE_CNN_TRAIN_FIRST_MOMENT,
    HEDDLE_CNN_TRAIN_SECOND_MOMENT,
    HEDDLE_CNN_TRAIN_STATISTICS,
    HEDDLE_CNN_TRAIN_CURSOR,
    HEDDLE_CNN_TRAIN_TALLY,
    HEDDLE_CNN_TRAIN_HYPER,
    HEDDLE_CNN_TRAIN_LOSS,
    HEDDLE_CNN_TRAIN_CORRECT,
};

// Moments that the optimiser does not have are NULL or empty.
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
    operands.images = (const uint8_t *)call->input[HEDDLE_CNN_TRAIN_IMAGES];
    operands.labels = (const int32_t *)call->input[HEDDLE_CNN_TRAIN_LABELS];
    operands.order = (const int32_t *)call->input[HEDDLE_CNN_TRAIN_ORDER];
    operands.schedule = (const float *)call->input[HEDDLE_CNN_TRAIN_SCHEDULE];
    operands.parameters = (float *)call->output[HEDDLE_CNN_TRAIN_PARAMETERS];
    operands.first_moment = (float *)call->output[HEDDLE_CNN_TRAIN_FIRST_MOMENT];
    operands.second_moment = (float *)call->output[HEDDLE_CNN_TRAIN_SECOND_MOMENT];
    operands.statistics = (float *)call->output[HEDDLE_CNN_TRAIN_STATISTICS];
    operands.cursor = (int64_t *)call->output[HEDDLE_CNN_TRAIN_CURSOR];
    operands.tally = (double *)call->output[HEDDLE_CNN_TRAIN_TALLY];
    operands.hyper = (float *)call->output[HEDDLE_CNN_TRAIN_HYPER];
    operands.loss = (float *)call->output[HEDDLE_CNN_TRAIN_LOSS];
    operands.correct = (int32_t *)call->output[HEDDLE_CNN_TRAIN_CORRECT];
    return operands;
}

void heddle_cnn_train_reference(const void *shape, const double *const *input, double *const *output);

#ifdef __cplusplus
}
#endif

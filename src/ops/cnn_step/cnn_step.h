// cnn_step: the loss of the MNIST CNN on a batch and the gradient of every parameter. The table of its tensors, and its
// operands by name; what it computes is in reference.c, what the CUDA rungs keep between their kernels in layout.h.
#pragma once

#include <stdint.h>

#include "heddle/op.h"
#include "heddle/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const heddle_op heddle_op_cnn_step;

// The network's parameters: TENSOR(name, optional, smooth, extents...), in the order in which they stand among the
// operands of cnn_step, and their gradients after them; `shape` in the extents is cnn_step's or cnn_train's. Everything
// that lists them is made from this table. smooth: see heddle_operand, of the gradient. hidden_weight is over the
// flattened (k2, h/4, w/4).
// clang-format off
#define HEDDLE_CNN_TENSORS(TENSOR)                                                                                     \
    TENSOR(conv1_weight, false, false, shape->k1, shape->c, 3, 3)                                                      \
    TENSOR(conv1_bias, true, false, shape->k1)                                                                         \
    TENSOR(gamma1, false, false, shape->k1)                                                                            \
    TENSOR(beta1, false, false, shape->k1)                                                                             \
    TENSOR(conv2_weight, false, false, shape->k2, shape->k1, 3, 3)                                                     \
    TENSOR(conv2_bias, true, false, shape->k2)                                                                         \
    TENSOR(gamma2, false, false, shape->k2)                                                                            \
    TENSOR(beta2, false, false, shape->k2)                                                                             \
    TENSOR(hidden_weight, false, false, shape->hidden, shape->k2 * (shape->h / 4) * (shape->w / 4))                    \
    TENSOR(hidden_bias, false, false, shape->hidden)                                                                   \
    TENSOR(output_weight, false, true, shape->classes, shape->hidden)                                                  \
    TENSOR(output_bias, false, true, shape->classes)

// The running statistics of the batchnorms: STATISTIC(name, values for tests, extent).
#define HEDDLE_CNN_STATISTICS_OF(STATISTIC)                                                                            \
    STATISTIC(running_mean1, NORMAL, shape->k1)                                                                        \
    STATISTIC(running_var1, POSITIVE, shape->k1)                                                                       \
    STATISTIC(running_mean2, NORMAL, shape->k2)                                                                        \
    STATISTIC(running_var2, POSITIVE, shape->k2)
// clang-format on

// Numbers of the tensors in their tables, HEDDLE_CNN_conv1_weight and so on, and how many there are.
#define HEDDLE_CNN_NUMBER(name, ...) HEDDLE_CNN_##name,
enum { HEDDLE_CNN_TENSORS(HEDDLE_CNN_NUMBER) HEDDLE_CNN_PARAMETERS };
enum { HEDDLE_CNN_STATISTICS_OF(HEDDLE_CNN_NUMBER) HEDDLE_CNN_STATISTICS };

// The places of cnn_step's operands in a call's inputs and outputs.
enum {
    HEDDLE_CNN_IMAGES,
    HEDDLE_CNN_LABELS,
    HEDDLE_CNN_ORDER,
    HEDDLE_CNN_CURSOR,
    HEDDLE_CNN_FIRST_PARAMETER,
};
enum {
    HEDDLE_CNN_LOSS,
    HEDDLE_CNN_CORRECT,
    HEDDLE_CNN_FIRST_GRADIENT,
    HEDDLE_CNN_FIRST_STATISTIC = HEDDLE_CNN_FIRST_GRADIENT + HEDDLE_CNN_PARAMETERS,
};

typedef struct heddle_cnn_step_parameters {
#define HEDDLE_CNN_FIELD(name, ...) const float *name;
    HEDDLE_CNN_TENSORS(HEDDLE_CNN_FIELD)
#undef HEDDLE_CNN_FIELD
} heddle_cnn_step_parameters;

#define HEDDLE_CNN_FIELD(name, ...) float *name;
typedef struct heddle_cnn_step_gradients {
    HEDDLE_CNN_TENSORS(HEDDLE_CNN_FIELD)
} heddle_cnn_step_gradients;

// Optional operands may be NULL: the biases of the convolutions and their gradients, running statistics.
typedef struct heddle_cnn_step_operands {
    const uint8_t *images; // (count, c, h, w)
    const int32_t *labels; // (count)
    const int32_t *order;  // (length)
    const int64_t *cursor; // where in `order` the batch begins
    heddle_cnn_step_parameters parameters;
    float *loss;                         // mean over the batch
    int32_t *correct;                    // samples whose largest logit is their label's
    heddle_cnn_step_gradients gradients; // of the mean loss
    HEDDLE_CNN_STATISTICS_OF(HEDDLE_CNN_FIELD)
} heddle_cnn_step_operands;
#undef HEDDLE_CNN_FIELD

// Here and not in cnn_step.c, because the devices' modules need it, too.
static inline heddle_cnn_step_operands heddle_cnn_step_unpack(const heddle_call *call)
{
    const void *const *parameter = call->input + HEDDLE_CNN_FIRST_PARAMETER;
    void *const *gradient = call->output + HEDDLE_CNN_FIRST_GRADIENT;
    void *const *statistic = call->output + HEDDLE_CNN_FIRST_STATISTIC;
    heddle_cnn_step_operands operands;
    operands.images = (const uint8_t *)call->input[HEDDLE_CNN_IMAGES];
    operands.labels = (const int32_t *)call->input[HEDDLE_CNN_LABELS];
    operands.order = (const int32_t *)call->input[HEDDLE_CNN_ORDER];
    operands.cursor = (const int64_t *)call->input[HEDDLE_CNN_CURSOR];
    operands.loss = (float *)call->output[HEDDLE_CNN_LOSS];
    operands.correct = (int32_t *)call->output[HEDDLE_CNN_CORRECT];
#define HEDDLE_CNN_TAKE(name, ...)                                                                                     \
    operands.parameters.name = (const float *)parameter[HEDDLE_CNN_##name];                                            \
    operands.gradients.name = (float *)gradient[HEDDLE_CNN_##name];
    HEDDLE_CNN_TENSORS(HEDDLE_CNN_TAKE)
#undef HEDDLE_CNN_TAKE
#define HEDDLE_CNN_TAKE(name, ...) operands.name = (float *)statistic[HEDDLE_CNN_##name];
    HEDDLE_CNN_STATISTICS_OF(HEDDLE_CNN_TAKE)
#undef HEDDLE_CNN_TAKE
    return operands;
}

void heddle_cnn_step_reference(const void *shape, const double *const *input, double *const *output);

// The CUDA rungs are written for one size of network: 1×28×28 images, 32 and 64 channels, 128 hidden, at most 16
// classes.
bool heddle_cnn_step_is_mnist_cnn(const void *shape);
bool heddle_cnn_step_is_mnist_cnn_in_tf32(const void *shape); // and has enough samples for it
size_t heddle_cnn_step_tf32x3_workspace(const void *shape, int threads);
size_t heddle_cnn_step_tf32_workspace(const void *shape, int threads);
size_t heddle_cnn_step_16bit_workspace(const void *shape, int threads); // fp16 and bf16
// Shared memory, in bytes, of the largest block of the rungs for Ampere, backward's: A100 has it, smaller GPUs do not.
enum { HEDDLE_CNN_STEP_16BIT_SHARED = 161792 };

// A CUDA rung's row in the ladders of cnn_step and cnn_train.
#define HEDDLE_CNN_CUDA_RUNG(rung, can, bytes, kind, card, lacking, text)                                              \
    {                                                                                                                  \
        .name = (rung), .device = HEDDLE_CUDA, .tier = HEDDLE_FUSED, .note = (text), .supports = (can),                \
        .workspace = (bytes), .arithmetic = (kind), .capability = (card),                                              \
        .shared_bytes = (card) < 90 ? HEDDLE_CNN_STEP_16BIT_SHARED : 0, .gpu_only = (lacking)                          \
    }

#ifdef __cplusplus
}
#endif

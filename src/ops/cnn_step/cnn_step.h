// cnn_step: the loss of the course's network on a batch and the gradient of every parameter. Its operands by name, for
// the rungs; what it computes stands in reference.c, what the CUDA rungs keep between their kernels in layout.h.
#ifndef HEDDLE_OPS_CNN_STEP_H
#define HEDDLE_OPS_CNN_STEP_H

#include <stdint.h>

#include "heddle/op.h"
#include "heddle/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const heddle_op heddle_op_cnn_step;

// The network's parameters, or their gradients. Shapes as the layers have them: conv1_weight (k1, c, 3, 3),
// conv2_weight (k2, k1, 3, 3), hidden_weight (hidden, k2 * h/4 * w/4) over the flattened (k2, h/4, w/4),
// output_weight (classes, hidden).
#define HEDDLE_CNN_STEP_TENSORS(type)                                                                                  \
    type *conv1_weight, *conv1_bias, *gamma1, *beta1;                                                                  \
    type *conv2_weight, *conv2_bias, *gamma2, *beta2;                                                                  \
    type *hidden_weight, *hidden_bias;                                                                                 \
    type *output_weight, *output_bias

typedef struct heddle_cnn_step_parameters {
    HEDDLE_CNN_STEP_TENSORS(const float);
} heddle_cnn_step_parameters;

typedef struct heddle_cnn_step_gradients {
    HEDDLE_CNN_STEP_TENSORS(float);
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
    float *running_mean1, *running_var1, *running_mean2, *running_var2;
} heddle_cnn_step_operands;

// Here and not in cnn_step.c, because the devices' modules need it, too.
static inline heddle_cnn_step_operands heddle_cnn_step_unpack(const heddle_call *call)
{
    heddle_cnn_step_operands operands;
    heddle_cnn_step_parameters *parameters = &operands.parameters;
    heddle_cnn_step_gradients *gradients = &operands.gradients;
    operands.images = (const uint8_t *)call->input[0];
    operands.labels = (const int32_t *)call->input[1];
    operands.order = (const int32_t *)call->input[2];
    operands.cursor = (const int64_t *)call->input[3];
    parameters->conv1_weight = (const float *)call->input[4];
    parameters->conv1_bias = (const float *)call->input[5];
    parameters->gamma1 = (const float *)call->input[6];
    parameters->beta1 = (const float *)call->input[7];
    parameters->conv2_weight = (const float *)call->input[8];
    parameters->conv2_bias = (const float *)call->input[9];
    parameters->gamma2 = (const float *)call->input[10];
    parameters->beta2 = (const float *)call->input[11];
    parameters->hidden_weight = (const float *)call->input[12];
    parameters->hidden_bias = (const float *)call->input[13];
    parameters->output_weight = (const float *)call->input[14];
    parameters->output_bias = (const float *)call->input[15];
    operands.loss = (float *)call->output[0];
    operands.correct = (int32_t *)call->output[1];
    gradients->conv1_weight = (float *)call->output[2];
    gradients->conv1_bias = (float *)call->output[3];
    gradients->gamma1 = (float *)call->output[4];
    gradients->beta1 = (float *)call->output[5];
    gradients->conv2_weight = (float *)call->output[6];
    gradients->conv2_bias = (float *)call->output[7];
    gradients->gamma2 = (float *)call->output[8];
    gradients->beta2 = (float *)call->output[9];
    gradients->hidden_weight = (float *)call->output[10];
    gradients->hidden_bias = (float *)call->output[11];
    gradients->output_weight = (float *)call->output[12];
    gradients->output_bias = (float *)call->output[13];
    operands.running_mean1 = (float *)call->output[14];
    operands.running_var1 = (float *)call->output[15];
    operands.running_mean2 = (float *)call->output[16];
    operands.running_var2 = (float *)call->output[17];
    // cppcheck-suppress uninitvar ; the two structs in it are set through the pointers above
    return operands;
}

void heddle_cnn_step_reference(const void *shape, const double *const *input, double *const *output);

heddle_status heddle_cnn_step_cpu_naive(const heddle_call *call);
size_t heddle_cnn_step_cpu_naive_workspace(const void *shape, int threads);
heddle_status heddle_cnn_step_cpu_chain(const heddle_call *call);
size_t heddle_cnn_step_cpu_chain_workspace(const void *shape, int threads);

// The CUDA rungs are written for the course's sizes alone: 1×28×28 images, 32 and 64 channels, 128 hidden, at most 16
// classes.
bool heddle_cnn_step_is_course(const void *shape);
bool heddle_cnn_step_is_course_in_tf32(const void *shape); // and enough samples for it
size_t heddle_cnn_step_tf32x3_workspace(const void *shape, int threads);
size_t heddle_cnn_step_tf32_workspace(const void *shape, int threads);
size_t heddle_cnn_step_16bit_workspace(const void *shape, int threads); // fp16 and bf16
// Bytes of shared memory that their largest block takes, backward's: Ampere's largest card has them, the others not.
enum { HEDDLE_CNN_STEP_16BIT_SHARED = 161792 };

#ifdef __cplusplus
}
#endif
#endif

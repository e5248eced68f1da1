// Tensors with reverse-mode gradients, usable by themselves. examples/two_moons.c trains a network with them.
//
// A context owns its tensors, and they go only with tensors of the same one. Functions that make a tensor return NULL
// on failure and pass a NULL argument on, so a whole expression can be written down and checked once:
// heddle_backward(NULL) returns the first failure in this thread since its context was made or cleared.
#ifndef HEDDLE_TENSOR_H
#define HEDDLE_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_context heddle_context;
typedef struct heddle_tensor heddle_tensor;

HEDDLE_API heddle_status heddle_context_create(heddle_device *device, uint64_t seed, heddle_context **context);
HEDDLE_API void heddle_context_destroy(heddle_context *context); // frees its tensors; NULL is fine
// Frees every tensor but the parameters, and forgets how they were computed. Call it between steps.
HEDDLE_API void heddle_context_clear(heddle_context *context);
// For programs that keep some tensors and not others, such as bindings with a garbage collector. A released tensor is
// not used by the caller any more, a parameter neither; heddle_context_sweep frees all of them that no tensor which is
// not released was computed from. Tensors that were not released stay as they are.
HEDDLE_API void heddle_tensor_release(heddle_tensor *tensor); // NULL is fine
HEDDLE_API heddle_status heddle_context_sweep(heddle_context *context);

// --- making tensors -------------------------------------------------------------------------------------------------

// float32; `values` is copied, NULL gives zeros. No gradient flows to it.
HEDDLE_API heddle_tensor *heddle_tensor_create(heddle_context *context, int rank, const int *dims, const float *values);
// Class numbers for heddle_cross_entropy.
HEDDLE_API heddle_tensor *heddle_tensor_labels(heddle_context *context, int count, const int32_t *values);
// A tensor that is trained: survives heddle_context_clear, starts uniform in [-bound, bound), or as `values`.
HEDDLE_API heddle_tensor *heddle_parameter(heddle_context *context, int rank, const int *dims, float bound);
HEDDLE_API heddle_tensor *heddle_parameter_from(heddle_context *context, int rank, const int *dims,
                                                const float *values);

// --- operators ------------------------------------------------------------------------------------------------------

HEDDLE_API heddle_tensor *heddle_add(heddle_tensor *a, heddle_tensor *b);      // same shape
HEDDLE_API heddle_tensor *heddle_multiply(heddle_tensor *a, heddle_tensor *b); // same shape, element by element
HEDDLE_API heddle_tensor *heddle_sum(heddle_tensor *a);                        // one element
HEDDLE_API heddle_tensor *heddle_mean(heddle_tensor *a);                       // one element
HEDDLE_API heddle_tensor *heddle_matmul(heddle_tensor *a, heddle_tensor *b);   // (m, k) x (k, n)
// input (n, in), weight (out, in), bias (out) or NULL
HEDDLE_API heddle_tensor *heddle_linear(heddle_tensor *input, heddle_tensor *weight, heddle_tensor *bias);
// input (n, c, h, w), weight (k, c, r, s), bias (k) or NULL
HEDDLE_API heddle_tensor *heddle_conv2d(heddle_tensor *input, heddle_tensor *weight, heddle_tensor *bias, int stride,
                                        int padding, int dilation);
// Batch statistics; gamma and beta (c)
HEDDLE_API heddle_tensor *heddle_batchnorm2d(heddle_tensor *input, heddle_tensor *gamma, heddle_tensor *beta,
                                             float epsilon);
HEDDLE_API heddle_tensor *heddle_maxpool2d(heddle_tensor *input, int window, int stride, int padding);
HEDDLE_API heddle_tensor *heddle_avgpool2d(heddle_tensor *input, int window, int stride, int padding);
HEDDLE_API heddle_tensor *heddle_relu(heddle_tensor *input);
HEDDLE_API heddle_tensor *heddle_tanh(heddle_tensor *input);
HEDDLE_API heddle_tensor *heddle_sigmoid(heddle_tensor *input);
HEDDLE_API heddle_tensor *heddle_elu(heddle_tensor *input);
HEDDLE_API heddle_tensor *heddle_gelu(heddle_tensor *input);
HEDDLE_API heddle_tensor *heddle_softplus(heddle_tensor *input);
HEDDLE_API heddle_tensor *heddle_swish(heddle_tensor *input);
HEDDLE_API heddle_tensor *heddle_dropout(heddle_tensor *input, float probability);
HEDDLE_API heddle_tensor *heddle_softmax(heddle_tensor *input);     // along the last dimension
HEDDLE_API heddle_tensor *heddle_log_softmax(heddle_tensor *input); // along the last dimension
// Mean over the rows of -log softmax(logits)[label].
HEDDLE_API heddle_tensor *heddle_cross_entropy(heddle_tensor *logits, heddle_tensor *labels);
// The same values under another shape.
HEDDLE_API heddle_tensor *heddle_reshape(heddle_tensor *input, int rank, const int *dims);

// --- gradients and training -----------------------------------------------------------------------------------------

// Computes the gradient of `loss` (one element) with respect to every parameter it depends on, in place of what an
// earlier call gave. A parameter itself is no loss.
HEDDLE_API heddle_status heddle_backward(heddle_tensor *loss);

// A step of an optimiser changes every parameter that has a gradient; gradients are forgotten afterwards. What an
// optimiser remembers of a parameter is zero before its first step, and again after a step of the other that remembers.

// parameter -= rate * gradient
HEDDLE_API heddle_status heddle_sgd_step(heddle_context *context, float rate);

// torch.optim.SGD with momentum: slope = gradient + weight_decay * parameter, velocity = momentum * velocity + slope,
// parameter -= rate * velocity; with Nesterov's look ahead, parameter -= rate * (slope + momentum * velocity).
typedef struct heddle_momentum_options {
    float rate;
    float momentum; // at least 0 and below 1
    float weight_decay;
    bool nesterov; // needs a momentum above 0
} heddle_momentum_options;
HEDDLE_API heddle_status heddle_momentum_step(heddle_context *context, const heddle_momentum_options *options);

// torch.optim.AdamW: parameter *= 1 - rate * weight_decay, then parameter -= rate * mean / (sqrt(square) + epsilon),
// where mean and square are running means of the gradient and its square, corrected for their start at zero.
typedef struct heddle_adamw_options {
    float rate;
    float beta1, beta2; // at least 0 and below 1
    float epsilon;
    float weight_decay;
} heddle_adamw_options;
HEDDLE_API heddle_adamw_options heddle_adamw_defaults(void); // PyTorch's: 0.001, 0.9, 0.999, 1e-8, 0.01
HEDDLE_API heddle_status heddle_adamw_step(heddle_context *context, const heddle_adamw_options *options);

// --- looking at them ------------------------------------------------------------------------------------------------

HEDDLE_API int heddle_tensor_rank(const heddle_tensor *tensor);
HEDDLE_API int heddle_tensor_dim(const heddle_tensor *tensor, int index);
HEDDLE_API size_t heddle_tensor_elements(const heddle_tensor *tensor);
// Waits for what computes it, then copies all elements out.
HEDDLE_API heddle_status heddle_tensor_read(const heddle_tensor *tensor, float *values);
HEDDLE_API heddle_status heddle_tensor_read_gradient(const heddle_tensor *tensor, float *values);
// The only element of a one-element tensor; NAN if it cannot be had.
HEDDLE_API float heddle_tensor_item(const heddle_tensor *tensor);
// How it was computed: "matmul", "relu", "reshape"; "" for a tensor that was given. examples/autograd_graph.c draws it.
HEDDLE_API const char *heddle_tensor_op(const heddle_tensor *tensor);
// The tensors it was computed from, in the operator's order. Returns how many there are, and fills at most `most`.
HEDDLE_API int heddle_tensor_parents(const heddle_tensor *tensor, heddle_tensor **parents, int most);

#ifdef __cplusplus
}
#endif
#endif

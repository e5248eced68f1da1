// cuDNN's pooling, activations and softmax, forward and backward.
#include <math.h>
#include <stdlib.h>

#include "api/dnn/dnn.h"

static void set_factors(dnn_work *w, const void *alpha, const void *beta)
{
    w->alpha = sim_dnn_factor(w->call, &w->out[0].tensor, alpha);
    w->beta = sim_dnn_factor(w->call, &w->out[0].tensor, beta);
}

// --- activations ----------------------------------------------------------------------------------------------------

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

double sim_dnn_activate(const struct cudnnActivationStruct *activation, double x)
{
    switch (activation->mode) {
    case CUDNN_ACTIVATION_SIGMOID: return sigmoid(x);
    case CUDNN_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case CUDNN_ACTIVATION_TANH: return tanh(x);
    case CUDNN_ACTIVATION_CLIPPED_RELU: return x < 0 ? 0 : fmin(x, activation->coefficient);
    case CUDNN_ACTIVATION_ELU: return x < 0 ? activation->coefficient * expm1(x) : x;
    case CUDNN_ACTIVATION_SWISH: return x * sigmoid(x);
    default: return x;
    }
}

// The slope at x, where y is the value.
static double slope(const struct cudnnActivationStruct *activation, double x, double y)
{
    switch (activation->mode) {
    case CUDNN_ACTIVATION_SIGMOID: return y * (1 - y);
    case CUDNN_ACTIVATION_RELU: return x > 0 ? 1 : 0;
    case CUDNN_ACTIVATION_TANH: return 1 - y * y;
    case CUDNN_ACTIVATION_CLIPPED_RELU: return x > 0 && x <= activation->coefficient ? 1 : 0;
    case CUDNN_ACTIVATION_ELU: return x < 0 ? y + activation->coefficient : 1;
    case CUDNN_ACTIVATION_SWISH: return sigmoid(x) + y * (1 - sigmoid(x));
    default: return 1;
    }
}

static double activated(const dnn_work *w, size_t at)
{
    return sim_dnn_activate(&w->activation, w->in[0].dense[at]);
}

static double activated_backward(const dnn_work *w, size_t at)
{
    return w->in[1].dense[at] * slope(&w->activation, w->in[2].dense[at], w->in[0].dense[at]);
}

cudnnStatus_t cudnnActivationForward(cudnnHandle_t handle, cudnnActivationDescriptor_t activation, const void *alpha,
                                     cudnnTensorDescriptor_t x_desc, const void *x, const void *beta,
                                     cudnnTensorDescriptor_t y_desc, void *y)
{
    dnn_work w = {.call = DNN_CALL("ActivationForward"),
                  .element = activated,
                  .in = {sim_dnn_operand("x", x_desc, x)},
                  .out = {sim_dnn_operand("y", y_desc, y)}};
    if (!activation || !sim_dnn_same(&w.in[0].tensor, &w.out[0].tensor))
        return DNN_WRONG(w.call, "no activation descriptor, or x and y differ in size");
    w.activation = *activation;
    set_factors(&w, alpha, beta);
    return sim_dnn_queue(handle, &w);
}

cudnnStatus_t cudnnActivationBackward(cudnnHandle_t handle, cudnnActivationDescriptor_t activation, const void *alpha,
                                      cudnnTensorDescriptor_t y_desc, const void *y, cudnnTensorDescriptor_t dy_desc,
                                      const void *dy, cudnnTensorDescriptor_t x_desc, const void *x, const void *beta,
                                      cudnnTensorDescriptor_t dx_desc, void *dx)
{
    dnn_work w = {
        .call = DNN_CALL("ActivationBackward"),
        .element = activated_backward,
        .in = {sim_dnn_operand("y", y_desc, y), sim_dnn_operand("dy", dy_desc, dy), sim_dnn_operand("x", x_desc, x)},
        .out = {sim_dnn_operand("dx", dx_desc, dx)}};
    for (int i = 0; i < 3; i++)
        if (!activation || !sim_dnn_same(&w.in[i].tensor, &w.out[0].tensor))
            return DNN_WRONG(w.call, "no activation descriptor, or the tensors differ in size");
    w.activation = *activation;
    set_factors(&w, alpha, beta);
    return sim_dnn_queue(handle, &w);
}

// --- softmax --------------------------------------------------------------------------------------------------------

// A tensor as `outer` groups of `n` elements that lie `inner` apart: over channels, or over the whole image.
typedef struct groups {
    size_t outer, n, inner;
} groups;

static groups groups_of(const dnn_work *w)
{
    const dnn_tensor *t = &w->out[0].tensor;
    size_t channels = t->count > 1 ? (size_t)t->size[1] : 1, rest = sim_dnn_elements(t) / (size_t)t->size[0] / channels;
    if (w->mode == CUDNN_SOFTMAX_MODE_INSTANCE)
        return (groups){(size_t)t->size[0], channels * rest, 1};
    return (groups){(size_t)t->size[0], channels, rest};
}

static void softmax_forward(const dnn_work *w, const double *x, double *y, groups g)
{
    double most = x[0], sum = 0;
    for (size_t i = 0; i < g.n; i++)
        most = fmax(most, x[i * g.inner]);
    for (size_t i = 0; i < g.n; i++)
        sum += exp(x[i * g.inner] - most);
    for (size_t i = 0; i < g.n; i++) {
        double shifted = x[i * g.inner] - most;
        y[i * g.inner] = w->algorithm == CUDNN_SOFTMAX_LOG ? shifted - log(sum) : exp(shifted) / sum;
    }
}

static void softmax_backward(const dnn_work *w, const double *y, const double *dy, double *dx, groups g)
{
    bool logarithm = w->algorithm == CUDNN_SOFTMAX_LOG;
    double sum = 0;
    for (size_t i = 0; i < g.n; i++)
        sum += dy[i * g.inner] * (logarithm ? 1 : y[i * g.inner]);
    for (size_t i = 0; i < g.n; i++) {
        size_t at = i * g.inner;
        dx[at] = logarithm ? dy[at] - exp(y[at]) * sum : y[at] * (dy[at] - sum);
    }
}

static void compute_softmax(const dnn_work *w)
{
    groups g = groups_of(w);
    for (size_t outer = 0; outer < g.outer; outer++)
        for (size_t inner = 0; inner < g.inner; inner++) {
            size_t at = outer * g.n * g.inner + inner;
            if (w->in[1].dense)
                softmax_backward(w, w->in[0].dense + at, w->in[1].dense + at, w->out[0].dense + at, g);
            else
                softmax_forward(w, w->in[0].dense + at, w->out[0].dense + at, g);
        }
}

cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode,
                                  const void *alpha, cudnnTensorDescriptor_t x_desc, const void *x, const void *beta,
                                  cudnnTensorDescriptor_t y_desc, void *y)
{
    dnn_work w = {.call = DNN_CALL("SoftmaxForward"),
                  .compute = compute_softmax,
                  .in = {sim_dnn_operand("x", x_desc, x)},
                  .out = {sim_dnn_operand("y", y_desc, y)},
                  .mode = (int)mode,
                  .algorithm = (int)algorithm};
    if (!sim_dnn_same(&w.in[0].tensor, &w.out[0].tensor))
        return DNN_WRONG(w.call, "x and y differ in size");
    set_factors(&w, alpha, beta);
    return sim_dnn_queue(handle, &w);
}

cudnnStatus_t cudnnSoftmaxBackward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode,
                                   const void *alpha, cudnnTensorDescriptor_t y_desc, const void *y,
                                   cudnnTensorDescriptor_t dy_desc, const void *dy, const void *beta,
                                   cudnnTensorDescriptor_t dx_desc, void *dx)
{
    dnn_work w = {.call = DNN_CALL("SoftmaxBackward"),
                  .compute = compute_softmax,
                  .in = {sim_dnn_operand("y", y_desc, y), sim_dnn_operand("dy", dy_desc, dy)},
                  .out = {sim_dnn_operand("dx", dx_desc, dx)},
                  .mode = (int)mode,
                  .algorithm = (int)algorithm};
    if (!sim_dnn_same(&w.in[0].tensor, &w.out[0].tensor) || !sim_dnn_same(&w.in[1].tensor, &w.out[0].tensor))
        return DNN_WRONG(w.call, "y, dy and dx differ in size");
    set_factors(&w, alpha, beta);
    return sim_dnn_queue(handle, &w);
}

// --- pooling --------------------------------------------------------------------------------------------------------

typedef struct window {
    size_t top, bottom, left, right; // inside the image, the ends exclusive
    size_t best;                     // of the largest element
    double most, sum, count;
} window;

static window look(const struct cudnnPoolingStruct *pooling, const dnn_tensor *x, const double *image, size_t p,
                   size_t q)
{
    long first[2] = {(long)p * pooling->stride[0] - pooling->padding[0],
                     (long)q * pooling->stride[1] - pooling->padding[1]};
    long end[2];
    window seen = {.most = -INFINITY};
    for (int i = 0; i < 2; i++) {
        end[i] = first[i] + pooling->window[i] < x->size[2 + i] ? first[i] + pooling->window[i] : x->size[2 + i];
        first[i] = first[i] < 0 ? 0 : first[i];
    }
    seen.top = (size_t)first[0], seen.bottom = (size_t)end[0], seen.left = (size_t)first[1],
    seen.right = (size_t)end[1];
    seen.best = seen.top * (size_t)x->size[3] + seen.left;
    for (size_t row = seen.top; row < seen.bottom; row++)
        for (size_t column = seen.left; column < seen.right; column++) {
            size_t at = row * (size_t)x->size[3] + column;
            seen.sum += image[at];
            seen.count++;
            if (image[at] > seen.most) {
                seen.most = image[at];
                seen.best = at;
            }
        }
    if (pooling->mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING)
        seen.count = (double)pooling->window[0] * pooling->window[1];
    return seen;
}

static bool is_average(const struct cudnnPoolingStruct *pooling)
{
    return pooling->mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ||
           pooling->mode == CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING;
}

static void give_back(const struct cudnnPoolingStruct *pooling, const dnn_tensor *x, const window *seen, double dy,
                      double *dx)
{
    if (!is_average(pooling)) {
        dx[seen->best] += dy;
        return;
    }
    for (size_t row = seen->top; row < seen->bottom; row++)
        for (size_t column = seen->left; column < seen->right; column++)
            dx[row * (size_t)x->size[3] + column] += dy / seen->count;
}

// Forward: in x, out y. Backward: in y, dy, x, out dx.
static void compute_pooling(const dnn_work *w)
{
    bool back = w->in[1].dense != NULL;
    const dnn_operand *in = back ? &w->in[2] : &w->in[0];
    const dnn_tensor *x = &in->tensor, *y = back ? &w->in[1].tensor : &w->out[0].tensor;
    size_t image = (size_t)x->size[2] * (size_t)x->size[3], pooled = (size_t)y->size[2] * (size_t)y->size[3];
    for (size_t i = 0; i < sim_dnn_elements(y); i++) {
        size_t plane = i / pooled, p = i % pooled / (size_t)y->size[3], q = i % (size_t)y->size[3];
        window seen = look(&w->pooling, x, in->dense + plane * image, p, q);
        if (back)
            give_back(&w->pooling, x, &seen, w->in[1].dense[i], w->out[0].dense + plane * image);
        else
            w->out[0].dense[i] = is_average(&w->pooling) ? seen.sum / seen.count : seen.most;
    }
}

static cudnnStatus_t queue_pooling(cudnnHandle_t handle, dnn_work *w, cudnnPoolingDescriptor_t pooling,
                                   const dnn_tensor *x, const dnn_tensor *y)
{
    if (!pooling || pooling->stride[0] == 0)
        return DNN_WRONG(w->call, "the pooling descriptor is NULL or was not set");
    if (x->count != 4 || y->count != 4)
        return CUDNN_STATUS_NOT_SUPPORTED;
    w->pooling = *pooling;
    for (int i = 0; i < 2; i++)
        if (y->size[2 + i] !=
                1 + (x->size[2 + i] + 2 * pooling->padding[i] - pooling->window[i]) / pooling->stride[i] ||
            y->size[i] != x->size[i])
            return DNN_WRONG(w->call, "the sizes of the output do not follow from those of x and the windows");
    return sim_dnn_queue(handle, w);
}

cudnnStatus_t cudnnPoolingForward(cudnnHandle_t handle, cudnnPoolingDescriptor_t pooling, const void *alpha,
                                  cudnnTensorDescriptor_t x_desc, const void *x, const void *beta,
                                  cudnnTensorDescriptor_t y_desc, void *y)
{
    dnn_work w = {.call = DNN_CALL("PoolingForward"),
                  .compute = compute_pooling,
                  .in = {sim_dnn_operand("x", x_desc, x)},
                  .out = {sim_dnn_operand("y", y_desc, y)}};
    set_factors(&w, alpha, beta);
    return queue_pooling(handle, &w, pooling, &w.in[0].tensor, &w.out[0].tensor);
}

cudnnStatus_t cudnnPoolingBackward(cudnnHandle_t handle, cudnnPoolingDescriptor_t pooling, const void *alpha,
                                   cudnnTensorDescriptor_t y_desc, const void *y, cudnnTensorDescriptor_t dy_desc,
                                   const void *dy, cudnnTensorDescriptor_t x_desc, const void *x, const void *beta,
                                   cudnnTensorDescriptor_t dx_desc, void *dx)
{
    dnn_work w = {
        .call = DNN_CALL("PoolingBackward"),
        .compute = compute_pooling,
        .in = {sim_dnn_operand("y", y_desc, y), sim_dnn_operand("dy", dy_desc, dy), sim_dnn_operand("x", x_desc, x)},
        .out = {sim_dnn_operand("dx", dx_desc, dx)}};
    if (!sim_dnn_same(&w.in[0].tensor, &w.in[1].tensor) || !sim_dnn_same(&w.in[2].tensor, &w.out[0].tensor))
        return DNN_WRONG(w.call, "y and dy, or x and dx, differ in size");
    set_factors(&w, alpha, beta);
    return queue_pooling(handle, &w, pooling, &w.in[2].tensor, &w.in[1].tensor);
}

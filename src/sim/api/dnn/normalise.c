// cuDNN's batch normalisation: training, inference and backward.
#include <math.h>
#include <stdlib.h>

#include "api/dnn/dnn.h"

// Elements of x that share a parameter.
static double shared(const dnn_work *w)
{
    return (double)sim_dnn_elements(&w->in[0].tensor) / (double)sim_dnn_elements(&w->in[1].tensor);
}

static size_t parameter_of(const dnn_work *w, size_t i)
{
    return sim_dnn_spread(&w->in[1].tensor, &w->in[0].tensor, i);
}

// in: x, scale, bias; out: y, running mean, running variance, saved mean, saved inverse deviation
static void compute_training(const dnn_work *w)
{
    size_t n = sim_dnn_elements(&w->in[0].tensor), parameters = sim_dnn_elements(&w->in[1].tensor);
    double count = shared(w), *mean = calloc(parameters, sizeof *mean), *inverse = calloc(parameters, sizeof *inverse);
    for (size_t i = 0; mean && i < n; i++)
        mean[parameter_of(w, i)] += w->in[0].dense[i] / count;
    for (size_t i = 0; mean && inverse && i < n; i++) {
        double off = w->in[0].dense[i] - mean[parameter_of(w, i)];
        inverse[parameter_of(w, i)] += off * off / count;
    }
    for (size_t k = 0; mean && inverse && k < parameters; k++) {
        double variance = inverse[k], unbiased = count > 1 ? variance * count / (count - 1) : variance;
        inverse[k] = 1 / sqrt(variance + w->epsilon);
        if (w->out[1].dense) {
            w->out[1].dense[k] = (1 - w->factor) * w->out[1].dense[k] + w->factor * mean[k];
            w->out[2].dense[k] = (1 - w->factor) * w->out[2].dense[k] + w->factor * unbiased;
        }
        if (w->out[3].dense) {
            w->out[3].dense[k] = mean[k];
            w->out[4].dense[k] = inverse[k];
        }
    }
    for (size_t i = 0; mean && inverse && i < n; i++) {
        size_t k = parameter_of(w, i);
        w->out[0].dense[i] = w->in[1].dense[k] * (w->in[0].dense[i] - mean[k]) * inverse[k] + w->in[2].dense[k];
    }
    free(mean);
    free(inverse);
}

// in: x, scale, bias, mean, variance; out: y
static void compute_inference(const dnn_work *w)
{
    for (size_t i = 0; i < sim_dnn_elements(&w->in[0].tensor); i++) {
        size_t k = parameter_of(w, i);
        double normal = (w->in[0].dense[i] - w->in[3].dense[k]) / sqrt(w->in[4].dense[k] + w->epsilon);
        w->out[0].dense[i] = w->in[1].dense[k] * normal + w->in[2].dense[k];
    }
}

// The batch's mean and inverse deviation, where the program has not saved them.
static void statistics(const dnn_work *w, double *mean, double *inverse, size_t parameters)
{
    size_t n = sim_dnn_elements(&w->in[0].tensor);
    double count = shared(w);
    for (size_t k = 0; w->in[3].dense && k < parameters; k++) {
        mean[k] = w->in[3].dense[k];
        inverse[k] = w->in[4].dense[k];
    }
    if (w->in[3].dense)
        return;
    for (size_t i = 0; i < n; i++)
        mean[parameter_of(w, i)] += w->in[0].dense[i] / count;
    for (size_t i = 0; i < n; i++) {
        double off = w->in[0].dense[i] - mean[parameter_of(w, i)];
        inverse[parameter_of(w, i)] += off * off / count;
    }
    for (size_t k = 0; k < parameters; k++)
        inverse[k] = 1 / sqrt(inverse[k] + w->epsilon);
}

// in: x, scale, dy, saved mean, saved inverse deviation; out: dx, dscale, dbias
static void compute_backward(const dnn_work *w)
{
    size_t n = sim_dnn_elements(&w->in[0].tensor), parameters = sim_dnn_elements(&w->in[1].tensor);
    double *mean = calloc(parameters, sizeof *mean), *inverse = calloc(parameters, sizeof *inverse), count = shared(w);
    if (mean && inverse) {
        statistics(w, mean, inverse, parameters);
        for (size_t i = 0; i < n; i++) {
            size_t k = parameter_of(w, i);
            w->out[1].dense[k] += w->in[2].dense[i] * (w->in[0].dense[i] - mean[k]) * inverse[k];
            w->out[2].dense[k] += w->in[2].dense[i];
        }
        for (size_t i = 0; i < n; i++) {
            size_t k = parameter_of(w, i);
            double normal = (w->in[0].dense[i] - mean[k]) * inverse[k];
            double rest = w->in[2].dense[i] - (w->out[2].dense[k] + normal * w->out[1].dense[k]) / count;
            w->out[0].dense[i] = w->in[1].dense[k] * inverse[k] * rest;
        }
    }
    free(mean);
    free(inverse);
}

static cudnnStatus_t queue(cudnnHandle_t handle, dnn_work *w, cudnnBatchNormMode_t mode, const void *alpha,
                           const void *beta)
{
    const dnn_tensor *x = &w->in[0].tensor, *parameters = &w->in[1].tensor;
    if (!sim_dnn_same(x, &w->out[0].tensor) || !sim_dnn_spreads(parameters, x))
        return DNN_WRONG(w->call, "x and the result differ in size, or the parameters do not go with x");
    if (mode != CUDNN_BATCHNORM_PER_ACTIVATION && sim_dnn_elements(parameters) != (size_t)x->size[1])
        return DNN_WRONG(w->call, "%zu parameters for %d channels", sim_dnn_elements(parameters), x->size[1]);
    w->alpha = sim_dnn_factor(w->call, &w->out[0].tensor, alpha);
    w->beta = sim_dnn_factor(w->call, &w->out[0].tensor, beta);
    return sim_dnn_queue(handle, w);
}

// A result that the program may leave out.
static dnn_operand optional(const char *name, cudnnTensorDescriptor_t descriptor, void *data, bool kept)
{
    dnn_operand operand = {0};
    if (data)
        operand = sim_dnn_operand(name, descriptor, data);
    operand.kept = data && kept;
    return operand;
}

cudnnStatus_t cudnnBatchNormalizationForwardTraining(cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alpha,
                                                     const void *beta, cudnnTensorDescriptor_t x_desc, const void *x,
                                                     cudnnTensorDescriptor_t y_desc, void *y,
                                                     cudnnTensorDescriptor_t parameters, const void *scale,
                                                     const void *bias, double factor, void *running_mean,
                                                     void *running_variance, double epsilon, void *saved_mean,
                                                     void *saved_inverse)
{
    dnn_work w = {.call = DNN_CALL("BatchNormalizationForwardTraining"),
                  .compute = compute_training,
                  .in = {sim_dnn_operand("x", x_desc, x), sim_dnn_operand("bnScale", parameters, scale),
                         sim_dnn_operand("bnBias", parameters, bias)},
                  .out = {sim_dnn_operand("y", y_desc, y),
                          optional("resultRunningMean", parameters, running_mean, true),
                          optional("resultRunningVariance", parameters, running_variance, true),
                          optional("resultSaveMean", parameters, saved_mean, false),
                          optional("resultSaveInvVariance", parameters, saved_inverse, false)},
                  .alpha_two = 1,
                  .epsilon = epsilon,
                  .factor = factor};
    w.out[3].parameter = w.out[4].parameter = true;
    if (!running_mean != !running_variance || !saved_mean != !saved_inverse)
        return DNN_WRONG(w.call, "running and saved statistics are given in pairs or not at all");
    if (factor == 1) // the old ones do not matter
        w.out[1].kept = w.out[2].kept = false, w.out[1].parameter = w.out[2].parameter = true;
    return queue(handle, &w, mode, alpha, beta);
}

cudnnStatus_t cudnnBatchNormalizationForwardInference(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
                                                      const void *alpha, const void *beta,
                                                      cudnnTensorDescriptor_t x_desc, const void *x,
                                                      cudnnTensorDescriptor_t y_desc, void *y,
                                                      cudnnTensorDescriptor_t parameters, const void *scale,
                                                      const void *bias, const void *mean, const void *variance,
                                                      double epsilon)
{
    dnn_work w = {.call = DNN_CALL("BatchNormalizationForwardInference"),
                  .compute = compute_inference,
                  .in = {sim_dnn_operand("x", x_desc, x), sim_dnn_operand("bnScale", parameters, scale),
                         sim_dnn_operand("bnBias", parameters, bias),
                         sim_dnn_operand("estimatedMean", parameters, mean),
                         sim_dnn_operand("estimatedVariance", parameters, variance)},
                  .out = {sim_dnn_operand("y", y_desc, y)},
                  .epsilon = epsilon};
    return queue(handle, &w, mode, alpha, beta);
}

cudnnStatus_t cudnnBatchNormalizationBackward(cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alpha_data,
                                              const void *beta_data, const void *alpha_parameters,
                                              const void *beta_parameters, cudnnTensorDescriptor_t x_desc,
                                              const void *x, cudnnTensorDescriptor_t dy_desc, const void *dy,
                                              cudnnTensorDescriptor_t dx_desc, void *dx,
                                              cudnnTensorDescriptor_t parameters, const void *scale, void *dscale,
                                              void *dbias, double epsilon, const void *saved_mean,
                                              const void *saved_inverse)
{
    dnn_work w = {.call = DNN_CALL("BatchNormalizationBackward"),
                  .compute = compute_backward,
                  .in = {sim_dnn_operand("x", x_desc, x), sim_dnn_operand("bnScale", parameters, scale),
                         sim_dnn_operand("dy", dy_desc, dy),
                         optional("savedMean", parameters, (void *)(uintptr_t)saved_mean, false),
                         optional("savedInvVariance", parameters, (void *)(uintptr_t)saved_inverse, false)},
                  .out = {sim_dnn_operand("dx", dx_desc, dx), sim_dnn_operand("dBnScaleResult", parameters, dscale),
                          sim_dnn_operand("dBnBiasResult", parameters, dbias)},
                  .epsilon = epsilon};
    w.out[1].parameter = w.out[2].parameter = true;
    if (!saved_mean != !saved_inverse || !sim_dnn_same(&w.in[0].tensor, &w.in[2].tensor))
        return DNN_WRONG(w.call, "saved statistics are given in pairs or not at all, and dy has the sizes of x");
    w.alpha_two = sim_dnn_factor(w.call, &w.in[1].tensor, alpha_parameters);
    w.beta_two = sim_dnn_factor(w.call, &w.in[1].tensor, beta_parameters);
    return queue(handle, &w, mode, alpha_data, beta_data);
}

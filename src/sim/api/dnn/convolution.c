// cuDNN's convolutions in two dimensions, forward and backward. One loop over (image, output, input, filter) serves all
// three directions; all algorithms give the same result and differ in the workspace they ask for.
#include <stdlib.h>

#include "api/dnn/dnn.h"

// x: (N, C, H, W), w: (K, C / groups, R, S), y: (N, K, P, Q)
typedef struct shapes {
    size_t n, c, h, w, k, r, s, p, q, channels; // channels: of a group
} shapes;

static shapes shapes_of(const dnn_tensor *x, const dnn_tensor *w, const dnn_tensor *y)
{
    return (shapes){(size_t)x->size[0], (size_t)x->size[1], (size_t)x->size[2], (size_t)x->size[3], (size_t)w->size[0],
                    (size_t)w->size[2], (size_t)w->size[3], (size_t)y->size[2], (size_t)y->size[3], (size_t)w->size[1]};
}

typedef enum direction { FORWARD, BACKWARD_DATA, BACKWARD_FILTER } direction;

// One row of outputs for one element of the filter: y += x w, x += y w or w += x y.
static void line(const struct cudnnConvolutionStruct *v, const shapes *z, direction way, double *x, double *w,
                 double *y, size_t s)
{
    double sum = 0;
    for (size_t q = 0; q < z->q; q++) {
        long column = (long)(q * (size_t)v->stride[1] + s * (size_t)v->dilation[1]) - v->padding[1];
        if (column < 0 || column >= (long)z->w)
            continue;
        if (way == FORWARD)
            y[q] += x[column] * *w;
        else if (way == BACKWARD_DATA)
            x[column] += y[q] * *w;
        else
            sum += x[column] * y[q];
    }
    if (way == BACKWARD_FILTER)
        *w += sum;
}

static void plane(const struct cudnnConvolutionStruct *v, const shapes *z, direction way, double *x, double *w,
                  double *y)
{
    bool flipped = v->mode == CUDNN_CONVOLUTION;
    for (size_t r = 0; r < z->r; r++)
        for (size_t s = 0; s < z->s; s++) {
            size_t element = flipped ? (z->r - 1 - r) * z->s + z->s - 1 - s : r * z->s + s;
            for (size_t p = 0; p < z->p; p++) {
                long row = (long)(p * (size_t)v->stride[0] + r * (size_t)v->dilation[0]) - v->padding[0];
                if (row >= 0 && row < (long)z->h)
                    line(v, z, way, x + (size_t)row * z->w, w + element, y + p * z->q, s);
            }
        }
}

static void convolve(const struct cudnnConvolutionStruct *v, const shapes *z, direction way, double *x, double *w,
                     double *y)
{
    size_t outputs = z->k / (size_t)v->groups; // of a group
    for (size_t n = 0; n < z->n; n++)
        for (size_t k = 0; k < z->k; k++)
            for (size_t c = 0; c < z->channels; c++) {
                size_t channel = k / outputs * z->channels + c;
                plane(v, z, way, x + (n * z->c + channel) * z->h * z->w, w + (k * z->channels + c) * z->r * z->s,
                      y + (n * z->k + k) * z->p * z->q);
            }
}

static void compute_forward(const dnn_work *w)
{
    shapes z = shapes_of(&w->in[0].tensor, &w->in[1].tensor, &w->out[0].tensor);
    convolve(&w->convolution, &z, FORWARD, w->in[0].dense, w->in[1].dense, w->out[0].dense);
}

static void compute_backward_data(const dnn_work *w)
{
    shapes z = shapes_of(&w->out[0].tensor, &w->in[0].tensor, &w->in[1].tensor);
    convolve(&w->convolution, &z, BACKWARD_DATA, w->out[0].dense, w->in[0].dense, w->in[1].dense);
}

static void compute_backward_filter(const dnn_work *w)
{
    shapes z = shapes_of(&w->in[0].tensor, &w->out[0].tensor, &w->in[1].tensor);
    convolve(&w->convolution, &z, BACKWARD_FILTER, w->in[0].dense, w->out[0].dense, w->in[1].dense);
}

// activation(alpha conv + alpha_two z + bias)
static void compute_fused(const dnn_work *w)
{
    const dnn_operand *y = &w->out[0], *z = &w->in[2], *bias = &w->in[3];
    compute_forward(w);
    for (size_t i = 0; i < sim_dnn_elements(&y->tensor); i++) {
        double value = w->factor * y->dense[i] + bias->dense[sim_dnn_spread(&bias->tensor, &y->tensor, i)];
        if (w->alpha_two != 0)
            value += w->alpha_two * z->dense[i];
        y->dense[i] = sim_dnn_activate(&w->activation, value);
    }
}

static void compute_bias(const dnn_work *w)
{
    const dnn_operand *dy = &w->in[0], *db = &w->out[0];
    for (size_t i = 0; i < sim_dnn_elements(&dy->tensor); i++)
        db->dense[sim_dnn_spread(&db->tensor, &dy->tensor, i)] += dy->dense[i];
}

// --- shapes and algorithms ------------------------------------------------------------------------------------------

static int output_size(const struct cudnnConvolutionStruct *v, int in, int filter, int i)
{
    return 1 + (in + 2 * v->padding[i] - (filter - 1) * v->dilation[i] - 1) / v->stride[i];
}

cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t x,
                                                    cudnnFilterDescriptor_t w, int *n, int *c, int *h, int *wide)
{
    if (!convolution || !x || !w || x->tensor.count != 4 || w->tensor.count != 4)
        return CUDNN_STATUS_BAD_PARAM;
    *n = x->tensor.size[0];
    *c = w->tensor.size[0];
    *h = output_size(convolution, x->tensor.size[2], w->tensor.size[2], 0);
    *wide = output_size(convolution, x->tensor.size[3], w->tensor.size[3], 1);
    return CUDNN_STATUS_SUCCESS;
}

// The implicit product needs none; the others are given as much as their result, which is enough to be noticed where it
// is forgotten.
static size_t workspace_for(int algorithm, const dnn_tensor *result)
{
    return algorithm == 0 ? 0 : sim_dnn_bytes(result);
}

// The functions that tell of a direction's algorithms: its name in them, its constants' and its types', its operands.
#define ALGORITHMS(Direction, DIRECTION, Short, first_type, first, second_type, second, result_type, result)           \
    static cudnnStatus_t list_##Short(cudnnHandle_t handle, cudnnConvolutionDescriptor_t convolution,                  \
                                      result_type result, int requested, int *returned,                                \
                                      cudnnConvolution##Short##AlgoPerf_t *results)                                    \
    {                                                                                                                  \
        if (!handle || !result || !convolution)                                                                        \
            return handle ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_NOT_INITIALIZED;                                     \
        const int count = CUDNN_CONVOLUTION_##DIRECTION##_ALGO_COUNT;                                                  \
        *returned = requested < count ? requested : count;                                                             \
        for (int i = 0; i < *returned; i++) {                                                                          \
            const int algorithm = i < 2 ? 1 - i : i;                                                                   \
            results[i].algo = (cudnnConvolution##Short##Algo_t)algorithm;                                              \
            results[i].status = CUDNN_STATUS_SUCCESS;                                                                  \
            results[i].time = 0;                                                                                       \
            results[i].memory = workspace_for(algorithm, &result->tensor);                                             \
            results[i].determinism = CUDNN_DETERMINISTIC;                                                              \
            results[i].mathType = convolution->math;                                                                   \
        }                                                                                                              \
        return CUDNN_STATUS_SUCCESS;                                                                                   \
    }                                                                                                                  \
    cudnnStatus_t cudnnGetConvolution##Direction##Algorithm_v7(                                                        \
        cudnnHandle_t handle, first_type first, second_type second, cudnnConvolutionDescriptor_t convolution,          \
        result_type result, int requested, int *returned, cudnnConvolution##Short##AlgoPerf_t *results)                \
    {                                                                                                                  \
        (void)first, (void)second;                                                                                     \
        return list_##Short(handle, convolution, result, requested, returned, results);                                \
    }                                                                                                                  \
    cudnnStatus_t cudnnFindConvolution##Direction##Algorithm(                                                          \
        cudnnHandle_t handle, first_type first, second_type second, cudnnConvolutionDescriptor_t convolution,          \
        result_type result, int requested, int *returned, cudnnConvolution##Short##AlgoPerf_t *results)                \
    {                                                                                                                  \
        (void)first, (void)second;                                                                                     \
        return list_##Short(handle, convolution, result, requested, returned, results);                                \
    }                                                                                                                  \
    cudnnStatus_t cudnnGetConvolution##Direction##WorkspaceSize(                                                       \
        cudnnHandle_t handle, first_type first, second_type second, cudnnConvolutionDescriptor_t convolution,          \
        result_type result, cudnnConvolution##Short##Algo_t algorithm, size_t *bytes)                                  \
    {                                                                                                                  \
        (void)first, (void)second;                                                                                     \
        if (!handle || !result || !convolution)                                                                        \
            return handle ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_NOT_INITIALIZED;                                     \
        *bytes = workspace_for((int)algorithm, &result->tensor);                                                       \
        return CUDNN_STATUS_SUCCESS;                                                                                   \
    }                                                                                                                  \
    cudnnStatus_t cudnnGetConvolution##Direction##AlgorithmMaxCount(cudnnHandle_t handle, int *count)                  \
    {                                                                                                                  \
        *count = CUDNN_CONVOLUTION_##DIRECTION##_ALGO_COUNT;                                                           \
        return handle ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_INITIALIZED;                                           \
    }

ALGORITHMS(Forward, FWD, Fwd, cudnnTensorDescriptor_t, x, cudnnFilterDescriptor_t, w, cudnnTensorDescriptor_t, y)
ALGORITHMS(BackwardData, BWD_DATA, BwdData, cudnnFilterDescriptor_t, w, cudnnTensorDescriptor_t, dy,
           cudnnTensorDescriptor_t, dx)
ALGORITHMS(BackwardFilter, BWD_FILTER, BwdFilter, cudnnTensorDescriptor_t, x, cudnnTensorDescriptor_t, dy,
           cudnnFilterDescriptor_t, dw)

// --- the functions --------------------------------------------------------------------------------------------------

static cudnnStatus_t check_shapes(const dnn_work *work, const dnn_tensor *x, const dnn_tensor *w, const dnn_tensor *y)
{
    const struct cudnnConvolutionStruct *v = &work->convolution;
    if (x->count != 4 || w->count != 4 || y->count != 4)
        return CUDNN_STATUS_NOT_SUPPORTED;
    if (v->count == 0)
        return DNN_WRONG(work->call, "the convolution descriptor was not set");
    if (w->size[1] * v->groups != x->size[1] || w->size[0] % v->groups)
        return DNN_WRONG(work->call, "%d input channels, filters of %d channels, %d outputs, %d groups", x->size[1],
                         w->size[1], w->size[0], v->groups);
    int h = output_size(v, x->size[2], w->size[2], 0), wide = output_size(v, x->size[3], w->size[3], 1);
    if (y->size[0] != x->size[0] || y->size[1] != w->size[0] || y->size[2] != h || y->size[3] != wide)
        return DNN_WRONG(work->call, "the output is described as %d x %d x %d x %d, and is %d x %d x %d x %d",
                         y->size[0], y->size[1], y->size[2], y->size[3], x->size[0], w->size[0], h, wide);
    return CUDNN_STATUS_SUCCESS;
}

// x, w, y: the three of the work's operands, whichever is the result.
static cudnnStatus_t queue(cudnnHandle_t handle, dnn_work *work, cudnnConvolutionDescriptor_t convolution,
                           const dnn_operand *x, const dnn_operand *w, const dnn_operand *y, size_t bytes)
{
    if (!convolution)
        return DNN_WRONG(work->call, "the convolution descriptor is NULL");
    work->convolution = *convolution;
    cudnnStatus_t status = check_shapes(work, &x->tensor, &w->tensor, &y->tensor);
    work->workspace_bytes = workspace_for(work->algorithm, &work->out[0].tensor);
    if (status == CUDNN_STATUS_SUCCESS && bytes < work->workspace_bytes)
        return DNN_WRONG(work->call, "a workspace of %zu bytes, and this algorithm needs %zu", bytes,
                         work->workspace_bytes);
    return status == CUDNN_STATUS_SUCCESS ? sim_dnn_queue(handle, work) : status;
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha, cudnnTensorDescriptor_t x_desc,
                                      const void *x, cudnnFilterDescriptor_t w_desc, const void *w,
                                      cudnnConvolutionDescriptor_t convolution, cudnnConvolutionFwdAlgo_t algorithm,
                                      void *workspace, size_t bytes, const void *beta, cudnnTensorDescriptor_t y_desc,
                                      void *y)
{
    dnn_work work = {.call = DNN_CALL("ConvolutionForward"),
                     .compute = compute_forward,
                     .in = {sim_dnn_operand("x", x_desc, x), sim_dnn_filter("w", w_desc, w)},
                     .out = {sim_dnn_operand("y", y_desc, y)},
                     .algorithm = (int)algorithm,
                     .workspace = workspace};
    work.alpha = sim_dnn_factor(work.call, &work.out[0].tensor, alpha);
    work.beta = sim_dnn_factor(work.call, &work.out[0].tensor, beta);
    return queue(handle, &work, convolution, &work.in[0], &work.in[1], &work.out[0], bytes);
}

cudnnStatus_t
cudnnConvolutionBiasActivationForward(cudnnHandle_t handle, const void *alpha1, cudnnTensorDescriptor_t x_desc,
                                      const void *x, cudnnFilterDescriptor_t w_desc, const void *w,
                                      cudnnConvolutionDescriptor_t convolution, cudnnConvolutionFwdAlgo_t algorithm,
                                      void *workspace, size_t bytes, const void *alpha2, cudnnTensorDescriptor_t z_desc,
                                      const void *z, cudnnTensorDescriptor_t bias_desc, const void *bias,
                                      cudnnActivationDescriptor_t activation, cudnnTensorDescriptor_t y_desc, void *y)
{
    dnn_work work = {.call = DNN_CALL("ConvolutionBiasActivationForward"),
                     .compute = compute_fused,
                     .in = {sim_dnn_operand("x", x_desc, x), sim_dnn_filter("w", w_desc, w)},
                     .out = {sim_dnn_operand("y", y_desc, y)},
                     .alpha = 1,
                     .algorithm = (int)algorithm,
                     .workspace = workspace};
    if (!activation || !bias_desc)
        return DNN_WRONG(work.call, "a descriptor is NULL");
    work.activation = *activation;
    work.factor = sim_dnn_factor(work.call, &work.out[0].tensor, alpha1);
    work.alpha_two = sim_dnn_factor(work.call, &work.out[0].tensor, alpha2);
    if (work.alpha_two != 0)
        work.in[2] = sim_dnn_operand("z", z_desc, z);
    work.in[3] = sim_dnn_operand("bias", bias_desc, bias);
    if (!sim_dnn_spreads(&work.in[3].tensor, &work.out[0].tensor))
        return DNN_WRONG(work.call, "the sizes of the bias do not go with those of y");
    return queue(handle, &work, convolution, &work.in[0], &work.in[1], &work.out[0], bytes);
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void *alpha, cudnnFilterDescriptor_t w_desc,
                                           const void *w, cudnnTensorDescriptor_t dy_desc, const void *dy,
                                           cudnnConvolutionDescriptor_t convolution,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void *workspace, size_t bytes,
                                           const void *beta, cudnnTensorDescriptor_t dx_desc, void *dx)
{
    dnn_work work = {.call = DNN_CALL("ConvolutionBackwardData"),
                     .compute = compute_backward_data,
                     .in = {sim_dnn_filter("w", w_desc, w), sim_dnn_operand("dy", dy_desc, dy)},
                     .out = {sim_dnn_operand("dx", dx_desc, dx)},
                     .algorithm = (int)algorithm,
                     .workspace = workspace};
    work.alpha = sim_dnn_factor(work.call, &work.out[0].tensor, alpha);
    work.beta = sim_dnn_factor(work.call, &work.out[0].tensor, beta);
    return queue(handle, &work, convolution, &work.out[0], &work.in[0], &work.in[1], bytes);
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha, cudnnTensorDescriptor_t x_desc,
                                             const void *x, cudnnTensorDescriptor_t dy_desc, const void *dy,
                                             cudnnConvolutionDescriptor_t convolution,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm, void *workspace, size_t bytes,
                                             const void *beta, cudnnFilterDescriptor_t dw_desc, void *dw)
{
    dnn_work work = {.call = DNN_CALL("ConvolutionBackwardFilter"),
                     .compute = compute_backward_filter,
                     .in = {sim_dnn_operand("x", x_desc, x), sim_dnn_operand("dy", dy_desc, dy)},
                     .out = {sim_dnn_filter("dw", dw_desc, dw)},
                     .algorithm = (int)algorithm,
                     .workspace = workspace};
    work.alpha = sim_dnn_factor(work.call, &work.out[0].tensor, alpha);
    work.beta = sim_dnn_factor(work.call, &work.out[0].tensor, beta);
    return queue(handle, &work, convolution, &work.in[0], &work.out[0], &work.in[1], bytes);
}

cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void *alpha, cudnnTensorDescriptor_t dy_desc,
                                           const void *dy, const void *beta, cudnnTensorDescriptor_t db_desc, void *db)
{
    dnn_work work = {.call = DNN_CALL("ConvolutionBackwardBias"),
                     .compute = compute_bias,
                     .in = {sim_dnn_operand("dy", dy_desc, dy)},
                     .out = {sim_dnn_operand("db", db_desc, db)}};
    work.alpha = sim_dnn_factor(work.call, &work.out[0].tensor, alpha);
    work.beta = sim_dnn_factor(work.call, &work.out[0].tensor, beta);
    if (!sim_dnn_spreads(&work.out[0].tensor, &work.in[0].tensor))
        return DNN_WRONG(work.call, "the sizes of db do not go with those of dy");
    return sim_dnn_queue(handle, &work);
}

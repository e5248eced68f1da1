// cuDNN's arithmetic with tensors: copies, sums and products with one spread over the other, reductions.
#include <math.h>
#include <stdlib.h>

#include "api/dnn/dnn.h"

// --- in: one tensor, or two, spread over the result -----------------------------------------------------------------

static void compute_spread(const dnn_work *w)
{
    for (size_t i = 0; i < sim_dnn_elements(&w->out[0].tensor); i++)
        w->out[0].dense[i] = w->in[0].dense[sim_dnn_spread(&w->in[0].tensor, &w->out[0].tensor, i)];
}

static double combine(cudnnOpTensorOp_t op, double a, double b)
{
    switch (op) {
    case CUDNN_OP_TENSOR_ADD: return a + b;
    case CUDNN_OP_TENSOR_MUL: return a * b;
    case CUDNN_OP_TENSOR_MIN: return fmin(a, b);
    case CUDNN_OP_TENSOR_MAX: return fmax(a, b);
    case CUDNN_OP_TENSOR_SQRT: return sqrt(a);
    default: return 1 - a;
    }
}

static void compute_op(const dnn_work *w)
{
    const dnn_operand *c = &w->out[0], *b = &w->in[1];
    for (size_t i = 0; i < sim_dnn_elements(&c->tensor); i++) {
        double second = b->dense ? w->alpha_two * b->dense[sim_dnn_spread(&b->tensor, &c->tensor, i)] : 0;
        c->dense[i] = combine((cudnnOpTensorOp_t)w->mode, w->factor * w->in[0].dense[i], second);
    }
}

static cudnnStatus_t spread(cudnnHandle_t handle, sim_blas_call call, const char *from, const void *alpha,
                            cudnnTensorDescriptor_t a_desc, const void *a, const char *to, const void *beta,
                            cudnnTensorDescriptor_t c_desc, void *c)
{
    dnn_work w = {.call = call,
                  .compute = compute_spread,
                  .in = {sim_dnn_operand(from, a_desc, a)},
                  .out = {sim_dnn_operand(to, c_desc, c)}};
    if (!sim_dnn_spreads(&w.in[0].tensor, &w.out[0].tensor))
        return DNN_WRONG(call, "the sizes of %s do not go with those of %s", from, to);
    w.alpha = sim_dnn_factor(call, &w.out[0].tensor, alpha);
    w.beta = sim_dnn_factor(call, &w.out[0].tensor, beta);
    return sim_dnn_queue(handle, &w);
}

cudnnStatus_t cudnnTransformTensor(cudnnHandle_t handle, const void *alpha, cudnnTensorDescriptor_t x_desc,
                                   const void *x, const void *beta, cudnnTensorDescriptor_t y_desc, void *y)
{
    return spread(handle, DNN_CALL("TransformTensor"), "x", alpha, x_desc, x, "y", beta, y_desc, y);
}

cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void *alpha, cudnnTensorDescriptor_t a_desc, const void *a,
                             const void *beta, cudnnTensorDescriptor_t c_desc, void *c)
{
    return spread(handle, DNN_CALL("AddTensor"), "A", alpha, a_desc, a, "C", beta, c_desc, c);
}

cudnnStatus_t cudnnOpTensor(cudnnHandle_t handle, cudnnOpTensorDescriptor_t operation, const void *alpha1,
                            cudnnTensorDescriptor_t a_desc, const void *a, const void *alpha2,
                            cudnnTensorDescriptor_t b_desc, const void *b, const void *beta,
                            cudnnTensorDescriptor_t c_desc, void *c)
{
    dnn_work w = {.call = DNN_CALL("OpTensor"),
                  .compute = compute_op,
                  .in = {sim_dnn_operand("A", a_desc, a)},
                  .out = {sim_dnn_operand("C", c_desc, c)},
                  .alpha = 1};
    if (!operation)
        return DNN_WRONG(w.call, "the operation's descriptor is NULL");
    bool two = operation->op != CUDNN_OP_TENSOR_SQRT && operation->op != CUDNN_OP_TENSOR_NOT;
    if (two)
        w.in[1] = sim_dnn_operand("B", b_desc, b);
    if (!sim_dnn_same(&w.in[0].tensor, &w.out[0].tensor) ||
        (two && !sim_dnn_spreads(&w.in[1].tensor, &w.out[0].tensor)))
        return DNN_WRONG(w.call, "A and C differ in size, or the sizes of B do not go with them");
    w.mode = (int)operation->op;
    w.factor = sim_dnn_factor(w.call, &w.out[0].tensor, alpha1);
    w.alpha_two = two ? sim_dnn_factor(w.call, &w.out[0].tensor, alpha2) : 0;
    w.beta = sim_dnn_factor(w.call, &w.out[0].tensor, beta);
    return sim_dnn_queue(handle, &w);
}

// --- one value ------------------------------------------------------------------------------------------------------

static double set_or_scaled(const dnn_work *w, size_t at)
{
    return w->out[0].kept ? w->factor * w->out[0].dense[at] : w->factor;
}

cudnnStatus_t cudnnSetTensor(cudnnHandle_t handle, cudnnTensorDescriptor_t y_desc, void *y, const void *value)
{
    dnn_work w = {
        .call = DNN_CALL("SetTensor"), .element = set_or_scaled, .out = {sim_dnn_operand("y", y_desc, y)}, .alpha = 1};
    w.factor = sim_blas_scalar_of(w.call, false, sim_dnn_type(w.out[0].tensor.type), value).value;
    return sim_dnn_queue(handle, &w);
}

cudnnStatus_t cudnnScaleTensor(cudnnHandle_t handle, cudnnTensorDescriptor_t y_desc, void *y, const void *alpha)
{
    dnn_work w = {.call = DNN_CALL("ScaleTensor"),
                  .element = set_or_scaled,
                  .out = {sim_dnn_operand("y", y_desc, y)},
                  .alpha = 1};
    w.out[0].kept = true;
    w.factor = sim_dnn_factor(w.call, &w.out[0].tensor, alpha);
    return sim_dnn_queue(handle, &w);
}

// --- reductions -----------------------------------------------------------------------------------------------------

static double first_of(cudnnReduceTensorOp_t op)
{
    switch (op) {
    case CUDNN_REDUCE_TENSOR_MUL:
    case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS: return 1;
    case CUDNN_REDUCE_TENSOR_MIN: return INFINITY;
    case CUDNN_REDUCE_TENSOR_MAX: return -INFINITY;
    default: return 0;
    }
}

static double reduce(cudnnReduceTensorOp_t op, double so_far, double value)
{
    switch (op) {
    case CUDNN_REDUCE_TENSOR_MUL: return so_far * value;
    case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS: return value == 0 ? so_far : so_far * value;
    case CUDNN_REDUCE_TENSOR_MIN: return fmin(so_far, value);
    case CUDNN_REDUCE_TENSOR_MAX: return fmax(so_far, value);
    case CUDNN_REDUCE_TENSOR_AMAX: return fmax(so_far, fabs(value));
    case CUDNN_REDUCE_TENSOR_NORM1: return so_far + fabs(value);
    case CUDNN_REDUCE_TENSOR_NORM2: return so_far + value * value;
    default: return so_far + value;
    }
}

static void compute_reduction(const dnn_work *w)
{
    const dnn_operand *a = &w->in[0], *c = &w->out[0];
    cudnnReduceTensorOp_t op = (cudnnReduceTensorOp_t)w->mode;
    size_t in = sim_dnn_elements(&a->tensor), out = sim_dnn_elements(&c->tensor);
    for (size_t i = 0; i < out; i++)
        c->dense[i] = first_of(op);
    for (size_t i = 0; i < in; i++) {
        double *to = &c->dense[sim_dnn_spread(&c->tensor, &a->tensor, i)];
        *to = reduce(op, *to, a->dense[i]);
    }
    for (size_t i = 0; i < out; i++) {
        if (op == CUDNN_REDUCE_TENSOR_AVG)
            c->dense[i] /= (double)(in / out);
        else if (op == CUDNN_REDUCE_TENSOR_NORM2)
            c->dense[i] = sqrt(c->dense[i]);
    }
}

cudnnStatus_t cudnnGetReductionWorkspaceSize(cudnnHandle_t handle, cudnnReduceTensorDescriptor_t reduction,
                                             cudnnTensorDescriptor_t a, cudnnTensorDescriptor_t c, size_t *bytes)
{
    (void)reduction, (void)c;
    *bytes = sim_dnn_bytes(&a->tensor);
    return handle ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_INITIALIZED;
}

cudnnStatus_t cudnnGetReductionIndicesSize(cudnnHandle_t handle, cudnnReduceTensorDescriptor_t reduction,
                                           cudnnTensorDescriptor_t a, cudnnTensorDescriptor_t c, size_t *bytes)
{
    (void)reduction, (void)a, (void)c;
    *bytes = 0;
    return handle ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_INITIALIZED;
}

cudnnStatus_t cudnnReduceTensor(cudnnHandle_t handle, cudnnReduceTensorDescriptor_t reduction, void *indices,
                                size_t index_bytes, void *workspace, size_t bytes, const void *alpha,
                                cudnnTensorDescriptor_t a_desc, const void *a, const void *beta,
                                cudnnTensorDescriptor_t c_desc, void *c)
{
    (void)indices, (void)index_bytes;
    dnn_work w = {.call = DNN_CALL("ReduceTensor"),
                  .compute = compute_reduction,
                  .in = {sim_dnn_operand("A", a_desc, a)},
                  .out = {sim_dnn_operand("C", c_desc, c)},
                  .workspace = workspace};
    if (!reduction || !a_desc || !sim_dnn_spreads(&w.out[0].tensor, &w.in[0].tensor))
        return DNN_WRONG(w.call, "no descriptor, or the sizes of C are not those of A or 1");
    w.workspace_bytes = sim_dnn_bytes(&w.in[0].tensor);
    if (bytes < w.workspace_bytes)
        return DNN_WRONG(w.call, "a workspace of %zu bytes, and the reduction needs %zu", bytes, w.workspace_bytes);
    w.mode = (int)reduction->op;
    w.alpha = sim_dnn_factor(w.call, &w.out[0].tensor, alpha);
    w.beta = sim_dnn_factor(w.call, &w.out[0].tensor, beta);
    return sim_dnn_queue(handle, &w);
}

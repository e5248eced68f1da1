// cuDNN's graph interface: running. Each operation is a call of the legacy interface; a tensor between two operations
// lies in the workspace.
#include "api/dnn/graph.h"

enum { ALIGNMENT = 256, MOST_OPERATIONS = 64 };

static _Thread_local sim_blas_call outer; // cudnnBackendExecute, while it runs

sim_blas_call sim_dnn_call(sim_blas_call call)
{
    return outer.name ? outer : call;
}

typedef struct graph_run {
    cudnnHandle_t handle;
    const dnn_part *graph, *pack;
    bool done[MOST_OPERATIONS];
} graph_run;

static const dnn_part *operation_at(const dnn_part *graph, int64_t index)
{
    return sim_dnn_child(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, index);
}

static const dnn_part *result_of(const dnn_part *operation)
{
    switch (operation->type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
        return sim_dnn_child(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, 0);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
        return sim_dnn_child(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, 0);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
        return sim_dnn_child(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, 0);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
        return sim_dnn_child(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, 0);
    case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR:
        return sim_dnn_child(operation, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, 0);
    default: return NULL;
    }
}

// --- tensors ---------------------------------------------------------------------------------------------------------

static dnn_tensor tensor_of(const dnn_part *part)
{
    dnn_tensor tensor = {.type = (cudnnDataType_t)sim_dnn_number(part, CUDNN_ATTR_TENSOR_DATA_TYPE, 0, 0)};
    for (; tensor.count < CUDNN_DIM_MAX; tensor.count++) {
        int64_t size = sim_dnn_number(part, CUDNN_ATTR_TENSOR_DIMENSIONS, tensor.count, 0);
        if (size == 0)
            break;
        tensor.size[tensor.count] = (int)size;
        tensor.stride[tensor.count] = (int)sim_dnn_number(part, CUDNN_ATTR_TENSOR_STRIDES, tensor.count, 0);
    }
    return tensor;
}

static bool is_between(const dnn_part *tensor)
{
    return sim_dnn_number(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0, false);
}

static int64_t number_of(const dnn_part *tensor)
{
    return sim_dnn_number(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0, 0);
}

// Where a tensor between operations lies in the workspace; NULL: where all of them end. -1: an operation is not
// complete.
static int64_t place_of(const dnn_part *graph, const dnn_part *tensor)
{
    int64_t at = 0;
    const dnn_part *operation;
    for (int64_t i = 0; (operation = operation_at(graph, i)); i++) {
        const dnn_part *result = result_of(operation);
        if (!result || i >= MOST_OPERATIONS)
            return -1;
        if (!is_between(result))
            continue;
        if (tensor && number_of(result) == number_of(tensor))
            return at;
        dnn_tensor shape = tensor_of(result);
        at += ((int64_t)sim_dnn_bytes(&shape) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return tensor ? -1 : at;
}

int64_t sim_dnn_graph_workspace(const dnn_part *graph)
{
    return operation_at(graph, 0) ? place_of(graph, NULL) : -1;
}

static void *data_of(const graph_run *run, const dnn_part *tensor)
{
    if (!tensor)
        return NULL;
    if (is_between(tensor)) {
        char *workspace = sim_dnn_pointer(run->pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, 0);
        int64_t place = place_of(run->graph, tensor);
        return workspace && place >= 0 ? workspace + place : NULL;
    }
    for (int64_t i = 0; sim_dnn_number(run->pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, i, -1) != -1; i++)
        if (sim_dnn_number(run->pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, i, -1) == number_of(tensor))
            return sim_dnn_pointer(run->pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, i);
    return NULL;
}

// A tensor of an operation for the legacy interface: its descriptor and its data. Without the attribute: no dimensions.
typedef struct given {
    struct cudnnTensorStruct tensor;
    struct cudnnFilterStruct filter; // the same, as weights
    void *data;
} given;

static given give(const graph_run *run, const dnn_part *operation, cudnnBackendAttributeName_t name)
{
    const dnn_part *tensor = sim_dnn_child(operation, name, 0);
    given found = {.data = data_of(run, tensor)};
    if (tensor)
        found.tensor.tensor = found.filter.tensor = tensor_of(tensor);
    return found;
}

// --- operations ------------------------------------------------------------------------------------------------------

static struct cudnnConvolutionStruct convolution_of(const dnn_part *part, const given *x, const given *w)
{
    struct cudnnConvolutionStruct convolution = {
        .count = 2,
        .groups = w->tensor.tensor.size[1] > 0 ? x->tensor.tensor.size[1] / w->tensor.tensor.size[1] : 1,
        .mode =
            (cudnnConvolutionMode_t)sim_dnn_number(part, CUDNN_ATTR_CONVOLUTION_CONV_MODE, 0, CUDNN_CROSS_CORRELATION)};
    for (int i = 0; i < 2; i++) {
        convolution.padding[i] = (int)sim_dnn_number(part, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, i, 0);
        convolution.stride[i] = (int)sim_dnn_number(part, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, i, 1);
        convolution.dilation[i] = (int)sim_dnn_number(part, CUDNN_ATTR_CONVOLUTION_DILATIONS, i, 1);
    }
    convolution.groups = convolution.groups > 0 ? convolution.groups : 1;
    return convolution;
}

typedef struct factors {
    double wide[2];
    float single[2];
    const void *alpha, *beta; // of the type that goes with the tensor's
} factors;

static void read_factors(const dnn_part *operation, cudnnBackendAttributeName_t alpha, cudnnBackendAttributeName_t beta,
                         const given *y, factors *read)
{
    bool wide = y->tensor.tensor.type == CUDNN_DATA_DOUBLE;
    read->wide[0] = sim_dnn_real(operation, alpha, 1);
    read->wide[1] = sim_dnn_real(operation, beta, 0);
    read->single[0] = (float)read->wide[0];
    read->single[1] = (float)read->wide[1];
    read->alpha = wide ? (const void *)&read->wide[0] : &read->single[0];
    read->beta = wide ? (const void *)&read->wide[1] : &read->single[1];
}

static cudnnStatus_t run_forward(const graph_run *run, const dnn_part *operation)
{
    const dnn_part *part = sim_dnn_child(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, 0);
    given x = give(run, operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X);
    given w = give(run, operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W);
    given y = give(run, operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
    struct cudnnConvolutionStruct convolution =
        part ? convolution_of(part, &x, &w) : (struct cudnnConvolutionStruct){0};
    factors by;
    read_factors(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                 CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, &y, &by);
    return cudnnConvolutionForward(run->handle, by.alpha, &x.tensor, x.data, &w.filter, w.data, &convolution,
                                   CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0, by.beta, &y.tensor, y.data);
}

static cudnnStatus_t run_backward_data(const graph_run *run, const dnn_part *operation)
{
    const dnn_part *part = sim_dnn_child(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, 0);
    given dx = give(run, operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX);
    given w = give(run, operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W);
    given dy = give(run, operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY);
    struct cudnnConvolutionStruct convolution =
        part ? convolution_of(part, &dx, &w) : (struct cudnnConvolutionStruct){0};
    factors by;
    read_factors(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                 CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, &dx, &by);
    return cudnnConvolutionBackwardData(run->handle, by.alpha, &w.filter, w.data, &dy.tensor, dy.data, &convolution,
                                        CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, NULL, 0, by.beta, &dx.tensor, dx.data);
}

static cudnnStatus_t run_backward_filter(const graph_run *run, const dnn_part *operation)
{
    const dnn_part *part = sim_dnn_child(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, 0);
    given x = give(run, operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X);
    given dw = give(run, operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW);
    given dy = give(run, operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY);
    struct cudnnConvolutionStruct convolution =
        part ? convolution_of(part, &x, &dw) : (struct cudnnConvolutionStruct){0};
    factors by;
    read_factors(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                 CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, &dw, &by);
    return cudnnConvolutionBackwardFilter(run->handle, by.alpha, &x.tensor, x.data, &dy.tensor, dy.data, &convolution,
                                          CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, NULL, 0, by.beta, &dw.filter, dw.data);
}

static cudnnStatus_t run_pointwise(const graph_run *run, const dnn_part *operation)
{
    static const float one = 1, zero = 0;
    static const double wide_one = 1, wide_zero = 0;
    const dnn_part *part = sim_dnn_child(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, 0);
    given x = give(run, operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
    given b = give(run, operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
    given y = give(run, operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
    bool wide = y.tensor.tensor.type == CUDNN_DATA_DOUBLE;
    const void *keep = wide ? (const void *)&wide_one : &one, *clear = wide ? (const void *)&wide_zero : &zero;
    if (part && sim_dnn_number(part, CUDNN_ATTR_POINTWISE_MODE, 0, -1) == CUDNN_POINTWISE_ADD) {
        struct cudnnOpTensorStruct add = {CUDNN_OP_TENSOR_ADD};
        return cudnnOpTensor(run->handle, &add, keep, &x.tensor, x.data, keep, &b.tensor, b.data, clear, &y.tensor,
                             y.data);
    }
    struct cudnnActivationStruct relu = {CUDNN_ACTIVATION_RELU, 0};
    return cudnnActivationForward(run->handle, &relu, keep, &x.tensor, x.data, clear, &y.tensor, y.data);
}

// A tensor of one number, by value: in host memory.
static double value_of(const graph_run *run, const dnn_part *operation, cudnnBackendAttributeName_t name,
                       double otherwise)
{
    given value = give(run, operation, name);
    return value.data ? sim_blas_load(sim_dnn_type(value.tensor.tensor.type), value.data, 0) : otherwise;
}

static cudnnStatus_t run_norm(const graph_run *run, const dnn_part *operation)
{
    static const float one = 1, zero = 0;
    given x = give(run, operation, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC);
    given y = give(run, operation, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC);
    given scale = give(run, operation, CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC);
    given bias = give(run, operation, CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC);
    given mean = give(run, operation, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC);
    given inverse = give(run, operation, CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC);
    given old[2] = {give(run, operation, CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC),
                    give(run, operation, CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC)};
    given new[2] = {give(run, operation, CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC),
                    give(run, operation, CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC)};
    for (int i = 0; i < 2; i++) { // the legacy call updates in place
        cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
        if (new[i].data && old[i].data &&new[i].data != old[i].data)
            status = cudnnTransformTensor(run->handle, &one, &old[i].tensor, old[i].data, &zero, &new[i].tensor,
                                          new[i].data);
        if (status != CUDNN_STATUS_SUCCESS)
            return status;
    }
    return cudnnBatchNormalizationForwardTraining(
        run->handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, &x.tensor, x.data, &y.tensor, y.data, &scale.tensor,
        scale.data, bias.data, value_of(run, operation, CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, 1),
        new[0].data, new[1].data, value_of(run, operation, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, 0), mean.data,
        inverse.data);
}

static cudnnStatus_t run_operation(const graph_run *run, const dnn_part *operation)
{
    switch (operation->type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR: return run_forward(run, operation);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR: return run_backward_data(run, operation);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR: return run_backward_filter(run, operation);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: return run_pointwise(run, operation);
    default: return run_norm(run, operation);
    }
}

// Whether an operation that has not run yet gives what this one reads.
static bool waits(const graph_run *run, const dnn_part *operation)
{
    const dnn_part *other;
    for (int64_t i = 0; (other = operation_at(run->graph, i)); i++) {
        const dnn_part *result = run->done[i] || other == operation ? NULL : result_of(other);
        for (const dnn_attribute *a = operation->attributes; a && result && is_between(result); a = a->next) {
            const dnn_part *read =
                a->type == CUDNN_TYPE_BACKEND_DESCRIPTOR ? sim_dnn_child(operation, a->name, 0) : NULL;
            if (read && read->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR && number_of(read) == number_of(result))
                return true;
        }
    }
    return false;
}

static cudnnStatus_t run_all(graph_run *run)
{
    const dnn_part *operation;
    for (bool more = true; more;) {
        more = false;
        for (int64_t i = 0; (operation = operation_at(run->graph, i)); i++) {
            if (run->done[i] || waits(run, operation))
                continue;
            cudnnStatus_t status = run_operation(run, operation);
            if (status != CUDNN_STATUS_SUCCESS)
                return status;
            run->done[i] = more = true;
        }
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack)
{
    sim_blas_call call = DNN_CALL("BackendExecute");
    if (!handle)
        return CUDNN_STATUS_NOT_INITIALIZED;
    if (!sim_dnn_is(plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) ||
        !sim_dnn_is(pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR))
        return DNN_WRONG(call, "the plan or the variant pack is not finished, or is something else");
    graph_run run = {.handle = handle, .graph = sim_dnn_graph_of(plan), .pack = pack};
    outer = call;
    cudnnStatus_t status = run_all(&run);
    outer = (sim_blas_call){0};
    return status;
}

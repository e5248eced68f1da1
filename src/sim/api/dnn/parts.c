// cuDNN's graph interface: descriptors. What is not simulated is refused where it is made or finished.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/dnn/graph.h"
#include "findings/finding.h"

// --- attributes ------------------------------------------------------------------------------------------------------

static size_t element_size(cudnnBackendAttributeType_t type)
{
    switch (type) {
    case CUDNN_TYPE_BOOLEAN: return sizeof(bool);
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR: return sizeof(void *);
    case CUDNN_TYPE_INT64: return sizeof(int64_t);
    case CUDNN_TYPE_DOUBLE: return sizeof(double);
    default: return sizeof(int); // float and enumerations
    }
}

static const dnn_attribute *find(const dnn_part *part, cudnnBackendAttributeName_t name)
{
    const dnn_attribute *found = part->attributes;
    while (found && found->name != name)
        found = found->next;
    return found;
}

static const void *element(const dnn_part *part, cudnnBackendAttributeName_t name, int64_t index, size_t bytes)
{
    const dnn_attribute *found = find(part, name);
    bool there = found && index < found->count && element_size(found->type) == bytes;
    return there ? found->elements + (size_t)index * bytes : NULL;
}

void *sim_dnn_pointer(const dnn_part *part, cudnnBackendAttributeName_t name, int64_t index)
{
    void *pointer = NULL;
    const void *at = element(part, name, index, sizeof pointer);
    if (at)
        memcpy(&pointer, at, sizeof pointer);
    return pointer;
}

dnn_part *sim_dnn_child(const dnn_part *part, cudnnBackendAttributeName_t name, int64_t index)
{
    return sim_dnn_pointer(part, name, index);
}

int64_t sim_dnn_number(const dnn_part *part, cudnnBackendAttributeName_t name, int64_t index, int64_t otherwise)
{
    int64_t number;
    int choice;
    bool flag;
    const void *at = element(part, name, index, sizeof number);
    if (at) {
        memcpy(&number, at, sizeof number);
        return number;
    }
    at = element(part, name, index, sizeof choice);
    if (at) {
        memcpy(&choice, at, sizeof choice);
        return choice;
    }
    at = element(part, name, index, sizeof flag);
    if (at)
        memcpy(&flag, at, sizeof flag);
    return at ? flag : otherwise;
}

double sim_dnn_real(const dnn_part *part, cudnnBackendAttributeName_t name, double otherwise)
{
    const dnn_attribute *found = find(part, name);
    float single;
    double real;
    if (!found || found->count < 1 || (found->type != CUDNN_TYPE_FLOAT && found->type != CUDNN_TYPE_DOUBLE))
        return otherwise;
    memcpy(&single, found->elements, sizeof single);
    memcpy(&real, found->elements, element_size(found->type));
    return found->type == CUDNN_TYPE_FLOAT ? (double)single : real;
}

bool sim_dnn_is(const dnn_part *part, cudnnBackendDescriptorType_t type)
{
    return part && part->type == type && part->finished;
}

static void let_go(dnn_part *part);

static void forget(dnn_attribute *attribute)
{
    for (int64_t i = 0; attribute->type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < attribute->count; i++) {
        dnn_part *child;
        memcpy(&child, attribute->elements + (size_t)i * sizeof child, sizeof child);
        let_go(child);
    }
    free(attribute);
}

static void let_go(dnn_part *part)
{
    if (!part || --part->users > 0)
        return;
    for (dnn_attribute *next, *attribute = part->attributes; attribute; attribute = next) {
        next = attribute->next;
        forget(attribute);
    }
    free(part);
}

static cudnnStatus_t set(dnn_part *part, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                         int64_t count, const void *elements)
{
    size_t bytes = (size_t)count * element_size(type);
    dnn_attribute *made = malloc(sizeof *made + bytes);
    if (!made)
        return CUDNN_STATUS_ALLOC_FAILED;
    *made = (dnn_attribute){NULL, name, type, count};
    memcpy(made->elements, elements, bytes);
    for (int64_t i = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < count; i++)
        if (((dnn_part *const *)elements)[i])
            ((dnn_part *const *)elements)[i]->users++;
    dnn_attribute **place = &part->attributes;
    while (*place && (*place)->name != name)
        place = &(*place)->next;
    dnn_attribute *old = *place;
    made->next = old ? old->next : NULL;
    *place = made;
    if (old)
        forget(old);
    return CUDNN_STATUS_SUCCESS;
}

// --- what is there ---------------------------------------------------------------------------------------------------

static cudnnStatus_t refuse(sim_blas_call call, const char *what)
{
    sim_finding finding = {
        .kind = SIM_UNSUPPORTED, .tier = SIM_WARNING, .place = {{.pc = (uintptr_t)call.pc, .role = "call"}}};
    snprintf(finding.message, sizeof finding.message, "%s: the simulated cuDNN has no %s in its graphs", call.name,
             what);
    snprintf(finding.note, sizeof finding.note, "the call returns CUDNN_STATUS_NOT_SUPPORTED");
    sim_report(&finding);
    return CUDNN_STATUS_NOT_SUPPORTED;
}

static bool is_simulated(cudnnBackendDescriptorType_t type)
{
    switch (type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR: return true;
    default: return false;
    }
}

static cudnnStatus_t check_tensor(const dnn_part *part, sim_blas_call call)
{
    int count = 0;
    while (sim_dnn_number(part, CUDNN_ATTR_TENSOR_DIMENSIONS, count, 0) > 0 &&
           sim_dnn_number(part, CUDNN_ATTR_TENSOR_STRIDES, count, 0) > 0)
        count++;
    int64_t type = sim_dnn_number(part, CUDNN_ATTR_TENSOR_DATA_TYPE, 0, -1);
    if (count == 0 || type < 0 || !find(part, CUDNN_ATTR_TENSOR_UNIQUE_ID))
        return DNN_WRONG(call, "a tensor needs a data type, dimensions, strides and a unique id");
    if (count > 4 || !sim_blas_size(sim_dnn_type((cudnnDataType_t)type)))
        return refuse(call, "such tensor");
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t check_convolution(const dnn_part *part, sim_blas_call call)
{
    bool even = sim_dnn_number(part, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0, 0) == 2;
    for (int i = 0; i < 2; i++)
        even &= sim_dnn_number(part, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, i, -1) ==
                sim_dnn_number(part, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, i, -2);
    return even ? CUDNN_STATUS_SUCCESS : refuse(call, "convolution but in two dimensions, padded alike on both sides");
}

static cudnnStatus_t check_pointwise(const dnn_part *part, sim_blas_call call)
{
    int64_t mode = sim_dnn_number(part, CUDNN_ATTR_POINTWISE_MODE, 0, -1);
    bool plain = sim_dnn_real(part, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0) == 0 &&
                 sim_dnn_real(part, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0) == 0 &&
                 !find(part, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP);
    return mode == CUDNN_POINTWISE_ADD || (mode == CUDNN_POINTWISE_RELU_FWD && plain)
               ? CUDNN_STATUS_SUCCESS
               : refuse(call, "pointwise operation but CUDNN_POINTWISE_ADD and a plain CUDNN_POINTWISE_RELU_FWD");
}

static cudnnStatus_t check_norm(const dnn_part *part, sim_blas_call call)
{
    return sim_dnn_number(part, CUDNN_ATTR_OPERATION_NORM_FWD_MODE, 0, -1) == CUDNN_BATCH_NORM &&
                   sim_dnn_number(part, CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, 0, -1) == CUDNN_NORM_FWD_TRAINING
               ? CUDNN_STATUS_SUCCESS
               : refuse(call, "normalisation but CUDNN_BATCH_NORM with CUDNN_NORM_FWD_TRAINING");
}

const dnn_part *sim_dnn_graph_of(const dnn_part *plan)
{
    const dnn_part *configuration = sim_dnn_child(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, 0);
    const dnn_part *engine = configuration ? sim_dnn_child(configuration, CUDNN_ATTR_ENGINECFG_ENGINE, 0) : NULL;
    return engine ? sim_dnn_child(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, 0) : NULL;
}

static cudnnStatus_t check(const dnn_part *part, sim_blas_call call)
{
    const dnn_part *graph;
    switch (part->type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR: return check_tensor(part, call);
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR: return check_convolution(part, call);
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR: return check_pointwise(part, call);
    case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR: return check_norm(part, call);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
        return sim_dnn_graph_workspace(part) >= 0 ? CUDNN_STATUS_SUCCESS
                                                  : DNN_WRONG(call, "the graph has an operation that is not complete");
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
        graph = sim_dnn_graph_of(part);
        return sim_dnn_is(graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
                   ? CUDNN_STATUS_SUCCESS
                   : DNN_WRONG(call, "the plan has no engine configuration of a finished graph");
    default: return CUDNN_STATUS_SUCCESS;
    }
}

// --- the functions ---------------------------------------------------------------------------------------------------

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *descriptor)
{
    if (!is_simulated(type))
        return refuse(DNN_CALL("BackendCreateDescriptor"), "descriptor of this type");
    dnn_part *made = calloc(1, sizeof *made);
    if (!made)
        return CUDNN_STATUS_ALLOC_FAILED;
    made->type = type;
    made->users = 1;
    *descriptor = made;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor)
{
    let_go(descriptor);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendInitialize(cudnnBackendDescriptor_t descriptor)
{
    return descriptor ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor)
{
    dnn_part *part = descriptor;
    sim_blas_call call = DNN_CALL("BackendFinalize");
    if (!part)
        return DNN_WRONG(call, "the descriptor is NULL");
    cudnnStatus_t status = check(part, call);
    part->finished = status == CUDNN_STATUS_SUCCESS;
    return status;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void *elements)
{
    dnn_part *part = descriptor;
    sim_blas_call call = DNN_CALL("BackendSetAttribute");
    if (!part || count < 0 || (count > 0 && !elements))
        return DNN_WRONG(call, "the descriptor or its elements are NULL, or their number is negative");
    if (part->finished)
        return DNN_WRONG(call, "the descriptor is finished: attributes are set before cudnnBackendFinalize");
    for (int64_t i = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < count; i++) {
        const dnn_part *child = ((dnn_part *const *)elements)[i];
        if (!child || !child->finished)
            return DNN_WRONG(call, "element %lld is NULL or not finished", (long long)i);
    }
    return set(part, name, type, count, elements);
}

// One engine for every graph: the first configuration is it, made in the descriptor that the program gives.
static cudnnStatus_t give_engine(const dnn_part *part, dnn_part *to)
{
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    int64_t number = 0;
    if (to->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR) {
        dnn_part *graph =
            sim_dnn_child(part,
                          part->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR ? CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH
                                                                            : CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                          0);
        status = set(to, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
        if (status == CUDNN_STATUS_SUCCESS)
            status = set(to, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &number);
    } else {
        cudnnBackendDescriptor_t engine = NULL;
        status = cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine);
        if (status == CUDNN_STATUS_SUCCESS)
            status = give_engine(part, engine);
        if (status == CUDNN_STATUS_SUCCESS)
            status = set(to, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
        let_go(engine);
    }
    to->finished = status == CUDNN_STATUS_SUCCESS;
    return status;
}

static cudnnStatus_t get_number(int64_t value, int64_t requested, int64_t *count, void *elements)
{
    *count = 1;
    if (requested > 0 && elements)
        memcpy(elements, &value, sizeof value);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t requested, int64_t *count,
                                       void *elements)
{
    const dnn_part *part = descriptor;
    sim_blas_call call = DNN_CALL("BackendGetAttribute");
    int64_t ignored = 0, *number = count ? count : &ignored;
    if (!part || !part->finished)
        return DNN_WRONG(call, "the descriptor is NULL or not finished");
    if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE || name == CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE) {
        *number = 0;
        return CUDNN_STATUS_SUCCESS;
    }
    if (name == CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT)
        return get_number(1, requested, number, elements);
    if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)
        return get_number(sim_dnn_graph_workspace(sim_dnn_graph_of(part)), requested, number, elements);
    const dnn_attribute *found = find(part, name);
    const dnn_part *source = name == CUDNN_ATTR_ENGINECFG_ENGINE && found ? sim_dnn_child(part, name, 0) : part;
    if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS || source != part) {
        *number = 1;
        dnn_part *to = requested > 0 && elements ? *(dnn_part **)elements : NULL;
        return to ? give_engine(source, to) : CUDNN_STATUS_SUCCESS;
    }
    if (!found || found->type != type)
        return CUDNN_STATUS_NOT_SUPPORTED;
    *number = found->count;
    size_t wanted = (size_t)(requested < found->count ? requested : found->count);
    if (elements)
        memcpy(elements, found->elements, wanted * element_size(type));
    return CUDNN_STATUS_SUCCESS;
}

// The runtime API's functions that add nodes to graphs, and read and change what they do.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "api/allocate.h"
#include "api/call.h"
#include "api/event.h"
#include "api/graph.h"

// What all the Add functions share: where the node goes.
typedef struct target {
    cudaGraphNode_t *node;
    cudaGraph_t graph;
    const cudaGraphNode_t *after;
    size_t count;
} target;

static cudaError_t add(target at, enum cudaGraphNodeType type, sim_work *work, struct CUgraphNode_st **made)
{
    struct CUgraph_st *graph = sim_graph_of(at.graph);
    struct CUgraphNode_st *node = NULL;
    if (at.node == NULL)
        sim_fail(cudaErrorInvalidValue, "the output argument for the node is NULL");
    else if (graph != NULL)
        node = sim_graph_add(graph, type, at.after, at.count);
    if (node == NULL) {
        sim_work_release(work);
        return cudaErrorInvalidValue;
    }
    node->work = *work;
    *at.node = node;
    *made = node;
    return cudaSuccess;
}

// A node of the given type; NULL with a finding when it is none.
static struct CUgraphNode_st *node_of_type(cudaGraphNode_t handle, enum cudaGraphNodeType type)
{
    struct CUgraphNode_st *node = sim_graph_node_of(handle);
    if (node != NULL && node->type != type)
        sim_fail(cudaErrorInvalidValue, "the node is of another type");
    return node != NULL && node->type == type ? node : NULL;
}

// What a node was made with; NULL: nothing that it could be asked for.
static void *parameters_in(struct CUgraphNode_st *node, size_t *bytes)
{
    switch (node->type) {
    case cudaGraphNodeTypeKernel: *bytes = sizeof node->kernel; return &node->kernel;
    case cudaGraphNodeTypeMemcpy: *bytes = sizeof node->copy; return &node->copy;
    case cudaGraphNodeTypeMemset: *bytes = sizeof node->fill; return &node->fill;
    default: return NULL;
    }
}

static void keep(struct CUgraphNode_st *node, const void *parameters)
{
    size_t bytes;
    void *kept = parameters_in(node, &bytes);
    if (kept != NULL)
        memcpy(kept, parameters, bytes);
}

static cudaError_t add_working(target at, enum cudaGraphNodeType type, const void *parameters)
{
    sim_work work;
    struct CUgraphNode_st *node;
    cudaError_t error = sim_graph_work(type, parameters, &work);
    if (error == cudaSuccess)
        error = add(at, type, &work, &node);
    if (error == cudaSuccess)
        keep(node, parameters);
    return error;
}

static cudaError_t get_parameters(cudaGraphNode_t handle, enum cudaGraphNodeType type, void *parameters)
{
    struct CUgraphNode_st *node = node_of_type(handle, type);
    size_t bytes;
    if (node == NULL || parameters == NULL)
        return cudaErrorInvalidValue;
    const void *kept = parameters_in(node, &bytes);
    memcpy(parameters, kept, bytes);
    return cudaSuccess;
}

static cudaError_t set_parameters(cudaGraphNode_t handle, enum cudaGraphNodeType type, const void *parameters)
{
    struct CUgraphNode_st *node = node_of_type(handle, type);
    sim_work work;
    if (node == NULL)
        return cudaErrorInvalidValue;
    const cudaError_t error = sim_graph_work(type, parameters, &work);
    if (error != cudaSuccess)
        return error;
    sim_work_release(&node->work);
    node->work = work;
    keep(node, parameters);
    return cudaSuccess;
}

// --- kernels --------------------------------------------------------------------------------------------------------

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t count, const struct cudaKernelNodeParams *parameters)
{
    return SIM_CALL(add_working((target){node, graph, dependencies, count}, cudaGraphNodeTypeKernel, parameters));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *parameters)
{
    return SIM_CALL(get_parameters(node, cudaGraphNodeTypeKernel, parameters));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *parameters)
{
    return SIM_CALL(set_parameters(node, cudaGraphNodeTypeKernel, parameters));
}

SIM_API(cudaGraphKernelNodeSetAttribute,
        (cudaGraphNode_t handle, cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue *value),
        (handle, attribute, value))
{
    struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeKernel);
    if (node == NULL || value == NULL)
        return cudaErrorInvalidValue;
    if (attribute == cudaLaunchAttributeCooperative)
        node->work.kernel.config.cooperative = value->cooperative;
    return cudaSuccess;
}

SIM_API(cudaGraphKernelNodeGetAttribute,
        (cudaGraphNode_t handle, cudaLaunchAttributeID attribute, cudaLaunchAttributeValue *value),
        (handle, attribute, value))
{
    const struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeKernel);
    if (node == NULL || value == NULL)
        return cudaErrorInvalidValue;
    *value = (cudaLaunchAttributeValue){{0}};
    if (attribute == cudaLaunchAttributeCooperative)
        value->cooperative = node->work.kernel.config.cooperative;
    return cudaSuccess;
}

// --- copies ---------------------------------------------------------------------------------------------------------

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t count, const struct cudaMemcpy3DParms *parameters)
{
    return SIM_CALL(add_working((target){node, graph, dependencies, count}, cudaGraphNodeTypeMemcpy, parameters));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                     size_t count, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms flat = sim_graph_copy_flat(to, from, bytes, kind);
    return SIM_CALL(add_working((target){node, graph, dependencies, count}, cudaGraphNodeTypeMemcpy, &flat));
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *dependencies, size_t count, const void *symbol,
                                           const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms flat = sim_graph_copy_flat((uint8_t *)(uintptr_t)symbol + offset, from, bytes, kind);
    return SIM_CALL(add_working((target){node, graph, dependencies, count}, cudaGraphNodeTypeMemcpy, &flat));
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *dependencies, size_t count, void *to,
                                             const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms flat = sim_graph_copy_flat(to, (const uint8_t *)symbol + offset, bytes, kind);
    return SIM_CALL(add_working((target){node, graph, dependencies, count}, cudaGraphNodeTypeMemcpy, &flat));
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *parameters)
{
    return SIM_CALL(get_parameters(node, cudaGraphNodeTypeMemcpy, parameters));
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *parameters)
{
    return SIM_CALL(set_parameters(node, cudaGraphNodeTypeMemcpy, parameters));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes,
                                           enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms flat = sim_graph_copy_flat(to, from, bytes, kind);
    return SIM_CALL(set_parameters(node, cudaGraphNodeTypeMemcpy, &flat));
}

// --- fills ----------------------------------------------------------------------------------------------------------

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t count, const struct cudaMemsetParams *parameters)
{
    return SIM_CALL(add_working((target){node, graph, dependencies, count}, cudaGraphNodeTypeMemset, parameters));
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *parameters)
{
    return SIM_CALL(get_parameters(node, cudaGraphNodeTypeMemset, parameters));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *parameters)
{
    return SIM_CALL(set_parameters(node, cudaGraphNodeTypeMemset, parameters));
}

// --- functions of the host ------------------------------------------------------------------------------------------

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                 size_t count, const struct cudaHostNodeParams *parameters)
{
    return SIM_CALL(add_working((target){node, graph, dependencies, count}, cudaGraphNodeTypeHost, parameters));
}

SIM_API(cudaGraphHostNodeGetParams, (cudaGraphNode_t handle, struct cudaHostNodeParams *parameters),
        (handle, parameters))
{
    const struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeHost);
    if (node == NULL || parameters == NULL)
        return cudaErrorInvalidValue;
    *parameters = (struct cudaHostNodeParams){node->work.host.function, node->work.host.data};
    return cudaSuccess;
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *parameters)
{
    return SIM_CALL(set_parameters(node, cudaGraphNodeTypeHost, parameters));
}

// --- nothing, other graphs, events, memory --------------------------------------------------------------------------

static cudaError_t add_plain(target at, enum cudaGraphNodeType type, struct CUgraphNode_st **made)
{
    sim_work nothing = sim_work_new(SIM_WORK_NOTHING);
    return add(at, type, &nothing, made);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                  size_t count)
{
    struct CUgraphNode_st *made;
    return SIM_CALL(add_plain((target){node, graph, dependencies, count}, cudaGraphNodeTypeEmpty, &made));
}

// The node has a clone of the child of its own, as in CUDA.
static cudaError_t add_child(target at, cudaGraph_t handle)
{
    struct CUgraph_st *child = sim_graph_of(handle);
    struct CUgraphNode_st *node;
    if (child == NULL)
        return cudaErrorInvalidValue;
    const cudaError_t error = add_plain(at, cudaGraphNodeTypeGraph, &node);
    if (error == cudaSuccess)
        node->child = sim_graph_clone(child);
    return error;
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                       size_t count, cudaGraph_t child)
{
    return SIM_CALL(add_child((target){node, graph, dependencies, count}, child));
}

SIM_API(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t handle, cudaGraph_t *graph), (handle, graph))
{
    const struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeGraph);
    if (node == NULL || graph == NULL)
        return cudaErrorInvalidValue;
    *graph = node->child;
    return cudaSuccess;
}

static cudaError_t add_event(target at, enum cudaGraphNodeType type, cudaEvent_t event)
{
    struct CUgraphNode_st *node;
    if (sim_event_of(event) == NULL)
        return cudaErrorInvalidResourceHandle;
    sim_work work = sim_work_new(type == cudaGraphNodeTypeEventRecord ? SIM_WORK_RECORD : SIM_WORK_NOTHING);
    work.event = event;
    const cudaError_t error = add(at, type, &work, &node);
    if (error == cudaSuccess)
        node->event = event;
    return error;
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                        size_t count, cudaEvent_t event)
{
    return SIM_CALL(add_event((target){node, graph, dependencies, count}, cudaGraphNodeTypeEventRecord, event));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                      size_t count, cudaEvent_t event)
{
    return SIM_CALL(add_event((target){node, graph, dependencies, count}, cudaGraphNodeTypeWaitEvent, event));
}

static cudaError_t get_event(cudaGraphNode_t handle, enum cudaGraphNodeType type, cudaEvent_t *event)
{
    const struct CUgraphNode_st *node = node_of_type(handle, type);
    if (node == NULL || event == NULL)
        return cudaErrorInvalidValue;
    *event = node->event;
    return cudaSuccess;
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return SIM_CALL(get_event(node, cudaGraphNodeTypeEventRecord, event));
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return SIM_CALL(get_event(node, cudaGraphNodeTypeWaitEvent, event));
}

static cudaError_t set_event(cudaGraphNode_t handle, enum cudaGraphNodeType type, cudaEvent_t event)
{
    struct CUgraphNode_st *node = node_of_type(handle, type);
    if (node == NULL || sim_event_of(event) == NULL)
        return cudaErrorInvalidValue;
    node->event = event;
    if (type == cudaGraphNodeTypeEventRecord)
        node->work.event = event;
    return cudaSuccess;
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return SIM_CALL(set_event(node, cudaGraphNodeTypeEventRecord, event));
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return SIM_CALL(set_event(node, cudaGraphNodeTypeWaitEvent, event));
}

// Memory of a graph has its address when the node is made, and is there from when the node has run.
static cudaError_t add_allocation(target at, struct cudaMemAllocNodeParams *parameters)
{
    struct CUgraphNode_st *node;
    if (parameters == NULL)
        return sim_fail(cudaErrorInvalidValue, "the parameters are NULL");
    parameters->dptr = sim_allocate_for_graph(parameters->bytesize);
    cudaError_t error = parameters->dptr != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
    sim_work work = sim_work_new(SIM_WORK_ALLOCATE);
    work.allocation.memory = parameters->dptr;
    if (error == cudaSuccess)
        error = add(at, cudaGraphNodeTypeMemAlloc, &work, &node);
    if (error == cudaSuccess)
        node->allocation = *parameters;
    return error;
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                     size_t count, struct cudaMemAllocNodeParams *parameters)
{
    return SIM_CALL(add_allocation((target){node, graph, dependencies, count}, parameters));
}

SIM_API(cudaGraphMemAllocNodeGetParams, (cudaGraphNode_t handle, struct cudaMemAllocNodeParams *parameters),
        (handle, parameters))
{
    const struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeMemAlloc);
    if (node == NULL || parameters == NULL)
        return cudaErrorInvalidValue;
    *parameters = node->allocation;
    return cudaSuccess;
}

static cudaError_t add_free(target at, void *memory)
{
    struct CUgraphNode_st *node;
    const struct CUgraph_st *graph = sim_graph_of(at.graph);
    cudaError_t error = graph != NULL ? sim_graph_free_check(graph, memory) : cudaErrorInvalidValue;
    sim_work work = sim_work_new(SIM_WORK_FREE);
    work.memory = memory;
    if (error == cudaSuccess)
        error = add(at, cudaGraphNodeTypeMemFree, &work, &node);
    if (error == cudaSuccess)
        node->allocation.dptr = memory;
    return error;
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                    size_t count, void *memory)
{
    return SIM_CALL(add_free((target){node, graph, dependencies, count}, memory));
}

SIM_API(cudaGraphMemFreeNodeGetParams, (cudaGraphNode_t handle, void *place), (handle, place))
{
    void **memory = place;
    const struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeMemFree);
    if (node == NULL || memory == NULL)
        return cudaErrorInvalidValue;
    *memory = node->allocation.dptr;
    return cudaSuccess;
}

// --- conditions -----------------------------------------------------------------------------------------------------

static cudaError_t add_conditional(target at, struct cudaConditionalNodeParams *parameters)
{
    struct CUgraphNode_st *node;
    sim_condition_value *value = sim_condition_value_of(parameters->handle);
    if (value == NULL)
        return cudaErrorInvalidValue;
    const unsigned most = parameters->type == cudaGraphCondTypeIf      ? 2
                          : parameters->type == cudaGraphCondTypeWhile ? 1
                                                                       : UINT_MAX;
    if (parameters->size == 0 || parameters->size > most)
        return sim_fail(cudaErrorInvalidValue, "a node of this type cannot have %u bodies", parameters->size);
    struct CUgraph_st **bodies = calloc(parameters->size, sizeof *bodies);
    if (bodies == NULL)
        return sim_no_memory();
    const cudaError_t error = add_plain(at, cudaGraphNodeTypeConditional, &node);
    if (error != cudaSuccess) {
        free(bodies);
        return error;
    }
    node->bodies = bodies;
    node->condition_type = parameters->type;
    node->value = value;
    while (node->body_count < parameters->size && (bodies[node->body_count] = sim_graph_new()) != NULL)
        node->body_count++;
    parameters->phGraph_out = bodies;
    return node->body_count == parameters->size ? cudaSuccess : cudaErrorMemoryAllocation;
}

// --- any of them ----------------------------------------------------------------------------------------------------

static cudaError_t add_any(target at, struct cudaGraphNodeParams *parameters)
{
    struct CUgraphNode_st *node;
    if (parameters == NULL)
        return sim_fail(cudaErrorInvalidValue, "the parameters are NULL");
    switch (parameters->type) {
    case cudaGraphNodeTypeKernel: return add_working(at, parameters->type, &parameters->kernel);
    case cudaGraphNodeTypeMemcpy: return add_working(at, parameters->type, &parameters->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return add_working(at, parameters->type, &parameters->memset);
    case cudaGraphNodeTypeHost: return add_working(at, parameters->type, &parameters->host);
    case cudaGraphNodeTypeGraph: return add_child(at, parameters->graph.graph);
    case cudaGraphNodeTypeEmpty: return add_plain(at, cudaGraphNodeTypeEmpty, &node);
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord: return add_event(at, parameters->type, parameters->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: return add_allocation(at, &parameters->alloc);
    case cudaGraphNodeTypeMemFree: return add_free(at, parameters->free.dptr);
    case cudaGraphNodeTypeConditional: return add_conditional(at, &parameters->conditional);
    default:
        return sim_fail_as(SIM_UNSUPPORTED, SIM_ERROR, cudaErrorNotSupported, 0, 0,
                           "nodes of this type (%d) are not simulated", (int)parameters->type);
    }
}

cudaError_t sim_graph_add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                               size_t count, struct cudaGraphNodeParams *parameters)
{
    return SIM_CALL_AS("cudaGraphAddNode", add_any((target){node, graph, dependencies, count}, parameters));
}

// The runtime API's functions that add nodes to graphs, and read and change what they do.
#include <stdlib.h>

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
        sim_fail(cudaErrorInvalidValue, "the place for the node is NULL");
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

static void put_work(struct CUgraphNode_st *node, const sim_work *work)
{
    sim_work_release(&node->work);
    node->work = *work;
}

// --- kernels
// -----------------------------------------------------------------------------------------------------------

static cudaError_t add_kernel(target at, const struct cudaKernelNodeParams *parameters)
{
    sim_work work;
    struct CUgraphNode_st *node;
    cudaError_t error = sim_graph_kernel_work(parameters, &work);
    if (error == cudaSuccess)
        error = add(at, cudaGraphNodeTypeKernel, &work, &node);
    if (error == cudaSuccess)
        node->kernel = *parameters;
    return error;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t count, const struct cudaKernelNodeParams *parameters)
{
    return SIM_CALL(add_kernel((target){node, graph, dependencies, count}, parameters));
}

static cudaError_t get_kernel(cudaGraphNode_t handle, struct cudaKernelNodeParams *parameters)
{
    const struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeKernel);
    if (node == NULL || parameters == NULL)
        return cudaErrorInvalidValue;
    *parameters = node->kernel;
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *parameters)
{
    return SIM_CALL(get_kernel(node, parameters));
}

static cudaError_t set_kernel(cudaGraphNode_t handle, const struct cudaKernelNodeParams *parameters)
{
    struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeKernel);
    sim_work work;
    if (node == NULL)
        return cudaErrorInvalidValue;
    const cudaError_t error = sim_graph_kernel_work(parameters, &work);
    if (error != cudaSuccess)
        return error;
    put_work(node, &work);
    node->kernel = *parameters;
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *parameters)
{
    return SIM_CALL(set_kernel(node, parameters));
}

static cudaError_t set_attribute(cudaGraphNode_t handle, cudaLaunchAttributeID attribute,
                                 const cudaLaunchAttributeValue *value)
{
    struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeKernel);
    if (node == NULL || value == NULL)
        return cudaErrorInvalidValue;
    if (attribute == cudaLaunchAttributeCooperative)
        node->work.kernel.config.cooperative = value->cooperative;
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            const cudaLaunchAttributeValue *value)
{
    return SIM_CALL(set_attribute(node, attribute, value));
}

static cudaError_t get_attribute(cudaGraphNode_t handle, cudaLaunchAttributeID attribute,
                                 cudaLaunchAttributeValue *value)
{
    const struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeKernel);
    if (node == NULL || value == NULL)
        return cudaErrorInvalidValue;
    *value = (cudaLaunchAttributeValue){{0}};
    if (attribute == cudaLaunchAttributeCooperative)
        value->cooperative = node->work.kernel.config.cooperative;
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            cudaLaunchAttributeValue *value)
{
    return SIM_CALL(get_attribute(node, attribute, value));
}

// --- copies
// ------------------------------------------------------------------------------------------------------------

static cudaError_t add_copy(target at, const struct cudaMemcpy3DParms *parameters)
{
    sim_work work;
    struct CUgraphNode_st *node;
    cudaError_t error = sim_graph_copy_work(parameters, &work);
    if (error == cudaSuccess)
        error = add(at, cudaGraphNodeTypeMemcpy, &work, &node);
    if (error == cudaSuccess)
        node->copy = *parameters;
    return error;
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t count, const struct cudaMemcpy3DParms *parameters)
{
    return SIM_CALL(add_copy((target){node, graph, dependencies, count}, parameters));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                     size_t count, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms flat = sim_graph_copy_flat(to, from, bytes, kind);
    return SIM_CALL(add_copy((target){node, graph, dependencies, count}, &flat));
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *dependencies, size_t count, const void *symbol,
                                           const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms flat = sim_graph_copy_flat((uint8_t *)(uintptr_t)symbol + offset, from, bytes, kind);
    return SIM_CALL(add_copy((target){node, graph, dependencies, count}, &flat));
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *dependencies, size_t count, void *to,
                                             const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms flat = sim_graph_copy_flat(to, (const uint8_t *)symbol + offset, bytes, kind);
    return SIM_CALL(add_copy((target){node, graph, dependencies, count}, &flat));
}

static cudaError_t get_copy(cudaGraphNode_t handle, struct cudaMemcpy3DParms *parameters)
{
    const struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeMemcpy);
    if (node == NULL || parameters == NULL)
        return cudaErrorInvalidValue;
    *parameters = node->copy;
    return cudaSuccess;
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *parameters)
{
    return SIM_CALL(get_copy(node, parameters));
}

static cudaError_t set_copy(cudaGraphNode_t handle, const struct cudaMemcpy3DParms *parameters)
{
    struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeMemcpy);
    sim_work work;
    if (node == NULL)
        return cudaErrorInvalidValue;
    const cudaError_t error = sim_graph_copy_work(parameters, &work);
    if (error != cudaSuccess)
        return error;
    put_work(node, &work);
    node->copy = *parameters;
    return cudaSuccess;
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *parameters)
{
    return SIM_CALL(set_copy(node, parameters));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes,
                                           enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms flat = sim_graph_copy_flat(to, from, bytes, kind);
    return SIM_CALL(set_copy(node, &flat));
}

// --- fills
// -------------------------------------------------------------------------------------------------------------

static cudaError_t add_fill(target at, const struct cudaMemsetParams *parameters)
{
    sim_work work;
    struct CUgraphNode_st *node;
    cudaError_t error = sim_graph_fill_work(parameters, &work);
    if (error == cudaSuccess)
        error = add(at, cudaGraphNodeTypeMemset, &work, &node);
    if (error == cudaSuccess)
        node->fill = *parameters;
    return error;
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t count, const struct cudaMemsetParams *parameters)
{
    return SIM_CALL(add_fill((target){node, graph, dependencies, count}, parameters));
}

static cudaError_t get_fill(cudaGraphNode_t handle, struct cudaMemsetParams *parameters)
{
    const struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeMemset);
    if (node == NULL || parameters == NULL)
        return cudaErrorInvalidValue;
    *parameters = node->fill;
    return cudaSuccess;
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *parameters)
{
    return SIM_CALL(get_fill(node, parameters));
}

static cudaError_t set_fill(cudaGraphNode_t handle, const struct cudaMemsetParams *parameters)
{
    struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeMemset);
    sim_work work;
    if (node == NULL)
        return cudaErrorInvalidValue;
    const cudaError_t error = sim_graph_fill_work(parameters, &work);
    if (error != cudaSuccess)
        return error;
    put_work(node, &work);
    node->fill = *parameters;
    return cudaSuccess;
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *parameters)
{
    return SIM_CALL(set_fill(node, parameters));
}

// --- functions of the host
// ---------------------------------------------------------------------------------------------

static cudaError_t host_work(const struct cudaHostNodeParams *parameters, sim_work *work)
{
    if (parameters == NULL || parameters->fn == NULL)
        return sim_fail(cudaErrorInvalidValue, "the function is NULL");
    *work = sim_work_new(SIM_WORK_HOST);
    work->host.function = parameters->fn;
    work->host.data = parameters->userData;
    return cudaSuccess;
}

static cudaError_t add_host(target at, const struct cudaHostNodeParams *parameters)
{
    sim_work work;
    struct CUgraphNode_st *node;
    const cudaError_t error = host_work(parameters, &work);
    return error == cudaSuccess ? add(at, cudaGraphNodeTypeHost, &work, &node) : error;
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                 size_t count, const struct cudaHostNodeParams *parameters)
{
    return SIM_CALL(add_host((target){node, graph, dependencies, count}, parameters));
}

static cudaError_t get_host(cudaGraphNode_t handle, struct cudaHostNodeParams *parameters)
{
    const struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeHost);
    if (node == NULL || parameters == NULL)
        return cudaErrorInvalidValue;
    *parameters = (struct cudaHostNodeParams){node->work.host.function, node->work.host.data};
    return cudaSuccess;
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *parameters)
{
    return SIM_CALL(get_host(node, parameters));
}

static cudaError_t set_host(cudaGraphNode_t handle, const struct cudaHostNodeParams *parameters)
{
    struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeHost);
    sim_work work;
    if (node == NULL)
        return cudaErrorInvalidValue;
    const cudaError_t error = host_work(parameters, &work);
    if (error == cudaSuccess)
        put_work(node, &work);
    return error;
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *parameters)
{
    return SIM_CALL(set_host(node, parameters));
}

// --- nothing, other graphs, events, memory
// -----------------------------------------------------------------------------

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

static cudaError_t get_child(cudaGraphNode_t handle, cudaGraph_t *graph)
{
    const struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeGraph);
    if (node == NULL || graph == NULL)
        return cudaErrorInvalidValue;
    *graph = node->child;
    return cudaSuccess;
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
    return SIM_CALL(get_child(node, graph));
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

// Memory of a graph is allocated when the node is made.
static cudaError_t add_allocation(target at, struct cudaMemAllocNodeParams *parameters)
{
    struct CUgraphNode_st *node;
    if (parameters == NULL)
        return sim_fail(cudaErrorInvalidValue, "the parameters are NULL");
    parameters->dptr = sim_allocate_for_graph(parameters->bytesize);
    cudaError_t error = parameters->dptr != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
    if (error == cudaSuccess)
        error = add_plain(at, cudaGraphNodeTypeMemAlloc, &node);
    if (error == cudaSuccess)
        node->allocation = *parameters;
    return error;
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                     size_t count, struct cudaMemAllocNodeParams *parameters)
{
    return SIM_CALL(add_allocation((target){node, graph, dependencies, count}, parameters));
}

static cudaError_t get_allocation(cudaGraphNode_t handle, struct cudaMemAllocNodeParams *parameters)
{
    const struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeMemAlloc);
    if (node == NULL || parameters == NULL)
        return cudaErrorInvalidValue;
    *parameters = node->allocation;
    return cudaSuccess;
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *parameters)
{
    return SIM_CALL(get_allocation(node, parameters));
}

static cudaError_t add_free(target at, void *memory)
{
    struct CUgraphNode_st *node;
    const cudaError_t error = add_plain(at, cudaGraphNodeTypeMemFree, &node);
    if (error == cudaSuccess)
        node->allocation.dptr = memory;
    return error;
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                    size_t count, void *memory)
{
    return SIM_CALL(add_free((target){node, graph, dependencies, count}, memory));
}

static cudaError_t get_free(cudaGraphNode_t handle, void **memory)
{
    const struct CUgraphNode_st *node = node_of_type(handle, cudaGraphNodeTypeMemFree);
    if (node == NULL || memory == NULL)
        return cudaErrorInvalidValue;
    *memory = node->allocation.dptr;
    return cudaSuccess;
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *memory)
{
    return SIM_CALL(get_free(node, memory));
}

// --- any of them
// -------------------------------------------------------------------------------------------------------

static cudaError_t add_any(target at, struct cudaGraphNodeParams *parameters)
{
    struct CUgraphNode_st *node;
    if (parameters == NULL)
        return sim_fail(cudaErrorInvalidValue, "the parameters are NULL");
    switch (parameters->type) {
    case cudaGraphNodeTypeKernel: return add_kernel(at, (const struct cudaKernelNodeParams *)&parameters->kernel);
    case cudaGraphNodeTypeMemcpy: return add_copy(at, &parameters->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return add_fill(at, (const struct cudaMemsetParams *)&parameters->memset);
    case cudaGraphNodeTypeHost: return add_host(at, (const struct cudaHostNodeParams *)&parameters->host);
    case cudaGraphNodeTypeGraph: return add_child(at, parameters->graph.graph);
    case cudaGraphNodeTypeEmpty: return add_plain(at, cudaGraphNodeTypeEmpty, &node);
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord: return add_event(at, parameters->type, parameters->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: return add_allocation(at, &parameters->alloc);
    case cudaGraphNodeTypeMemFree: return add_free(at, parameters->free.dptr);
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

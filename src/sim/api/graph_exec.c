// Graphs that are ready to run: made from a graph, changed a little, launched.
#include <stdlib.h>

#include "api/call.h"
#include "api/capture.h"
#include "api/event.h"
#include "api/graph.h"
#include "api/run.h"
#include "api/stream.h"

static struct CUgraphExec_st *execs;

static struct CUgraphExec_st *exec_of(cudaGraphExec_t handle)
{
    for (struct CUgraphExec_st *exec = execs; exec != NULL; exec = exec->next) {
        if (exec == handle)
            return exec;
    }
    sim_fail(cudaErrorInvalidValue, "there is no such executable graph; was it instantiated, has it been destroyed?");
    return NULL;
}

static cudaError_t instantiate(cudaGraphExec_t *exec, cudaGraph_t handle, unsigned long long flags)
{
    struct CUgraph_st *graph = sim_graph_of(handle);
    if (exec == NULL || graph == NULL)
        return graph == NULL ? cudaErrorInvalidValue
                             : sim_fail(cudaErrorInvalidValue, "the output argument for the executable graph is NULL");
    struct CUgraphExec_st *made = calloc(1, sizeof *made);
    if (made == NULL)
        return sim_no_memory();
    if (!sim_graph_steps(graph, &made->steps, &made->count)) {
        free(made);
        if (sim_error_broken() != cudaSuccess)
            return sim_error_broken();
        return sim_fail(cudaErrorInvalidValue, "the graph has nodes that come after each other in a circle");
    }
    made->flags = flags;
    made->next = execs;
    execs = made;
    *exec = made;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    return SIM_CALL(instantiate(exec, graph, flags));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    return SIM_CALL(instantiate(exec, graph, flags));
}

SIM_API(cudaGraphInstantiateWithParams,
        (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams *parameters), (exec, graph, parameters))
{
    if (parameters == NULL)
        return sim_fail(cudaErrorInvalidValue, "the parameters are NULL");
    const cudaError_t error = instantiate(exec, graph, parameters->flags);
    parameters->errNode_out = NULL;
    parameters->result_out = error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateInvalidStructure;
    return error;
}

// What was launched has its own share of the work, and still runs.
SIM_API(cudaGraphExecDestroy, (cudaGraphExec_t handle), (handle))
{
    struct CUgraphExec_st *exec = exec_of(handle);
    if (exec == NULL)
        return cudaErrorInvalidValue;
    struct CUgraphExec_st **link = &execs;
    while (*link != exec)
        link = &(*link)->next;
    *link = exec->next;
    sim_graph_steps_free(exec->steps, exec->count);
    sim_order_clear(&exec->last);
    if (exec->last_operation != NULL)
        sim_operation_release(exec->last_operation);
    free(exec);
    return cudaSuccess;
}

SIM_API(cudaGraphExecGetFlags, (cudaGraphExec_t handle, unsigned long long *flags), (handle, flags))
{
    const struct CUgraphExec_st *exec = exec_of(handle);
    if (exec == NULL || flags == NULL)
        return cudaErrorInvalidValue;
    *flags = exec->flags;
    return cudaSuccess;
}

// --- launching ------------------------------------------------------------------------------------------------------

// NULL: no memory.
static sim_operation *queue_step(struct CUstream_st *stream, struct CUgraphExec_st *exec, sim_step *step)
{
    sim_order_clear(&step->clock);
    sim_order_join(&step->clock, &stream->clock);
    for (size_t i = 0; i < step->after_count; i++)
        sim_order_join(&step->clock, &exec->steps[step->after[i]].clock);
    struct CUevent_st *event = step->event;
    const bool waits = step->type == cudaGraphNodeTypeWaitEvent && event->recorded;
    if (waits)
        sim_order_join(&step->clock, &event->clock);
    sim_work nothing = sim_work_new(SIM_WORK_NOTHING);
    sim_work work = step->disabled ? nothing : sim_work_share(&step->work);
    if (work.kind == SIM_WORK_ALLOCATE) {
        work.pc = sim_call_pc();
        work.allocation.frees_first = exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
    }
    const bool chooses = work.kind == SIM_WORK_CONDITION;
    const size_t chain = chooses ? work.condition.shared->chain : step->chain;
    sim_operation *operation = sim_stream_push_at(stream, &work, chain, &step->clock);
    if (chooses) { // what it runs goes in between, and comes before all that comes after the node
        sim_chain_all(chain, &step->clock);
        operation = sim_stream_push_at(stream, &nothing, step->chain, &step->clock);
    }
    if (waits)
        sim_operation_after(operation, event->operation);
    if (step->type == cudaGraphNodeTypeEventRecord)
        sim_event_mark(event, operation, &step->clock);
    return operation;
}

// A launch runs behind the former launch of the same executable graph, whatever streams the two are in.
static void queue_steps(struct CUstream_st *stream, struct CUgraphExec_st *exec)
{
    sim_operation *former = exec->last_operation, *last = NULL;
    for (size_t i = 0; i < exec->count; i++) {
        if (exec->steps[i].work.kind != SIM_WORK_CONDITION)
            continue;
        sim_work reset = sim_work_share(&exec->steps[i].work);
        reset.condition.body = SIM_BODY_TO_RESET;
        sim_operation_after(sim_stream_push_at(stream, &reset, SIM_NO_CHAIN, &stream->clock), former);
    }
    for (size_t i = 0; i < exec->count; i++) {
        sim_operation *operation = queue_step(stream, exec, &exec->steps[i]);
        sim_operation_after(operation, former);
        last = operation != NULL ? operation : last;
    }
    if (last == NULL)
        return;
    sim_operation_retain(last);
    exec->last_operation = last;
    if (former != NULL)
        sim_operation_release(former);
}

SIM_API(cudaGraphLaunch, (cudaGraphExec_t handle, cudaStream_t stream_handle), (handle, stream_handle))
{
    struct CUgraphExec_st *exec = exec_of(handle);
    struct CUstream_st *stream = sim_stream_of(stream_handle);
    if (exec == NULL || stream == NULL)
        return exec == NULL ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    if (stream->capture != NULL)
        return sim_capture_refuse(stream);
    sim_run_queued_later();
    sim_stream_meet(stream);
    sim_order_join(&stream->clock, &exec->last);
    queue_steps(stream, exec);
    for (size_t i = 0; i < exec->count; i++)
        sim_order_join(&stream->clock, &exec->steps[i].clock);
    sim_order_clear(&exec->last);
    sim_order_join(&exec->last, &stream->clock);
    return cudaSuccess;
}

SIM_API(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
{
    if (exec_of(exec) == NULL)
        return cudaErrorInvalidValue;
    return sim_stream_of(stream) != NULL ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

// --- changing -------------------------------------------------------------------------------------------------------

static bool same_shape(const sim_step *a, const sim_step *b)
{
    if (a->after_count != b->after_count)
        return false;
    for (size_t i = 0; i < a->after_count; i++) {
        if (a->after[i] != b->after[i])
            return false;
    }
    return true;
}

// The first step at which another graph is not the same but for what its nodes work on.
static enum cudaGraphExecUpdateResult compare(const struct CUgraphExec_st *exec, const sim_step *steps, size_t count,
                                              size_t *at)
{
    *at = 0;
    if (exec->count != count)
        return cudaGraphExecUpdateErrorTopologyChanged;
    for (size_t i = 0; i < count; i++) {
        *at = i;
        if (exec->steps[i].type != steps[i].type)
            return cudaGraphExecUpdateErrorNodeTypeChanged;
        if (!same_shape(&exec->steps[i], &steps[i]))
            return cudaGraphExecUpdateErrorTopologyChanged;
    }
    return cudaGraphExecUpdateSuccess;
}

SIM_API(cudaGraphExecUpdate, (cudaGraphExec_t handle, cudaGraph_t graph_handle, cudaGraphExecUpdateResultInfo *result),
        (handle, graph_handle, result))
{
    struct CUgraphExec_st *exec = exec_of(handle);
    struct CUgraph_st *graph = sim_graph_of(graph_handle);
    sim_step *steps;
    size_t count, at;
    cudaGraphExecUpdateResultInfo unwanted = {0};
    result = result != NULL ? result : &unwanted;
    *result = (cudaGraphExecUpdateResultInfo){.result = cudaGraphExecUpdateError};
    if (exec == NULL || graph == NULL || !sim_graph_steps(graph, &steps, &count))
        return cudaErrorGraphExecUpdateFailure;
    result->result = compare(exec, steps, count, &at);
    if (result->result != cudaGraphExecUpdateSuccess) {
        result->errorNode = at < count ? steps[at].node : NULL;
        sim_graph_steps_free(steps, count);
        return cudaErrorGraphExecUpdateFailure; // programs ask, and instantiate anew: no finding
    }
    for (size_t i = 0; i < count; i++) {
        const sim_work old = exec->steps[i].work;
        exec->steps[i].work = steps[i].work;
        exec->steps[i].event = steps[i].event;
        steps[i].work = old;
    }
    sim_graph_steps_free(steps, count);
    return cudaSuccess;
}

static sim_step *step_of(cudaGraphExec_t handle, cudaGraphNode_t node)
{
    struct CUgraphExec_st *exec = exec_of(handle);
    if (exec == NULL)
        return NULL;
    for (size_t i = 0; i < exec->count; i++) {
        if (exec->steps[i].node == node)
            return &exec->steps[i];
    }
    sim_fail(cudaErrorInvalidValue, "the executable graph was not made from a graph with this node");
    return NULL;
}

// Puts other work of the same type into a step.
static cudaError_t set_parameters(cudaGraphExec_t exec, cudaGraphNode_t node, enum cudaGraphNodeType type,
                                  const void *parameters)
{
    sim_work work;
    const cudaError_t error = sim_graph_work(type, parameters, &work);
    if (error != cudaSuccess)
        return error;
    sim_step *step = step_of(exec, node);
    if (step == NULL || step->type != type) {
        sim_work_release(&work);
        return step == NULL ? cudaErrorInvalidValue : sim_fail(cudaErrorInvalidValue, "the node is of another type");
    }
    sim_work_release(&step->work);
    step->work = work;
    return cudaSuccess;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *parameters)
{
    return SIM_CALL(set_parameters(exec, node, cudaGraphNodeTypeKernel, parameters));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *parameters)
{
    return SIM_CALL(set_parameters(exec, node, cudaGraphNodeTypeMemcpy, parameters));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from,
                                               size_t bytes, enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms flat = sim_graph_copy_flat(to, from, bytes, kind);
    return SIM_CALL(set_parameters(exec, node, cudaGraphNodeTypeMemcpy, &flat));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *parameters)
{
    return SIM_CALL(set_parameters(exec, node, cudaGraphNodeTypeMemset, parameters));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams *parameters)
{
    return SIM_CALL(set_parameters(exec, node, cudaGraphNodeTypeHost, parameters));
}

static cudaError_t set_event(cudaGraphExec_t exec, cudaGraphNode_t node, enum cudaGraphNodeType type, cudaEvent_t event)
{
    sim_step *step = step_of(exec, node);
    if (step == NULL || sim_event_of(event) == NULL)
        return cudaErrorInvalidValue;
    if (step->type != type)
        return sim_fail(cudaErrorInvalidValue, "the node is of another type");
    step->event = event;
    if (type == cudaGraphNodeTypeEventRecord)
        step->work.event = event;
    return cudaSuccess;
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)
{
    return SIM_CALL(set_event(exec, node, cudaGraphNodeTypeEventRecord, event));
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)
{
    return SIM_CALL(set_event(exec, node, cudaGraphNodeTypeWaitEvent, event));
}

// The steps of a child graph are named by the nodes of the clone that its node holds.
SIM_API(cudaGraphExecChildGraphNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t handle, cudaGraph_t child_handle),
        (exec, handle, child_handle))
{
    struct CUgraphNode_st *node = sim_graph_node_of(handle);
    struct CUgraph_st *child = sim_graph_of(child_handle);
    if (node == NULL || child == NULL || exec_of(exec) == NULL)
        return cudaErrorInvalidValue;
    if (node->child == NULL || node->child->count != child->count)
        return sim_fail(cudaErrorGraphExecUpdateFailure, "the child graph has another shape");
    for (size_t i = 0; i < child->count; i++) {
        sim_step *step = step_of(exec, node->child->nodes[i]);
        if (step == NULL || step->type != child->nodes[i]->type)
            return sim_fail(cudaErrorGraphExecUpdateFailure, "the child graph has another shape");
        sim_work_release(&step->work);
        step->work = sim_work_share(&child->nodes[i]->work);
    }
    return cudaSuccess;
}

SIM_API(cudaGraphNodeSetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int enabled),
        (exec, node, enabled))
{
    sim_step *step = step_of(exec, node);
    if (step == NULL)
        return cudaErrorInvalidValue;
    if (step->type != cudaGraphNodeTypeKernel && step->type != cudaGraphNodeTypeMemcpy &&
        step->type != cudaGraphNodeTypeMemset)
        return sim_fail(cudaErrorInvalidValue, "only kernels, copies and fills can be disabled");
    step->disabled = !enabled;
    return cudaSuccess;
}

SIM_API(cudaGraphNodeGetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int *enabled),
        (exec, node, enabled))
{
    const sim_step *step = step_of(exec, node);
    if (step == NULL)
        return cudaErrorInvalidValue;
    *enabled = !step->disabled;
    return cudaSuccess;
}

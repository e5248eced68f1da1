// Conditional nodes: a value that kernels set chooses which of the node's graphs run, and how often. A piece of work
// queues the next step of a body and itself behind that step, so that nested conditions and loops need no stack.
#include <stdlib.h>

#include "api/call.h"
#include "api/graph.h"
#include "api/stream.h"
#include "machine/worker.h"
#include "watch/watch.h"

static sim_condition_value *values;

SIM_API(cudaGraphConditionalHandleCreate,
        (cudaGraphConditionalHandle * handle, cudaGraph_t graph, unsigned int initial, unsigned int flags),
        (handle, graph, initial, flags))
{
    if (handle == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the handle is NULL");
    if (sim_graph_of(graph) == NULL)
        return cudaErrorInvalidValue;
    sim_condition_value *value = calloc(1, sizeof *value);
    if (value == NULL)
        return sim_no_memory();
    *value = (sim_condition_value){values, initial, initial, (flags & cudaGraphCondAssignDefault) != 0};
    values = value;
    *handle = (uintptr_t)value;
    return cudaSuccess;
}

static sim_condition_value *find(cudaGraphConditionalHandle handle)
{
    sim_condition_value *value = values;
    while (value != NULL && (uintptr_t)value != handle)
        value = value->next;
    return value;
}

sim_condition_value *sim_condition_value_of(cudaGraphConditionalHandle handle)
{
    sim_condition_value *value = find(handle);
    if (value == NULL)
        sim_fail(cudaErrorInvalidValue,
                 "there is no such conditional handle; cudaGraphConditionalHandleCreate makes one");
    return value;
}

void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value)
{
    sim_condition_value *known = find(handle); // no handle is made while a kernel runs
    if (sim_current)
        sim_repeated_once(sim_current);
    if (known != NULL)
        __atomic_store_n(&known->value, value, __ATOMIC_RELAXED);
}

bool sim_condition_new(const struct CUgraphNode_st *node, sim_work *work)
{
    struct sim_condition *condition = calloc(1, sizeof *condition);
    sim_body *bodies = calloc(node->body_count, sizeof *bodies);
    if (condition == NULL || bodies == NULL) {
        free(condition);
        free(bodies);
        sim_no_memory();
        return false;
    }
    *condition = (struct sim_condition){1, node->value, node->condition_type, sim_chain_new(), bodies, 0};
    while (condition->count < node->body_count &&
           sim_graph_steps(node->bodies[condition->count], &bodies[condition->count].steps,
                           &bodies[condition->count].count))
        condition->count++;
    if (condition->count < node->body_count) {
        sim_condition_release(condition);
        return false;
    }
    *work = sim_work_new(SIM_WORK_CONDITION);
    work->condition.shared = condition;
    work->condition.body = SIM_BODY_TO_CHOOSE;
    work->condition.step = 0;
    return true;
}

// Its chain is not given back: clocks say of it that all of it is over.
void sim_condition_release(struct sim_condition *condition)
{
    if (--condition->references > 0)
        return;
    for (size_t i = 0; i < condition->count; i++)
        sim_graph_steps_free(condition->bodies[i].steps, condition->bodies[i].count);
    free(condition->bodies);
    free(condition);
}

// The number of bodies: none.
static size_t choose(const struct sim_condition *condition)
{
    const unsigned value = __atomic_load_n(&condition->value->value, __ATOMIC_RELAXED);
    if (condition->type == cudaGraphCondTypeSwitch)
        return value < condition->count ? value : condition->count;
    return value != 0 ? 0 : 1; // of a loop, which has one body, 1 is none
}

static void reset(const struct sim_condition *condition)
{
    if (condition->value->assigned)
        condition->value->value = condition->value->initial;
    for (size_t i = 0; i < condition->count; i++) {
        for (size_t j = 0; j < condition->bodies[i].count; j++) {
            const sim_work *work = &condition->bodies[i].steps[j].work;
            if (work->kind == SIM_WORK_CONDITION)
                reset(work->condition.shared);
        }
    }
}

void sim_condition_run(sim_operation *operation)
{
    const struct sim_condition *condition = operation->work.condition.shared;
    size_t body = operation->work.condition.body, step = operation->work.condition.step;
    if (body == SIM_BODY_TO_RESET) {
        reset(condition);
        return;
    }
    const bool ended = body != SIM_BODY_TO_CHOOSE && step >= condition->bodies[body].count;
    if (ended && condition->type != cudaGraphCondTypeWhile)
        return;
    if (ended || body == SIM_BODY_TO_CHOOSE) {
        body = choose(condition);
        step = 0;
    }
    if (body >= condition->count)
        return;
    sim_operation *last = operation;
    if (step < condition->bodies[body].count) {
        sim_work work = sim_work_share(&condition->bodies[body].steps[step].work);
        last = sim_stream_insert(last, &work, operation->chain, &operation->clock);
    }
    sim_work rest = sim_work_share(&operation->work);
    rest.condition.body = body;
    rest.condition.step = step + 1;
    if (last != NULL)
        sim_stream_insert(last, &rest, operation->chain, &operation->clock);
    else
        sim_work_release(&rest);
}

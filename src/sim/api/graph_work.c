// Work from the parameters of graph nodes, and the nodes of a graph as steps in an order in which they can run.
#include <stdlib.h>

#include "api/call.h"
#include "api/copy.h"
#include "api/graph.h"
#include "api/launch.h"

static void *allocated(void *memory)
{
    if (memory == NULL)
        sim_no_memory();
    return memory;
}

// --- work -----------------------------------------------------------------------------------------------------------

static cudaError_t kernel_work(const struct cudaKernelNodeParams *parameters, sim_work *work)
{
    if (parameters == NULL)
        return sim_fail(cudaErrorInvalidValue, "the parameters are NULL");
    const dim3 grid = parameters->gridDim, block = parameters->blockDim;
    const sim_config config = {
        .grid = {grid.x, grid.y, grid.z}, .block = {block.x, block.y, block.z}, .shared = parameters->sharedMemBytes};
    sim_kernel kernel = {0};
    cudaError_t error = sim_kernel_bind(parameters->func, parameters->kernelParams, &kernel);
    if (error != cudaSuccess)
        return error;
    error = sim_launch_check(&config, &kernel);
    if (error != cudaSuccess) {
        kernel.release(kernel.closure);
        return error;
    }
    *work = sim_work_new(SIM_WORK_KERNEL);
    work->kernel.config = config;
    work->kernel.bound = sim_bound_new(&kernel);
    return work->kernel.bound != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t copy_work(const struct cudaMemcpy3DParms *parameters, sim_work *work)
{
    sim_copy_request request;
    bool pageable;
    cudaError_t error = sim_copy_rows(&request, parameters);
    if (error == cudaSuccess)
        error = sim_copy_check(&request, work, &pageable);
    if (error == cudaSuccess)
        sim_copy_keep_blocks(work);
    return error;
}

struct cudaMemcpy3DParms sim_graph_copy_flat(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){.srcPtr = {(void *)(uintptr_t)from, bytes, bytes, 1},
                                      .dstPtr = {to, bytes, bytes, 1},
                                      .extent = {bytes, 1, 1},
                                      .kind = kind};
}

static cudaError_t fill_work(const struct cudaMemsetParams *parameters, sim_work *work)
{
    if (parameters == NULL)
        return sim_fail(cudaErrorInvalidValue, "the parameters are NULL");
    const unsigned element = parameters->elementSize;
    if (element != 1 && element != 2 && element != 4)
        return sim_fail(cudaErrorInvalidValue, "elements of %u bytes: they have 1, 2 or 4", element);
    const size_t width = parameters->width * element;
    const size_t pitch = parameters->height > 1 ? parameters->pitch : width;
    const sim_fill fill = {parameters->dst,    pitch, pitch * parameters->height, width,
                           parameters->height, 1,     parameters->value,          element};
    bool host_can_see;
    const cudaError_t error = sim_fill_check(&fill, &host_can_see);
    if (error != cudaSuccess)
        return error;
    *work = sim_work_new(SIM_WORK_FILL);
    work->fill = fill;
    return cudaSuccess;
}

static cudaError_t host_work(const struct cudaHostNodeParams *parameters, sim_work *work)
{
    if (parameters == NULL || parameters->fn == NULL)
        return sim_fail(cudaErrorInvalidValue, "the function is NULL");
    *work = sim_work_new(SIM_WORK_HOST);
    work->host.function = parameters->fn;
    work->host.data = parameters->userData;
    return cudaSuccess;
}

cudaError_t sim_graph_work(enum cudaGraphNodeType type, const void *parameters, sim_work *work)
{
    switch (type) {
    case cudaGraphNodeTypeKernel: return kernel_work(parameters, work);
    case cudaGraphNodeTypeMemcpy: return copy_work(parameters, work);
    case cudaGraphNodeTypeMemset: return fill_work(parameters, work);
    default: return host_work(parameters, work);
    }
}

// --- steps ----------------------------------------------------------------------------------------------------------

typedef struct step_list {
    sim_step *steps;
    size_t count;
} step_list;

// What a node's successors must come after: one step, or the last ones of a child graph.
typedef struct ends {
    size_t *steps;
    size_t count;
} ends;

// NOLINTBEGIN(clang-analyzer-unix.Malloc): the analyzer loses sight of whose ends are whose where graphs are nested.
static bool add_end(ends *list, size_t step)
{
    size_t *larger = allocated(realloc(list->steps, (list->count + 1) * sizeof *larger));
    if (larger == NULL)
        return false;
    list->steps = larger;
    list->steps[list->count++] = step;
    return true;
}

static bool add_step(step_list *list, struct CUgraphNode_st *node, const ends *after, ends *own)
{
    sim_step *larger = allocated(realloc(list->steps, (list->count + 1) * sizeof *larger));
    if (larger == NULL)
        return false;
    list->steps = larger;
    size_t *earlier = allocated(malloc((after->count + 1) * sizeof *earlier));
    if (earlier == NULL)
        return false;
    sim_step *step = &list->steps[list->count];
    *step = (sim_step){.node = node, .type = node->type, .event = node->event, .work = sim_work_share(&node->work)};
    step->after = earlier;
    step->chain = SIM_NO_CHAIN;
    if (node->body_count > 0 && !sim_condition_new(node, &step->work)) {
        free(earlier);
        return false;
    }
    for (size_t i = 0; i < after->count; i++)
        step->after[step->after_count++] = after->steps[i];
    return add_end(own, list->count++);
}

// A node is ready when all that it comes after have ends; these become what it comes after.
static bool ready(const struct CUgraphNode_st *node, const ends *done, ends *after)
{
    after->count = 0;
    for (size_t i = 0; i < node->after_count; i++) {
        const ends *earlier = &done[node->after[i]->mark];
        if (earlier->count == 0)
            return false;
        for (size_t j = 0; j < earlier->count; j++) {
            if (!add_end(after, earlier->steps[j]))
                return false;
        }
    }
    return true;
}

static bool flatten(struct CUgraph_st *graph, step_list *list, const ends *before, ends *last);

static bool flatten_node(struct CUgraphNode_st *node, step_list *list, const ends *after, ends *own)
{
    if (node->child == NULL || node->child->count == 0)
        return add_step(list, node, after, own);
    return flatten(node->child, list, after, own);
}

// Adds the graph's nodes behind `before`; `last` gets those that nothing in the graph comes after.
static bool flatten(struct CUgraph_st *graph, step_list *list, const ends *before, ends *last)
{
    ends *done = allocated(calloc(graph->count + 1, sizeof *done));
    bool *followed = allocated(calloc(graph->count + 1, sizeof *followed));
    if (done == NULL || followed == NULL) {
        free(done);
        free(followed);
        return false;
    }
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->mark = i;
    for (size_t i = 0; i < graph->count; i++) {
        for (size_t j = 0; j < graph->nodes[i]->after_count; j++)
            followed[graph->nodes[i]->after[j]->mark] = true;
    }
    size_t left = graph->count;
    ends after = {0};
    for (bool progress = true; progress && left > 0;) {
        progress = false;
        for (size_t i = 0; i < graph->count; i++) {
            if (done[i].count > 0 || !ready(graph->nodes[i], done, &after))
                continue;
            if (!flatten_node(graph->nodes[i], list, after.count > 0 ? &after : before, &done[i]))
                continue;
            progress = true;
            left--;
        }
    }
    for (size_t i = 0; i < graph->count; i++) {
        for (size_t j = 0; !followed[i] && j < done[i].count; j++)
            add_end(last, done[i].steps[j]);
        free(done[i].steps);
    }
    free(after.steps);
    free(followed);
    free(done);
    return left == 0;
}
// NOLINTEND(clang-analyzer-unix.Malloc)

// A step goes on with the chain of one that it comes after, if no other has; else it starts one.
static bool choose_chains(sim_step *steps, size_t count)
{
    bool *continued = allocated(calloc(count + 1, sizeof *continued));
    if (continued == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        steps[i].owns_chain = true;
        for (size_t j = 0; j < steps[i].after_count && steps[i].owns_chain; j++) {
            const size_t earlier = steps[i].after[j];
            if (continued[earlier])
                continue;
            continued[earlier] = true;
            steps[i].owns_chain = false;
            steps[i].chain = steps[earlier].chain;
        }
        if (steps[i].owns_chain)
            steps[i].chain = sim_chain_new();
    }
    free(continued);
    return true;
}

bool sim_graph_steps(struct CUgraph_st *graph, sim_step **steps, size_t *count)
{
    step_list list = {0};
    const ends before = {0};
    ends last = {0};
    bool possible = flatten(graph, &list, &before, &last);
    free(last.steps);
    possible = possible && choose_chains(list.steps, list.count) && sim_error_broken() == cudaSuccess;
    *steps = list.steps;
    *count = list.count;
    if (!possible)
        sim_graph_steps_free(list.steps, list.count);
    return possible;
}

void sim_graph_steps_free(sim_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sim_work_release(&steps[i].work);
        if (steps[i].owns_chain)
            sim_chain_end(steps[i].chain);
        sim_order_clear(&steps[i].clock);
        free(steps[i].after);
    }
    free(steps);
}

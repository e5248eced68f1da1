// Graphs as the program builds them: nodes, what they come after, clones. What nodes do is in graph_nodes.c, running
// them in graph_exec.c.
#include "api/graph.h"

#include <stdlib.h>
#include <string.h>

#include "api/allocate.h"
#include "api/call.h"

static struct CUgraph_st *graphs;

static void *allocated(void *memory)
{
    if (memory == NULL)
        sim_no_memory();
    return memory;
}

// --- making and deleting --------------------------------------------------------------------------------------------

struct CUgraph_st *sim_graph_new(void)
{
    struct CUgraph_st *graph = allocated(calloc(1, sizeof *graph));
    if (graph == NULL)
        return NULL;
    graph->next = graphs;
    graphs = graph;
    return graph;
}

static bool is_live(const struct CUgraph_st *graph)
{
    const struct CUgraph_st *known = graphs;
    while (known != NULL && known != graph)
        known = known->next;
    return known != NULL;
}

struct CUgraph_st *sim_graph_of(cudaGraph_t handle)
{
    if (is_live(handle))
        return handle;
    sim_fail(cudaErrorInvalidValue, "there is no such graph; has it been destroyed?");
    return NULL;
}

struct CUgraphNode_st *sim_graph_node_of(cudaGraphNode_t handle)
{
    for (const struct CUgraph_st *graph = graphs; graph != NULL; graph = graph->next) {
        for (size_t i = 0; i < graph->count; i++) {
            if (graph->nodes[i] == handle)
                return handle;
        }
    }
    sim_fail(cudaErrorInvalidValue, "there is no such node");
    return NULL;
}

static void delete_node(struct CUgraphNode_st *node)
{
    sim_work_release(&node->work);
    if (node->child != NULL)
        sim_graph_delete(node->child);
    for (size_t i = 0; i < node->body_count; i++)
        sim_graph_delete(node->bodies[i]);
    free(node->bodies);
    free(node->after);
    free(node);
}

void sim_user_object_release(cudaUserObject_t object, unsigned count)
{
    object->references -= count < object->references ? count : object->references;
    if (object->references > 0)
        return;
    object->destroy(object->data);
    free(object);
}

void sim_graph_delete(struct CUgraph_st *graph)
{
    struct CUgraph_st **link = &graphs;
    while (*link != graph)
        link = &(*link)->next;
    *link = graph->next;
    for (size_t i = 0; i < graph->count; i++)
        delete_node(graph->nodes[i]);
    for (size_t i = 0; i < graph->held_count; i++)
        sim_user_object_release(graph->held[i].object, graph->held[i].count);
    free(graph->held);
    free(graph->nodes);
    free(graph);
}

static struct CUgraphNode_st *append(struct CUgraph_st *graph)
{
    struct CUgraphNode_st **larger = allocated(realloc(graph->nodes, (graph->count + 1) * sizeof *larger));
    if (larger == NULL)
        return NULL;
    graph->nodes = larger;
    struct CUgraphNode_st *node = allocated(calloc(1, sizeof *node));
    if (node == NULL)
        return NULL;
    node->graph = graph;
    return graph->nodes[graph->count++] = node;
}

static void depend(struct CUgraphNode_st *node, struct CUgraphNode_st *earlier)
{
    for (size_t i = 0; i < node->after_count; i++) {
        if (node->after[i] == earlier)
            return;
    }
    struct CUgraphNode_st **larger =
        allocated(realloc(node->after, (node->after_count + 1) * sizeof(struct CUgraphNode_st *)));
    if (larger == NULL)
        return;
    node->after = larger;
    node->after[node->after_count++] = earlier;
}

struct CUgraphNode_st *sim_graph_add(struct CUgraph_st *graph, enum cudaGraphNodeType type,
                                     const cudaGraphNode_t *after, size_t after_count)
{
    for (size_t i = 0; i < after_count; i++) {
        struct CUgraphNode_st *earlier = after != NULL ? sim_graph_node_of(after[i]) : NULL;
        if (earlier == NULL || earlier->graph != graph) {
            sim_fail(cudaErrorInvalidValue, "dependency %zu is not a node of this graph", i);
            return NULL;
        }
    }
    struct CUgraphNode_st *node = append(graph);
    if (node == NULL)
        return NULL;
    node->type = type;
    for (size_t i = 0; i < after_count; i++)
        depend(node, after[i]);
    return node;
}

cudaError_t sim_graph_free_check(const struct CUgraph_st *graph, void *memory)
{
    for (size_t i = 0; i < graph->count; i++) {
        const struct CUgraphNode_st *node = graph->nodes[i];
        if (node->type == cudaGraphNodeTypeMemFree && node->allocation.dptr == memory)
            return sim_fail_as(SIM_INVALID_FREE, SIM_ERROR, cudaErrorInvalidValue, (uintptr_t)memory, 0,
                               "another node of the graph frees this memory already");
    }
    return sim_free_check_in_graph(memory);
}

enum cudaGraphNodeType sim_graph_type_of(const sim_work *work)
{
    switch (work->kind) {
    case SIM_WORK_KERNEL: return cudaGraphNodeTypeKernel;
    case SIM_WORK_COPY: return cudaGraphNodeTypeMemcpy;
    case SIM_WORK_FILL: return cudaGraphNodeTypeMemset;
    case SIM_WORK_HOST:
    case SIM_WORK_CALLBACK: return cudaGraphNodeTypeHost;
    case SIM_WORK_RECORD: return cudaGraphNodeTypeEventRecord;
    case SIM_WORK_GIVE: // which streams do, not graphs
    case SIM_WORK_FREE: return cudaGraphNodeTypeMemFree;
    case SIM_WORK_ALLOCATE: return cudaGraphNodeTypeMemAlloc;
    case SIM_WORK_CONDITION: return cudaGraphNodeTypeConditional;
    case SIM_WORK_NOTHING: break;
    }
    return cudaGraphNodeTypeEmpty;
}

static void clone_bodies(struct CUgraphNode_st *to, const struct CUgraphNode_st *from)
{
    to->body_count = 0;
    to->bodies = from->body_count > 0 ? allocated(calloc(from->body_count, sizeof(struct CUgraph_st *))) : NULL;
    for (size_t i = 0; to->bodies != NULL && i < from->body_count; i++) {
        struct CUgraph_st *body = sim_graph_clone(from->bodies[i]);
        if (body != NULL)
            to->bodies[to->body_count++] = body;
    }
}

struct CUgraph_st *sim_graph_clone(const struct CUgraph_st *graph)
{
    struct CUgraph_st *clone = sim_graph_new();
    for (size_t i = 0; clone != NULL && i < graph->count; i++) {
        struct CUgraphNode_st *from = graph->nodes[i], *to = append(clone);
        if (to == NULL) {
            sim_graph_delete(clone);
            return NULL;
        }
        *to = *from;
        to->graph = clone;
        to->original = from;
        to->after = NULL;
        to->after_count = 0;
        to->work = sim_work_share(&from->work);
        if (from->child != NULL)
            to->child = sim_graph_clone(from->child);
        clone_bodies(to, from);
        from->mark = i;
    }
    for (size_t i = 0; clone != NULL && i < graph->count; i++) {
        for (size_t j = 0; j < graph->nodes[i]->after_count; j++)
            depend(clone->nodes[i], clone->nodes[graph->nodes[i]->after[j]->mark]);
    }
    return clone;
}

SIM_API(cudaGraphCreate, (cudaGraph_t * graph, unsigned int flags), (graph, flags))
{
    (void)flags;
    if (graph == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the graph is NULL");
    *graph = sim_graph_new();
    return cudaSuccess;
}

static cudaError_t destroy(cudaGraph_t handle)
{
    struct CUgraph_st *graph = sim_graph_of(handle);
    if (graph == NULL)
        return cudaErrorInvalidValue;
    sim_graph_delete(graph);
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    return SIM_CALL(destroy(graph));
}

SIM_API(cudaGraphClone, (cudaGraph_t * clone, cudaGraph_t original), (clone, original))
{
    struct CUgraph_st *graph = sim_graph_of(original);
    if (graph == NULL)
        return cudaErrorInvalidValue;
    *clone = sim_graph_clone(graph);
    return cudaSuccess;
}

SIM_API(cudaGraphNodeFindInClone, (cudaGraphNode_t * node, cudaGraphNode_t original, cudaGraph_t handle),
        (node, original, handle))
{
    const struct CUgraph_st *clone = sim_graph_of(handle);
    for (size_t i = 0; clone != NULL && i < clone->count; i++) {
        if (clone->nodes[i]->original == original) {
            *node = clone->nodes[i];
            return cudaSuccess;
        }
    }
    return sim_fail(cudaErrorInvalidValue, "the clone has no such node");
}

SIM_API(cudaGraphDestroyNode, (cudaGraphNode_t handle), (handle))
{
    struct CUgraphNode_st *node = sim_graph_node_of(handle);
    if (node == NULL)
        return cudaErrorInvalidValue;
    struct CUgraph_st *graph = node->graph;
    size_t kept = 0;
    for (size_t i = 0; i < graph->count; i++) {
        struct CUgraphNode_st *other = graph->nodes[i];
        size_t left = 0;
        for (size_t j = 0; j < other->after_count; j++) {
            if (other->after[j] != node)
                other->after[left++] = other->after[j];
        }
        other->after_count = left;
        if (other != node)
            graph->nodes[kept++] = other;
    }
    graph->count = kept;
    delete_node(node);
    return cudaSuccess;
}

// --- asking ---------------------------------------------------------------------------------------------------------

// Gives out a list the way CUDA does: without a place for it, its length; else as many as there is room for.
static void give(cudaGraphNode_t *to, size_t *room, struct CUgraphNode_st *const *nodes, size_t count)
{
    for (size_t i = 0; to != NULL && i < *room; i++)
        to[i] = i < count ? nodes[i] : NULL;
    *room = to == NULL || count < *room ? count : *room;
}

SIM_API(cudaGraphGetNodes, (cudaGraph_t handle, cudaGraphNode_t *nodes, size_t *count), (handle, nodes, count))
{
    const struct CUgraph_st *graph = sim_graph_of(handle);
    if (graph == NULL || count == NULL)
        return cudaErrorInvalidValue;
    give(nodes, count, graph->nodes, graph->count);
    return cudaSuccess;
}

SIM_API(cudaGraphGetRootNodes, (cudaGraph_t handle, cudaGraphNode_t *nodes, size_t *count), (handle, nodes, count))
{
    const struct CUgraph_st *graph = sim_graph_of(handle);
    if (graph == NULL || count == NULL)
        return cudaErrorInvalidValue;
    struct CUgraphNode_st **roots = allocated(malloc((graph->count + 1) * sizeof *roots));
    if (roots == NULL)
        return cudaErrorMemoryAllocation;
    size_t found = 0;
    for (size_t i = 0; i < graph->count; i++) {
        if (graph->nodes[i]->after_count == 0)
            roots[found++] = graph->nodes[i];
    }
    give(nodes, count, roots, found);
    free(roots);
    return cudaSuccess;
}

SIM_API(cudaGraphNodeGetType, (cudaGraphNode_t handle, enum cudaGraphNodeType *type), (handle, type))
{
    const struct CUgraphNode_st *node = sim_graph_node_of(handle);
    if (node == NULL)
        return cudaErrorInvalidValue;
    *type = node->type;
    return cudaSuccess;
}

static cudaError_t get_edges(cudaGraph_t handle, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    const struct CUgraph_st *graph = sim_graph_of(handle);
    if (graph == NULL || count == NULL)
        return cudaErrorInvalidValue;
    size_t found = 0;
    for (size_t i = 0; i < graph->count; i++) {
        for (size_t j = 0; j < graph->nodes[i]->after_count; j++, found++) {
            if (from == NULL || to == NULL || found >= *count)
                continue;
            from[found] = graph->nodes[i]->after[j];
            to[found] = graph->nodes[i];
        }
    }
    *count = from == NULL || found < *count ? found : *count;
    return cudaSuccess;
}

cudaError_t sim_graph_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    return SIM_CALL_AS("cudaGraphGetEdges", get_edges(graph, from, to, count));
}

static cudaError_t get_dependencies(cudaGraphNode_t handle, cudaGraphNode_t *nodes, size_t *count)
{
    const struct CUgraphNode_st *node = sim_graph_node_of(handle);
    if (node == NULL || count == NULL)
        return cudaErrorInvalidValue;
    give(nodes, count, node->after, node->after_count);
    return cudaSuccess;
}

cudaError_t sim_graph_node_dependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
{
    return SIM_CALL_AS("cudaGraphNodeGetDependencies", get_dependencies(node, nodes, count));
}

static bool depends_on(const struct CUgraphNode_st *node, const struct CUgraphNode_st *earlier)
{
    for (size_t i = 0; i < node->after_count; i++) {
        if (node->after[i] == earlier)
            return true;
    }
    return false;
}

static cudaError_t get_dependents(cudaGraphNode_t handle, cudaGraphNode_t *nodes, size_t *count)
{
    const struct CUgraphNode_st *node = sim_graph_node_of(handle);
    if (node == NULL || count == NULL)
        return cudaErrorInvalidValue;
    struct CUgraphNode_st **later = allocated(malloc((node->graph->count + 1) * sizeof *later));
    if (later == NULL)
        return cudaErrorMemoryAllocation;
    size_t found = 0;
    for (size_t i = 0; i < node->graph->count; i++) {
        if (depends_on(node->graph->nodes[i], node))
            later[found++] = node->graph->nodes[i];
    }
    give(nodes, count, later, found);
    free(later);
    return cudaSuccess;
}

cudaError_t sim_graph_node_dependents(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
{
    return SIM_CALL_AS("cudaGraphNodeGetDependentNodes", get_dependents(node, nodes, count));
}

// --- edges ----------------------------------------------------------------------------------------------------------

static cudaError_t add_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct CUgraphNode_st *earlier = sim_graph_node_of(from[i]), *later = sim_graph_node_of(to[i]);
        if (earlier == NULL || later == NULL)
            return cudaErrorInvalidValue;
        if (earlier->graph != graph || later->graph != graph)
            return sim_fail(cudaErrorInvalidValue, "edge %zu is not between nodes of this graph", i);
        if (earlier == later || depends_on(later, earlier))
            return sim_fail(cudaErrorInvalidValue, "edge %zu is there already", i);
        depend(later, earlier);
    }
    return cudaSuccess;
}

cudaError_t sim_graph_add_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                       size_t count)
{
    return SIM_CALL_AS("cudaGraphAddDependencies", add_dependencies(graph, from, to, count));
}

static cudaError_t remove_dependencies(const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct CUgraphNode_st *node = sim_graph_node_of(to[i]);
        if (node == NULL)
            return cudaErrorInvalidValue;
        if (!depends_on(node, from[i]))
            return sim_fail(cudaErrorInvalidValue, "there is no edge %zu", i);
        size_t left = 0;
        for (size_t j = 0; j < node->after_count; j++) {
            if (node->after[j] != from[i])
                node->after[left++] = node->after[j];
        }
        node->after_count = left;
    }
    return cudaSuccess;
}

cudaError_t sim_graph_remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                          size_t count)
{
    (void)graph;
    return SIM_CALL_AS("cudaGraphRemoveDependencies", remove_dependencies(from, to, count));
}

// Graphs: nodes in the order they were captured, and how a launch goes through them. Branches that do not depend on
// each other run beside each other; launches of one graph run one after another.

#include <stdlib.h>

#include "device/cpu/cpu.h"

enum { FIRST_ROOM = 16, NO_EDGE = -1 };

// --- building -------------------------------------------------------------------------------------------------------

struct cpu_graph *heddle_cpu_graph_create(struct cpu_device *device)
{
    struct cpu_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return NULL;
    graph->base.device = &device->base;
    graph->references = 1;
    return graph;
}

void heddle_cpu_graph_release(struct cpu_graph *graph)
{
    if (--graph->references > 0)
        return;
    for (int i = 0; i < graph->count; i++)
        free(graph->nodes[i].item.large_arguments);
    free(graph->nodes);
    free(graph);
}

// Nodes may move while the graph grows; nothing points at them before the first launch.
struct cpu_node *heddle_cpu_graph_append(struct cpu_graph *graph)
{
    if (graph->count == graph->room) {
        int room = graph->room ? 2 * graph->room : FIRST_ROOM;
        struct cpu_node *nodes = realloc(graph->nodes, (size_t)room * sizeof *nodes);
        if (!nodes)
            return NULL;
        graph->nodes = nodes;
        graph->room = room;
    }
    struct cpu_node *node = &graph->nodes[graph->count++];
    *node = (struct cpu_node){.first_edge = NO_EDGE};
    node->item.graph = graph;
    return node;
}

void heddle_cpu_graph_add_dependency(struct cpu_node *node, int dependency)
{
    struct cpu_graph *graph = node->item.graph;
    int slot = node->dependency_count++;
    int edge = (int)(node - graph->nodes) * CPU_NODE_DEPENDENCIES + slot;
    node->dependencies[slot] = dependency;
    node->next_edge[slot] = graph->nodes[dependency].first_edge;
    graph->nodes[dependency].first_edge = edge;
}

// --- launching ------------------------------------------------------------------------------------------------------

static void wait_for_turn(struct cpu_graph *graph, struct cpu_stream *stream)
{
    stream->next_blocked = NULL;
    if (graph->waiting)
        graph->waiting_last->next_blocked = stream;
    else
        graph->waiting = stream;
    graph->waiting_last = stream;
}

bool heddle_cpu_graph_start(struct cpu_stream *stream, struct cpu_item *launch)
{
    struct cpu_graph *graph = launch->graph;
    if (graph->count == 0)
        return true;
    if (graph->launch) {
        wait_for_turn(graph, stream);
        return false;
    }
    graph->launch = launch;
    graph->remaining = graph->count;
    for (int i = 0; i < graph->count; i++)
        graph->nodes[i].pending = graph->nodes[i].dependency_count;
    // A node without dependencies is work: joins have two.
    for (int i = 0; i < graph->count; i++)
        if (graph->nodes[i].dependency_count == 0)
            heddle_cpu_push_ready(cpu_stream_device(stream), &graph->nodes[i].item);
    return false;
}

static void finish_launch(struct cpu_graph *graph)
{
    struct cpu_stream *stream = graph->launch->stream;
    graph->launch = NULL;
    stream->failure = graph->failure;
    graph->failure = NULL;
    heddle_cpu_advance_later(stream);
    // Looked at before `stream`, the list being last in, first out: who launches in a row must not keep others waiting.
    if (graph->waiting) {
        struct cpu_stream *next = graph->waiting;
        graph->waiting = next->next_blocked;
        heddle_cpu_advance_later(next);
    }
    // Last, for it may free the graph.
    heddle_cpu_finish_head(stream);
}

void heddle_cpu_graph_node_done(struct cpu_node *node, struct cpu_failure *failure)
{
    struct cpu_graph *graph = node->item.graph;
    struct cpu_device *device = cpu_device_of(graph->base.device);
    if (failure && !graph->failure)
        graph->failure = failure;
    else
        heddle_cpu_failure_release(failure);
    // Nodes done but not yet looked behind; joins, and all that a failure drops, are done as soon as it is their turn.
    struct cpu_item *done = &node->item;
    done->next_ready = NULL;
    while (done) {
        node = (struct cpu_node *)done;
        done = done->next_ready;
        graph->remaining--;
        for (int edge = node->first_edge; edge != NO_EDGE;) {
            struct cpu_node *dependent = &graph->nodes[edge / CPU_NODE_DEPENDENCIES];
            edge = dependent->next_edge[edge % CPU_NODE_DEPENDENCIES];
            if (--dependent->pending > 0)
                continue;
            if (dependent->item.kind == CPU_ITEM_JOIN || graph->failure) {
                dependent->item.next_ready = done;
                done = &dependent->item;
            } else {
                heddle_cpu_push_ready(device, &dependent->item);
            }
        }
    }
    if (graph->remaining == 0)
        finish_launch(graph);
}

heddle_status heddle_cpu_graph_launch(heddle_graph *graph_, heddle_stream *stream_)
{
    struct cpu_graph *graph = (struct cpu_graph *)graph_;
    struct cpu_stream *stream = (struct cpu_stream *)stream_;
    struct cpu_device *device = cpu_stream_device(stream);
    heddle_status status = HEDDLE_OK;
    heddle_cpu_lock(device);
    if (stream->capture) {
        heddle_cpu_capture_forbid(stream->capture, "heddle_graph_launch");
        status = heddle_fail(HEDDLE_UNSUPPORTED, "heddle_graph_launch: a graph inside another is not supported on cpu: "
                                                 "launch it after heddle_capture_end");
    } else if ((status = heddle_cpu_meet_default(stream)) == HEDDLE_OK) {
        struct cpu_item *item = heddle_cpu_item_create(device, CPU_ITEM_GRAPH);
        if (item) {
            item->graph = graph;
            graph->references++;
            heddle_cpu_enqueue(stream, item);
        } else {
            status = HEDDLE_OUT_OF_MEMORY;
        }
    }
    heddle_cpu_unlock(device);
    return status;
}

heddle_status heddle_cpu_graph_destroy(heddle_graph *graph_)
{
    struct cpu_graph *graph = (struct cpu_graph *)graph_;
    struct cpu_device *device = cpu_device_of(graph->base.device);
    heddle_cpu_lock(device);
    device->graphs--;
    // Launches still queued keep it until they are done.
    heddle_cpu_graph_release(graph);
    heddle_cpu_unlock(device);
    return HEDDLE_OK;
}

// Graphs: nodes in the order they were captured, and the edges between them. How a launch goes through them is
// schedule.c's.

#include <stdlib.h>

#include "device/cpu/cpu.h"

enum { FIRST_ROOM = 16 };

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
    *node = (struct cpu_node){.first_edge = CPU_NO_EDGE};
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

// Graphs as pictures.
#include <stdio.h>

#include "api/call.h"
#include "api/graph.h"

static const char *label(const struct CUgraphNode_st *node)
{
    static const char *const names[] = {"kernel", "copy",  "fill",           "host function",
                                        "graph",  "empty", "wait for event", "record event",
                                        "signal", "wait",  "allocate",       "free"};
    if (node->type == cudaGraphNodeTypeKernel && node->work.kernel.bound->kernel.name != NULL)
        return node->work.kernel.bound->kernel.name;
    return (size_t)node->type < sizeof names / sizeof names[0] ? names[node->type] : "node";
}

SIM_API(cudaGraphDebugDotPrint, (cudaGraph_t handle, const char *path, unsigned int flags), (handle, path, flags))
{
    (void)flags;
    struct CUgraph_st *graph = sim_graph_of(handle);
    if (graph == NULL)
        return cudaErrorInvalidValue;
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL)
        return sim_fail(cudaErrorOperatingSystem, "the file cannot be written");
    fprintf(file, "digraph graph_1 {\n");
    for (size_t i = 0; i < graph->count; i++) {
        graph->nodes[i]->mark = i;
        fprintf(file, "    node_%zu [label=\"%zu: %s\"];\n", i, i, label(graph->nodes[i]));
    }
    for (size_t i = 0; i < graph->count; i++) {
        for (size_t j = 0; j < graph->nodes[i]->after_count; j++)
            fprintf(file, "    node_%zu -> node_%zu;\n", graph->nodes[i]->after[j]->mark, i);
    }
    fprintf(file, "}\n");
    fclose(file);
    return cudaSuccess;
}

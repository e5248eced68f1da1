// What C++ adds to the functions for graphs: variables by name, and the forms that CUDA 12 and 13 write differently.
// Included by runtime_overloads.h.
#pragma once

SIM_INLINE cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *error_node,
                                            char *log, size_t log_bytes)
{
    if (error_node != nullptr)
        *error_node = nullptr;
    if (log != nullptr && log_bytes > 0)
        log[0] = '\0';
    return ::cudaGraphInstantiate(exec, graph, 0);
}

SIM_INLINE cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *error_node,
                                           cudaGraphExecUpdateResult *result)
{
    cudaGraphExecUpdateResultInfo info = {};
    const cudaError_t error = ::cudaGraphExecUpdate(exec, graph, &info);
    if (error_node != nullptr)
        *error_node = info.errorNode;
    if (result != nullptr)
        *result = info.result;
    return error;
}

SIM_INLINE cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                                unsigned long long *id = nullptr, cudaGraph_t *graph = nullptr,
                                                const cudaGraphNode_t **dependencies = nullptr, size_t *count = nullptr)
{
    return ::sim_stream_capture_info(stream, status, id, graph, dependencies, count);
}

SIM_INLINE cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                                unsigned long long *id, cudaGraph_t *graph,
                                                const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges,
                                                size_t *count)
{
    if (edges != nullptr)
        *edges = nullptr;
    return ::sim_stream_capture_info(stream, status, id, graph, dependencies, count);
}

SIM_INLINE cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                                   unsigned long long *id = nullptr, cudaGraph_t *graph = nullptr,
                                                   const cudaGraphNode_t **dependencies = nullptr,
                                                   size_t *count = nullptr)
{
    return ::sim_stream_capture_info(stream, status, id, graph, dependencies, count);
}

SIM_INLINE cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                           size_t count, unsigned int flags = 0)
{
    return ::sim_stream_update_capture(stream, dependencies, count, flags);
}

SIM_INLINE cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                           const cudaGraphEdgeData *edges, size_t count,
                                                           unsigned int flags = 0)
{
    (void)edges;
    return ::sim_stream_update_capture(stream, dependencies, count, flags);
}

SIM_INLINE cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                        size_t count, cudaGraphNodeParams *parameters)
{
    return ::sim_graph_add_node(node, graph, dependencies, count, parameters);
}

SIM_INLINE cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                        const cudaGraphEdgeData *edges, size_t count, cudaGraphNodeParams *parameters)
{
    (void)edges;
    return ::sim_graph_add_node(node, graph, dependencies, count, parameters);
}

SIM_INLINE cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    return ::sim_graph_edges(graph, from, to, count);
}

SIM_INLINE cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                         cudaGraphEdgeData *edges, size_t *count)
{
    const cudaError_t error = ::sim_graph_edges(graph, from, to, count);
    for (size_t i = 0; edges != nullptr && error == cudaSuccess && i < *count; i++)
        edges[i] = cudaGraphEdgeData{};
    return error;
}

SIM_INLINE cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
{
    return ::sim_graph_node_dependencies(node, nodes, count);
}

SIM_INLINE cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                    cudaGraphEdgeData *edges, size_t *count)
{
    const cudaError_t error = ::sim_graph_node_dependencies(node, nodes, count);
    for (size_t i = 0; edges != nullptr && error == cudaSuccess && i < *count; i++)
        edges[i] = cudaGraphEdgeData{};
    return error;
}

SIM_INLINE cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
{
    return ::sim_graph_node_dependents(node, nodes, count);
}

SIM_INLINE cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                      cudaGraphEdgeData *edges, size_t *count)
{
    const cudaError_t error = ::sim_graph_node_dependents(node, nodes, count);
    for (size_t i = 0; edges != nullptr && error == cudaSuccess && i < *count; i++)
        edges[i] = cudaGraphEdgeData{};
    return error;
}

SIM_INLINE cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                const cudaGraphNode_t *to, size_t count)
{
    return ::sim_graph_add_dependencies(graph, from, to, count);
}

SIM_INLINE cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t count)
{
    (void)edges;
    return ::sim_graph_add_dependencies(graph, from, to, count);
}

SIM_INLINE cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                   const cudaGraphNode_t *to, size_t count)
{
    return ::sim_graph_remove_dependencies(graph, from, to, count);
}

SIM_INLINE cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                   const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
                                                   size_t count)
{
    (void)edges;
    return ::sim_graph_remove_dependencies(graph, from, to, count);
}

template <class T>
SIM_INLINE cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                      const cudaGraphNode_t *dependencies, size_t count,
                                                      const T &symbol, const void *from, size_t bytes, size_t offset,
                                                      cudaMemcpyKind kind)
{
    return ::cudaGraphAddMemcpyNodeToSymbol(node, graph, dependencies, count, sim_symbol_of(symbol), from, bytes,
                                            offset, kind);
}

template <class T>
SIM_INLINE cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                        const cudaGraphNode_t *dependencies, size_t count, void *to,
                                                        const T &symbol, size_t bytes, size_t offset,
                                                        cudaMemcpyKind kind)
{
    return ::cudaGraphAddMemcpyNodeFromSymbol(node, graph, dependencies, count, to, sim_symbol_of(symbol), bytes,
                                              offset, kind);
}

template <class T>
inline cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, T *wrapped, unsigned int references,
                                        unsigned int flags)
{
    return ::cudaUserObjectCreate(
        object, wrapped, [](void *memory) { delete static_cast<T *>(memory); }, references, flags);
}

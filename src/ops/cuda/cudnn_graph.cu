// Graphs of cuDNN: their parts, choosing an engine, running.

#include "ops/cuda/cudnn_graph.h"

#include <string.h>

enum {
    ENGINES = 24,
    NOTES = CUDNN_NUMERICAL_NOTE_TYPE_COUNT,
    DIMS = 4,
};
// The name of the tensor between two operations: cuDNN wants one for it too, and a graph has one such tensor at most.
static const int64_t between_name = 1 << 20;
// More than this for one call is not worth the memory.
static const int64_t most_workspace = (int64_t)1 << 30;

heddle_status heddle_cudnn_part(heddle_cudnn_graph *graph, cudnnBackendDescriptorType_t type,
                                cudnnBackendDescriptor_t *part)
{
    if (graph->part_count == HEDDLE_CUDNN_PARTS)
        return heddle_cuda_failed(HEDDLE_INTERNAL, "the graph has too many parts", "HEDDLE_CUDNN_PARTS",
                                  HEDDLE_CUDA_HERE("heddle_cudnn_part"));
    HEDDLE_CUDA_TRY(cudnnBackendCreateDescriptor(type, part));
    graph->parts[graph->part_count++] = *part;
    return HEDDLE_OK;
}

heddle_status heddle_cudnn_set(cudnnBackendDescriptor_t part, cudnnBackendAttributeName_t name,
                               cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
    return HEDDLE_CUDA_CHECK(cudnnBackendSetAttribute(part, name, type, count, values));
}

heddle_status heddle_cudnn_finalize(cudnnBackendDescriptor_t part)
{
    return HEDDLE_CUDA_CHECK(cudnnBackendFinalize(part));
}

heddle_status heddle_cudnn_tensor(heddle_cudnn_graph *graph, int64_t number, const int64_t dims[DIMS],
                                  int64_t alignment, cudnnBackendDescriptor_t *tensor)
{
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    bool between = number == 0;
    int64_t name = between ? between_name : number;
    int64_t strides[DIMS] = {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
    HEDDLE_TRY(heddle_cudnn_part(graph, CUDNN_BACKEND_TENSOR_DESCRIPTOR, tensor));
    HEDDLE_TRY(heddle_cudnn_set(*tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type));
    HEDDLE_TRY(heddle_cudnn_set(*tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, DIMS, dims));
    HEDDLE_TRY(heddle_cudnn_set(*tensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, DIMS, strides));
    HEDDLE_TRY(heddle_cudnn_set(*tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &name));
    HEDDLE_TRY(heddle_cudnn_set(*tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment));
    if (between)
        HEDDLE_TRY(heddle_cudnn_set(*tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &between));
    return heddle_cudnn_finalize(*tensor);
}

// --- choosing an engine ----------------------------------------------------------------------------------------------

// What an engine does to numbers that this rung does not.
static bool breaks_promise(cudnnBackendNumericalNote_t note, bool tensor_cores)
{
    switch (note) {
    case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
    case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
    case CUDNN_NUMERICAL_NOTE_FFT:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6: // these lose digits that a direct sum keeps
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13: return true;
    case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
    case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS: return !tensor_cores;
    default: return false;
    }
}

// An engine whose notes cannot be read is not trusted.
static bool keeps_promise(cudnnBackendDescriptor_t configuration, bool tensor_cores)
{
    cudnnBackendDescriptor_t engine = NULL;
    cudnnBackendNumericalNote_t notes[NOTES];
    int64_t count = 0;
    bool fine = cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine) == CUDNN_STATUS_SUCCESS &&
                cudnnBackendGetAttribute(configuration, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                         &count, &engine) == CUDNN_STATUS_SUCCESS &&
                cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, NOTES,
                                         &count, notes) == CUDNN_STATUS_SUCCESS;
    for (int64_t i = 0; fine && i < count; i++)
        fine = !breaks_promise(notes[i], tensor_cores);
    if (engine)
        cudnnBackendDestroyDescriptor(engine);
    return fine;
}

// Makes the plan of one configuration; false where cuDNN refuses or wants too much memory.
static bool try_configuration(heddle_cudnn_graph *graph, cudnnHandle_t handle, cudnnBackendDescriptor_t configuration)
{
    cudnnBackendDescriptor_t plan = NULL;
    int64_t count = 0;
    if (cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan) != CUDNN_STATUS_SUCCESS)
        return false;
    if (cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle) ==
            CUDNN_STATUS_SUCCESS &&
        cudnnBackendSetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                 &configuration) == CUDNN_STATUS_SUCCESS &&
        cudnnBackendFinalize(plan) == CUDNN_STATUS_SUCCESS &&
        cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count,
                                 &graph->workspace) == CUDNN_STATUS_SUCCESS &&
        graph->workspace <= most_workspace) {
        graph->plan = plan;
        return true;
    }
    cudnnBackendDestroyDescriptor(plan);
    return false;
}

// The configurations that one of cuDNN's heuristics names, best first; those not named are destroyed here.
static heddle_status ask(heddle_cudnn_graph *graph, cudnnBackendDescriptor_t whole, cudnnBackendHeurMode_t mode,
                         cudnnBackendDescriptor_t *configurations, int64_t *count)
{
    cudnnBackendDescriptor_t heuristics;
    *count = 0;
    HEDDLE_TRY(heddle_cudnn_part(graph, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, &heuristics));
    HEDDLE_TRY(
        heddle_cudnn_set(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &whole));
    HEDDLE_TRY(heddle_cudnn_set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode));
    HEDDLE_TRY(heddle_cudnn_finalize(heuristics));
    for (int i = 0; i < ENGINES; i++)
        HEDDLE_CUDA_TRY(cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &configurations[i]));
    return HEDDLE_CUDA_CHECK(cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, ENGINES, count, configurations));
}

static heddle_status choose(heddle_cudnn_graph *graph, cudnnHandle_t handle, cudnnBackendDescriptor_t whole,
                            cudnnBackendHeurMode_t mode, bool tensor_cores)
{
    cudnnBackendDescriptor_t configurations[ENGINES] = {};
    int64_t count = 0;
    heddle_status status = ask(graph, whole, mode, configurations, &count);
    for (int i = 0; i < ENGINES; i++) {
        bool taken = status == HEDDLE_OK && i < count && !graph->plan &&
                     keeps_promise(configurations[i], tensor_cores) &&
                     try_configuration(graph, handle, configurations[i]);
        if (taken && graph->part_count < HEDDLE_CUDNN_PARTS)
            graph->parts[graph->part_count++] = configurations[i]; // the plan refers to it
        else if (configurations[i])
            cudnnBackendDestroyDescriptor(configurations[i]);
    }
    return status;
}

heddle_status heddle_cudnn_plan(heddle_cudnn_graph *graph, cudnnHandle_t handle, bool tensor_cores)
{
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};
    cudnnBackendDescriptor_t whole;
    HEDDLE_TRY(heddle_cudnn_part(graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, &whole));
    HEDDLE_TRY(heddle_cudnn_set(whole, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle));
    HEDDLE_TRY(heddle_cudnn_set(whole, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                graph->operation_count, graph->operations));
    HEDDLE_TRY(heddle_cudnn_finalize(whole));
    heddle_status status = HEDDLE_OK;
    for (int i = 0; !graph->plan && i < (int)(sizeof modes / sizeof *modes); i++)
        status = choose(graph, handle, whole, modes[i], tensor_cores);
    if (graph->plan)
        return HEDDLE_OK;
    HEDDLE_TRY(status);
    return heddle_cuda_failed(HEDDLE_UNSUPPORTED, "cuDNN names no engine that keeps to this arithmetic", "heuristics",
                              HEDDLE_CUDA_HERE("heddle_cudnn_plan"));
}

// --- running ---------------------------------------------------------------------------------------------------------

static heddle_status execute(cudnnBackendDescriptor_t pack, const heddle_cudnn_graph *graph, cudnnHandle_t handle,
                             int tensors, const int64_t *numbers, void *const *places, void *workspace)
{
    HEDDLE_TRY(heddle_cudnn_set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, tensors, numbers));
    HEDDLE_TRY(heddle_cudnn_set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, tensors, places));
    HEDDLE_TRY(heddle_cudnn_set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace));
    HEDDLE_TRY(heddle_cudnn_finalize(pack));
    return HEDDLE_CUDA_CHECK(cudnnBackendExecute(handle, graph->plan, pack));
}

heddle_status heddle_cudnn_run(const heddle_cudnn_graph *graph, const heddle_call *call, cudnnHandle_t handle,
                               int tensors, const int64_t *numbers, void *const *places)
{
    void *workspace = NULL;
    cudnnBackendDescriptor_t pack = NULL;
    HEDDLE_TRY(heddle_cuda_scratch(call, (size_t)graph->workspace, &workspace));
    HEDDLE_CUDA_TRY(cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack));
    heddle_status status = execute(pack, graph, handle, tensors, numbers, places, workspace);
    cudnnBackendDestroyDescriptor(pack);
    return status;
}

void heddle_cudnn_destroy(heddle_cudnn_graph *graph)
{
    if (graph->plan)
        cudnnBackendDestroyDescriptor(graph->plan);
    while (graph->part_count > 0)
        cudnnBackendDestroyDescriptor(graph->parts[--graph->part_count]);
    memset(graph, 0, sizeof *graph);
}

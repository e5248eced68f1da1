// Graphs of cuDNN: their parts, choosing an engine, running.

#include "ops/cuda/cudnn_graph.h"

#include <stdio.h>
#include <string.h>

enum {
    ENGINES = 24,
    NOTES = CUDNN_NUMERICAL_NOTE_TYPE_COUNT,
    DIMS = 4,
};
// Names of tensors between two operations begin here: cuDNN needs one for each of them too.
static const int64_t first_between = 1 << 20;
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
    int64_t name = between ? first_between + graph->part_count : number;
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

heddle_status heddle_cudnn_operation(heddle_cudnn_graph *graph, cudnnBackendDescriptor_t operation)
{
    if (graph->operation_count == HEDDLE_CUDNN_OPERATIONS)
        return heddle_cuda_failed(HEDDLE_INTERNAL, "the graph has too many operations", "HEDDLE_CUDNN_OPERATIONS",
                                  HEDDLE_CUDA_HERE("heddle_cudnn_operation"));
    graph->operations[graph->operation_count++] = operation;
    return heddle_cudnn_finalize(operation);
}

heddle_status heddle_cudnn_pointwise(heddle_cudnn_graph *graph, cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x,
                                     cudnnBackendDescriptor_t y, cudnnBackendDescriptor_t output)
{
    const cudnnBackendAttributeType_t descriptor = CUDNN_TYPE_BACKEND_DESCRIPTOR;
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    cudnnBackendDescriptor_t pointwise, operation;
    HEDDLE_TRY(heddle_cudnn_part(graph, CUDNN_BACKEND_POINTWISE_DESCRIPTOR, &pointwise));
    HEDDLE_TRY(heddle_cudnn_set(pointwise, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode));
    HEDDLE_TRY(heddle_cudnn_set(pointwise, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &type));
    HEDDLE_TRY(heddle_cudnn_finalize(pointwise));
    HEDDLE_TRY(heddle_cudnn_part(graph, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, &operation));
    HEDDLE_TRY(heddle_cudnn_set(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, descriptor, 1, &pointwise));
    HEDDLE_TRY(heddle_cudnn_set(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, descriptor, 1, &x));
    if (y)
        HEDDLE_TRY(heddle_cudnn_set(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, descriptor, 1, &y));
    HEDDLE_TRY(heddle_cudnn_set(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, descriptor, 1, &output));
    return heddle_cudnn_operation(graph, operation);
}

// --- choosing an engine ----------------------------------------------------------------------------------------------

// What an engine does to numbers that this rung must not.
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

// Makes the plan of one configuration; false if cuDNN refuses or needs too much memory.
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

// The configurations that one of cuDNN's heuristics lists, best first; the others are destroyed here.
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

// All operations as one descriptor for the heuristics.
static heddle_status join(heddle_cudnn_graph *graph, cudnnHandle_t handle, cudnnBackendDescriptor_t *whole)
{
    HEDDLE_TRY(heddle_cudnn_part(graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, whole));
    HEDDLE_TRY(heddle_cudnn_set(*whole, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle));
    HEDDLE_TRY(heddle_cudnn_set(*whole, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                graph->operation_count, graph->operations));
    return heddle_cudnn_finalize(*whole);
}

heddle_status heddle_cudnn_plan(heddle_cudnn_graph *graph, cudnnHandle_t handle, bool tensor_cores)
{
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};
    cudnnBackendDescriptor_t whole;
    HEDDLE_TRY(join(graph, handle, &whole));
    heddle_status status = HEDDLE_OK;
    for (int i = 0; !graph->plan && i < (int)(sizeof modes / sizeof *modes); i++)
        status = choose(graph, handle, whole, modes[i], tensor_cores);
    if (graph->plan)
        return HEDDLE_OK;
    HEDDLE_TRY(status);
    return heddle_cuda_failed(HEDDLE_UNSUPPORTED, "cuDNN names no engine that keeps to this arithmetic", "heuristics",
                              HEDDLE_CUDA_HERE("heddle_cudnn_plan"));
}

// --- listing ---------------------------------------------------------------------------------------------------------

typedef struct note_name {
    int note;
    const char *name;
} note_name;

static const note_name numerical_names[] = {
    {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, "tensor cores"},
    {CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS, "inputs rounded"},
    {CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, "sums rounded"},
    {CUDNN_NUMERICAL_NOTE_FFT, "Fourier transforms"},
    {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, "order of sums not fixed"},
    {CUDNN_NUMERICAL_NOTE_WINOGRAD, "Winograd"},
    {CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4, "4x4 tiles"},
    {CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6, "6x6 tiles"},
    {CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13, "13x13 tiles"},
};
static const note_name behaviour_names[] = {
    {CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION, "compiled at run time"},
    {CUDNN_BEHAVIOR_NOTE_REQUIRES_FILTER_INT8x32_REORDER, "wants the filter reordered"},
    {CUDNN_BEHAVIOR_NOTE_REQUIRES_BIAS_INT8x32_REORDER, "wants the bias reordered"},
};

static void add_text(heddle_engine_list *list, const char *text)
{
    size_t used = strlen(list->text);
    if (used + 1 < list->size)
        snprintf(list->text + used, list->size - used, "%s", text);
}

static void add_note(heddle_engine_list *list, int note, const note_name *names, int count)
{
    char text[64];
    const char *name = NULL;
    for (int i = 0; i < count; i++)
        if (names[i].note == note)
            name = names[i].name;
    if (name)
        snprintf(text, sizeof text, "; %s", name);
    else
        snprintf(text, sizeof text, "; note %d", note);
    add_text(list, text);
}

static void add_notes(heddle_engine_list *list, cudnnBackendDescriptor_t engine)
{
    cudnnBackendNumericalNote_t numerical[NOTES];
    cudnnBackendBehaviorNote_t behaviour[NOTES];
    int64_t count = 0;
    if (cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, NOTES, &count,
                                 numerical) == CUDNN_STATUS_SUCCESS)
        for (int64_t i = 0; i < count && i < NOTES; i++)
            add_note(list, numerical[i], numerical_names, sizeof numerical_names / sizeof *numerical_names);
    if (cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, NOTES, &count,
                                 behaviour) == CUDNN_STATUS_SUCCESS)
        for (int64_t i = 0; i < count && i < NOTES; i++)
            add_note(list, behaviour[i], behaviour_names, sizeof behaviour_names / sizeof *behaviour_names);
}

// "A 1: engine 37, 0 KiB of workspace; tensor cores; compiled at run time"
static void add_engine(heddle_engine_list *list, const char *mode, int place, cudnnHandle_t handle,
                       cudnnBackendDescriptor_t configuration)
{
    cudnnBackendDescriptor_t engine = NULL;
    heddle_cudnn_graph trial = {};
    char text[96];
    int64_t count = 0, number = -1;
    if (cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine) == CUDNN_STATUS_SUCCESS &&
        cudnnBackendGetAttribute(configuration, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                                 &engine) == CUDNN_STATUS_SUCCESS)
        cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &count, &number);
    bool works = try_configuration(&trial, handle, configuration);
    snprintf(text, sizeof text, "%s %d: engine %lld", mode, place, (long long)number);
    add_text(list, text);
    if (works)
        snprintf(text, sizeof text, ", %lld KiB of workspace", (long long)(trial.workspace + 1023) / 1024);
    else
        snprintf(text, sizeof text, ", makes no plan");
    add_text(list, text);
    if (engine)
        add_notes(list, engine);
    add_text(list, "\n");
    heddle_cudnn_destroy(&trial);
    if (engine)
        cudnnBackendDestroyDescriptor(engine);
}

heddle_status heddle_cudnn_list(heddle_cudnn_graph *graph, cudnnHandle_t handle, heddle_engine_list *list)
{
    static const struct {
        cudnnBackendHeurMode_t mode;
        const char *name;
    } modes[] = {{CUDNN_HEUR_MODE_A, "A"}, {CUDNN_HEUR_MODE_B, "B"}, {CUDNN_HEUR_MODE_FALLBACK, "fallback"}};
    cudnnBackendDescriptor_t whole;
    HEDDLE_TRY(join(graph, handle, &whole));
    for (int m = 0; m < (int)(sizeof modes / sizeof *modes); m++) {
        cudnnBackendDescriptor_t configurations[ENGINES] = {};
        int64_t count = 0;
        if (ask(graph, whole, modes[m].mode, configurations, &count) != HEDDLE_OK || count == 0) {
            add_text(list, modes[m].name);
            add_text(list, ": no engine\n");
            count = 0;
        }
        for (int i = 0; i < ENGINES; i++) {
            if (i < count)
                add_engine(list, modes[m].name, i + 1, handle, configurations[i]);
            if (configurations[i])
                cudnnBackendDestroyDescriptor(configurations[i]);
        }
    }
    return HEDDLE_OK;
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

// cuDNN's graph interface, as much of it as a rung needs: operations on tensors are put together, cuDNN names engines
// that can run them, and the first that keeps to what the rung promises becomes a plan. All that it names can be
// listed.
#pragma once

#include "ops/cuda/cudnn_handle.h"
#include "ops/engines.h"

enum { HEDDLE_CUDNN_PARTS = 64, HEDDLE_CUDNN_OPERATIONS = 8 };

// A graph while it is put together, and then its plan. Descriptors refer to each other: all of them stay as long as the
// plan does.
typedef struct heddle_cudnn_graph {
    cudnnBackendDescriptor_t parts[HEDDLE_CUDNN_PARTS];
    int part_count;
    cudnnBackendDescriptor_t operations[HEDDLE_CUDNN_OPERATIONS];
    int operation_count;
    cudnnBackendDescriptor_t plan;
    int64_t workspace; // bytes
} heddle_cudnn_graph;

// A dense float32 tensor (dims[0], ..., dims[3]), row after row. `number` is its name in the graph; 0: it exists only
// between two operations.
heddle_status heddle_cudnn_tensor(heddle_cudnn_graph *graph, int64_t number, const int64_t dims[4], int64_t alignment,
                                  cudnnBackendDescriptor_t *tensor);
// A descriptor of the graph's own, not finalised.
heddle_status heddle_cudnn_part(heddle_cudnn_graph *graph, cudnnBackendDescriptorType_t type,
                                cudnnBackendDescriptor_t *part);
heddle_status heddle_cudnn_set(cudnnBackendDescriptor_t part, cudnnBackendAttributeName_t name,
                               cudnnBackendAttributeType_t type, int64_t count, const void *values);
heddle_status heddle_cudnn_finalize(cudnnBackendDescriptor_t part);

// Adds an operation of the graph, finalised here.
heddle_status heddle_cudnn_operation(heddle_cudnn_graph *graph, cudnnBackendDescriptor_t operation);
// output = mode(x, y), element by element; y NULL: mode(x). A tensor with dims of 1 is the same along them.
heddle_status heddle_cudnn_pointwise(heddle_cudnn_graph *graph, cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x,
                                     cudnnBackendDescriptor_t y, cudnnBackendDescriptor_t output);

// Plans the graph's operations by the first engine of cuDNN's own order that gives the same bits every time and, unless
// `tensor_cores`, multiplies in float32. HEDDLE_UNSUPPORTED where there is none.
heddle_status heddle_cudnn_plan(heddle_cudnn_graph *graph, cudnnHandle_t handle, bool tensor_cores);
// Adds a line for every engine that cuDNN's heuristics name for the graph's operations.
heddle_status heddle_cudnn_list(heddle_cudnn_graph *graph, cudnnHandle_t handle, heddle_engine_list *list);
// Runs it with the tensors of these numbers at these places.
heddle_status heddle_cudnn_run(const heddle_cudnn_graph *graph, const heddle_call *call, cudnnHandle_t handle,
                               int tensors, const int64_t *numbers, void *const *places);
// Also of one that is half made.
void heddle_cudnn_destroy(heddle_cudnn_graph *graph);

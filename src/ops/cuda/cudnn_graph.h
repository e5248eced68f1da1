// The part of cuDNN's graph interface that rungs need: operations on tensors are combined, cuDNN lists engines that can
// run them, and the first that meets the rung's guarantees becomes a plan. All engines can be listed.
#pragma once

#include "ops/cuda/cudnn_handle.h"
#include "ops/engines.h"

enum { HEDDLE_CUDNN_PARTS = 64, HEDDLE_CUDNN_OPERATIONS = 8 };

// A graph under construction, and then its plan. Descriptors refer to each other: all of them live as long as the plan.
typedef struct heddle_cudnn_graph {
    cudnnBackendDescriptor_t parts[HEDDLE_CUDNN_PARTS];
    int part_count;
    cudnnBackendDescriptor_t operations[HEDDLE_CUDNN_OPERATIONS];
    int operation_count;
    cudnnBackendDescriptor_t plan;
    int64_t workspace; // bytes
} heddle_cudnn_graph;

// A dense row-major float32 tensor (dims[0], ..., dims[3]). `number` is its name in the graph; 0: it exists only
// between two operations.
heddle_status heddle_cudnn_tensor(heddle_cudnn_graph *graph, int64_t number, const int64_t dims[4], int64_t alignment,
                                  cudnnBackendDescriptor_t *tensor);
// A descriptor owned by the graph, not finalised.
heddle_status heddle_cudnn_part(heddle_cudnn_graph *graph, cudnnBackendDescriptorType_t type,
                                cudnnBackendDescriptor_t *part);
heddle_status heddle_cudnn_set(cudnnBackendDescriptor_t part, cudnnBackendAttributeName_t name,
                               cudnnBackendAttributeType_t type, int64_t count, const void *values);
heddle_status heddle_cudnn_finalize(cudnnBackendDescriptor_t part);

// Adds an operation of the graph, finalised here.
heddle_status heddle_cudnn_operation(heddle_cudnn_graph *graph, cudnnBackendDescriptor_t operation);
// output = mode(x, y), element by element; y NULL: mode(x). A tensor is broadcast along dims of 1.
heddle_status heddle_cudnn_pointwise(heddle_cudnn_graph *graph, cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x,
                                     cudnnBackendDescriptor_t y, cudnnBackendDescriptor_t output);

// Plans the graph's operations by the first engine, in cuDNN's order, that gives the same bits every time and, unless
// `tensor_cores`, multiplies in float32. HEDDLE_UNSUPPORTED if there is none.
heddle_status heddle_cudnn_plan(heddle_cudnn_graph *graph, cudnnHandle_t handle, bool tensor_cores);
// Adds a line for every engine that cuDNN's heuristics list for the graph's operations.
heddle_status heddle_cudnn_list(heddle_cudnn_graph *graph, cudnnHandle_t handle, heddle_engine_list *list);
// Runs it with the tensors of these numbers at these addresses.
heddle_status heddle_cudnn_run(const heddle_cudnn_graph *graph, const heddle_call *call, cudnnHandle_t handle,
                               int tensors, const int64_t *numbers, void *const *places);
// Also destroys a partly built one.
void heddle_cudnn_destroy(heddle_cudnn_graph *graph);

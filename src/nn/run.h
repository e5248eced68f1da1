// Running a node of a trace whose values have memory: choosing its rung and giving it workspace. And memory itself,
// with words for when there is none.
#pragma once

#include "nn/trace.h"

// A part of an allocation: where its address goes, and its size. One of no bytes gets NULL.
typedef struct heddle_part {
    void **place;
    size_t bytes;
} heddle_part;

size_t heddle_parts_bytes(const heddle_part *parts, int count);

// Device memory; HEDDLE_OUT_OF_MEMORY says how much was wanted for `what`, how much there is, and what to do.
heddle_status heddle_alloc_for(heddle_device *device, const char *what, size_t bytes, void **memory);
// The same for what the model's size alone decides, whatever the batch.
heddle_status heddle_alloc_for_model(heddle_device *device, const char *what, size_t bytes, void **memory);
// One allocation for several parts, each aligned as an allocation is.
heddle_status heddle_alloc_parts(heddle_device *device, const char *what, const heddle_part *parts, int count,
                                 void **memory);
heddle_status heddle_alloc_pinned_parts(heddle_device *device, const heddle_part *parts, int count, void **memory);

// Waits for the stream. Where `status` is a failure already, that and its message are what is returned: what else the
// wait has to say is a consequence.
heddle_status heddle_wait_after(heddle_stream *stream, heddle_status status);

// Scratch memory that grows to the largest need and is reused. Zero it to begin.
typedef struct heddle_workspace {
    heddle_device *device;
    void *memory;
    size_t bytes;
} heddle_workspace;

void heddle_workspace_destroy(heddle_workspace *workspace);
// Grows it to `bytes`; waits for the stream before letting the old memory go.
heddle_status heddle_workspace_reserve(heddle_workspace *workspace, heddle_stream *stream, size_t bytes);

// How much scratch memory this rung wants on this device.
size_t heddle_rung_workspace(const heddle_rung *rung, const void *shape, heddle_device *device);

// The call of a node: its operands' memory in the slots where the rung expects them.
void heddle_node_call(const heddle_trace *trace, const heddle_trace_node *node, heddle_call *call);

// Chooses the node's rung and queues it on the stream.
heddle_status heddle_run_node(const heddle_trace *trace, int node, heddle_tier tier, heddle_stream *stream,
                              heddle_workspace *workspace);

// Running a node of a trace whose values have memory: choosing its rung and giving it workspace.
#ifndef HEDDLE_NN_RUN_H
#define HEDDLE_NN_RUN_H

#include "nn/trace.h"

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

#endif

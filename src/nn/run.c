// Runs single nodes of a trace. Which nodes and when is up to the eager tensors and the plan.

#include "nn/run.h"

#include <string.h>

#include "base/threads.h"
#include "device/device.h"

void heddle_workspace_destroy(heddle_workspace *workspace)
{
    if (workspace->memory)
        heddle_free(workspace->device, workspace->memory);
    memset(workspace, 0, sizeof *workspace);
}

heddle_status heddle_workspace_reserve(heddle_workspace *workspace, heddle_stream *stream, size_t bytes)
{
    if (bytes <= workspace->bytes)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_stream_synchronize(stream));
    heddle_workspace_destroy(workspace);
    workspace->device = heddle_stream_device(stream);
    HEDDLE_TRY(heddle_alloc(workspace->device, bytes, &workspace->memory));
    workspace->bytes = bytes;
    return HEDDLE_OK;
}

size_t heddle_rung_workspace(const heddle_rung *rung, const void *shape, heddle_device *device)
{
    return rung->workspace ? rung->workspace(shape, heddle_pool_threads(heddle_device_pool(device))) : 0;
}

void heddle_node_call(const heddle_trace *trace, const heddle_trace_node *node, heddle_call *call)
{
    call->shape = node->shape;
    for (int i = 0; i < node->op->operand_count; i++) {
        heddle_value value = node->operand[i];
        void *memory = value == HEDDLE_NO_VALUE ? NULL : trace->values[trace->values[value].root].memory;
        int slot;
        if (heddle_operand_slot(node->op, i, &slot))
            call->output[slot] = memory;
        else
            call->input[slot] = memory;
    }
}

heddle_status heddle_run_node(const heddle_trace *trace, int node, heddle_tier tier, heddle_stream *stream,
                              heddle_workspace *workspace)
{
    const heddle_trace_node *run = &trace->nodes[node];
    heddle_device *device = heddle_stream_device(stream);
    const heddle_rung *rung;
    HEDDLE_TRY(heddle_rung_choose(run->op, heddle_device_get_kind(device), tier, HEDDLE_FULL, run->shape, &rung));
    HEDDLE_TRY(heddle_workspace_reserve(workspace, stream, heddle_rung_workspace(rung, run->shape, device)));
    heddle_call call = {.workspace = workspace->memory, .stream = stream};
    heddle_node_call(trace, run, &call);
    return heddle_launch(run->op, rung, &call);
}

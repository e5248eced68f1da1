// Runs single nodes of a trace. Which nodes and when is up to the eager tensors and the plan.

#include "nn/run.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/threads.h"
#include "device/device.h"

enum { ALIGNMENT = 256, MESSAGE_SIZE = 1024 };

// --- memory ---------------------------------------------------------------------------------------------------------

// `smaller`: what could be smaller.
static heddle_status allocate(heddle_device *device, const char *what, const char *smaller, size_t bytes, void **memory)
{
    heddle_status status = heddle_alloc(device, bytes, memory);
    heddle_device_info info;
    if (status != HEDDLE_OUT_OF_MEMORY || heddle_device_describe(device, &info) != HEDDLE_OK)
        return status;
    char wanted[32], free_now[32];
    return heddle_fail(HEDDLE_OUT_OF_MEMORY,
                       "no memory on %s for %s: %s wanted, %s free; choose a smaller %s or end what else is there",
                       heddle_device_kind_name(info.kind), what,
                       heddle_text_bytes((double)bytes, wanted, sizeof wanted),
                       heddle_text_bytes((double)info.memory_free, free_now, sizeof free_now), smaller);
}

heddle_status heddle_alloc_for(heddle_device *device, const char *what, size_t bytes, void **memory)
{
    return allocate(device, what, "batch", bytes, memory);
}

heddle_status heddle_alloc_for_model(heddle_device *device, const char *what, size_t bytes, void **memory)
{
    return allocate(device, what, "model", bytes, memory);
}

size_t heddle_parts_bytes(const heddle_part *parts, int count)
{
    size_t total = 0;
    for (int i = 0; i < count; i++)
        total += (parts[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return total;
}

static void place_parts(const heddle_part *parts, int count, char *memory)
{
    for (int i = 0; i < count; i++) {
        *parts[i].place = parts[i].bytes ? memory : NULL;
        memory += (parts[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}

heddle_status heddle_alloc_parts(heddle_device *device, const char *what, const heddle_part *parts, int count,
                                 void **memory)
{
    HEDDLE_TRY(heddle_alloc_for(device, what, heddle_parts_bytes(parts, count), memory));
    place_parts(parts, count, *memory);
    return HEDDLE_OK;
}

heddle_status heddle_alloc_pinned_parts(heddle_device *device, const heddle_part *parts, int count, void **memory)
{
    HEDDLE_TRY(heddle_alloc_pinned(device, heddle_parts_bytes(parts, count), memory));
    place_parts(parts, count, *memory);
    return HEDDLE_OK;
}

heddle_status heddle_wait_after(heddle_stream *stream, heddle_status status)
{
    char message[MESSAGE_SIZE];
    snprintf(message, sizeof message, "%s", heddle_last_error());
    heddle_status waited = heddle_stream_synchronize(stream);
    return status == HEDDLE_OK ? waited : heddle_fail(status, "%s", message);
}

// --- nodes ----------------------------------------------------------------------------------------------------------

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
    HEDDLE_TRY(heddle_alloc_for(workspace->device, "scratch memory", bytes, &workspace->memory));
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

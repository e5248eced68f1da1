// Copies and fills: one description for all of their forms, checked once and then queued.
#pragma once

#include "api/work.h"

// A copy of rows, as the program asked for it: 1-D is one row, 2-D one slice.
typedef struct sim_copy_request {
    void *to;
    const void *from;
    size_t to_pitch, to_slice, from_pitch, from_slice;
    size_t width, height, depth;
    enum cudaMemcpyKind kind;
} sim_copy_request;

sim_copy_request sim_copy_flat(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t sim_copy_rows(sim_copy_request *request, const struct cudaMemcpy3DParms *parameters);
// Checks direction and bounds; *pageable: one end is ordinary host memory.
cudaError_t sim_copy_check(const sim_copy_request *request, sim_work *work, bool *pageable);
// For a copy that runs later than the call: what it uses of the host's heap must still be there then.
void sim_copy_keep_blocks(sim_work *work);
cudaError_t sim_copy_now(const sim_copy_request *request);
cudaError_t sim_copy_in(const sim_copy_request *request, cudaStream_t handle);

cudaError_t sim_fill_check(const sim_fill *fill, bool *host_can_see);

// rows_trunk on tensor cores: the launchers, for every type of element.
#pragma once

#include "ops/rows_trunk/tensor_backward.h"
#include "ops/rows_trunk/tensor_forward.h"

static void tensor_launch(void (*kernel)(tensor_job, trunk_operands), int blocks, const heddle_call *call,
                          const tensor_job &job, const trunk_operands &on)
{
    const cudaStream_t stream = heddle_cuda_stream_of(call);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, job.layout.bytes);
    heddle_cuda_launch_dependent(kernel, dim3(blocks), dim3(32 * job.warps), job.layout.bytes, stream, job, on);
}

// Large blocks if each has a multiprocessor for itself: an image takes as long as its slowest warp.
static int tensor_warps_of(const trunk_shape *shape, bool is_backward)
{
    return shape->n <= heddle_cuda_multiprocessors() &&
                   tensor_layout_of(shape, is_backward, TENSOR_MOST_WARPS).bytes <= HEDDLE_ROWS_TRUNK_SHARED
               ? TENSOR_MOST_WARPS
               : TENSOR_WARPS;
}

template <typename Element> static heddle_status tensor_forward_with(const heddle_call *call, const char *rung)
{
    const trunk_shape *shape = (const trunk_shape *)call->shape;
    heddle_cuda_stream_of(call); // makes the device current
    const tensor_job job = tensor_job_of(shape, false, tensor_warps_of(shape, false));
    const int most = trunk_blocks_at_once(job.layout.bytes, TENSOR_MOST_WARPS / job.warps);
    tensor_launch(rows_trunk_forward<Element>, shape->n < most ? shape->n : most, call, job,
                  trunk_operands_of(call, false));
    return heddle_cuda_launched(rung);
}

template <typename Element> static heddle_status tensor_backward_with(const heddle_call *call, const char *rung)
{
    const trunk_shape *shape = (const trunk_shape *)call->shape;
    heddle_cuda_stream_of(call); // makes the device current
    tensor_job job = tensor_job_of(shape, true, tensor_warps_of(shape, true));
    job.part = heddle_trunk_part(shape);
    job.blocks = trunk_blocks_per_part(shape, job.layout.bytes, TENSOR_MOST_WARPS / job.warps);
    tensor_launch(rows_trunk_backward<Element>, shape->parts * job.blocks, call, job, trunk_operands_of(call, true));
    return heddle_cuda_launched(rung);
}

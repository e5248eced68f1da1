// rows_trunk on tensor cores: the launchers, for every type of element.
#pragma once

#include "ops/rows_trunk/tensor_backward.h"
#include "ops/rows_trunk/tensor_forward.h"

static void tensor_launch(void (*kernel)(tensor_job, trunk_operands), int blocks, const heddle_call *call,
                          const tensor_job &job, const trunk_operands &on)
{
    const cudaStream_t stream = heddle_cuda_stream_of(call);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, job.layout.bytes);
    heddle_cuda_launch_dependent(kernel, dim3(blocks), dim3(TENSOR_THREADS), job.layout.bytes, stream, job, on);
}

template <typename Element> static heddle_status tensor_forward_with(const heddle_call *call, const char *rung)
{
    const trunk_shape *shape = (const trunk_shape *)call->shape;
    const tensor_job job = tensor_job_of(shape, false);
    heddle_cuda_stream_of(call); // makes the device current
    const int most = trunk_blocks_at_once(job.layout.bytes, TENSOR_BLOCKS);
    tensor_launch(rows_trunk_forward<Element>, shape->n < most ? shape->n : most, call, job,
                  trunk_operands_of(call, false));
    return heddle_cuda_launched(rung);
}

template <typename Element> static heddle_status tensor_backward_with(const heddle_call *call, const char *rung)
{
    const trunk_shape *shape = (const trunk_shape *)call->shape;
    tensor_job job = tensor_job_of(shape, true);
    heddle_cuda_stream_of(call); // makes the device current
    job.part = heddle_trunk_part(shape);
    job.blocks = trunk_blocks_per_part(shape, job.layout.bytes, TENSOR_BLOCKS);
    tensor_launch(rows_trunk_backward<Element>, shape->parts * job.blocks, call, job, trunk_operands_of(call, true));
    return heddle_cuda_launched(rung);
}

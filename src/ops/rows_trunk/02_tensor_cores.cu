// rows_trunk, rung 2: one image per block at a time, its convolutions as products of fp16 on tensor cores.
//
// An image is the left side of a product where it lies: a pixel has its channels side by side in shared memory, and
// ldmatrix reads them at every tap of the filter. So nothing is copied into patches. The image itself is bytes, which
// fp16 holds exactly. Rows of a product are chosen so that a lane has whole windows of pooling.
//
// Limited by: the time that an image takes from its bytes to its row, one stage after another.

#include "ops/rows_trunk/tensor_backward.h"
#include "ops/rows_trunk/tensor_forward.h"

static void launch_kernel(void (*kernel)(tensor_job, trunk_operands), int blocks, const heddle_call *call,
                          const tensor_job &job, const trunk_operands &on)
{
    const cudaStream_t stream = heddle_cuda_stream_of(call);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, job.layout.bytes);
    heddle_cuda_launch_dependent(kernel, dim3(blocks), dim3(TENSOR_THREADS), job.layout.bytes, stream, job, on);
}

template <typename Element> static heddle_status forward_with(const heddle_call *call)
{
    const trunk_shape *shape = (const trunk_shape *)call->shape;
    const tensor_job job = tensor_job_of(shape, false);
    heddle_cuda_stream_of(call); // makes the device current
    const int most = trunk_blocks_at_once(job.layout.bytes, TENSOR_BLOCKS);
    launch_kernel(rows_trunk_forward<Element, false>, shape->n < most ? shape->n : most, call, job,
                  trunk_operands_of(call, false));
    return heddle_cuda_launched("02_tensor_cores");
}

template <typename Element> static heddle_status backward_with(const heddle_call *call)
{
    const trunk_shape *shape = (const trunk_shape *)call->shape;
    tensor_job job = tensor_job_of(shape, true);
    heddle_cuda_stream_of(call); // makes the device current
    job.part = heddle_trunk_part(shape);
    job.blocks = trunk_blocks_per_part(shape, job.layout.bytes, TENSOR_BLOCKS);
    launch_kernel(rows_trunk_backward<Element, false>, shape->parts * job.blocks, call, job,
                  trunk_operands_of(call, true));
    return heddle_cuda_launched("02_tensor_cores");
}

static heddle_status launch_forward(const heddle_call *call)
{
    return ((const trunk_shape *)call->shape)->half ? forward_with<__half>(call) : forward_with<__nv_bfloat16>(call);
}

static heddle_status launch_backward(const heddle_call *call)
{
    return ((const trunk_shape *)call->shape)->half ? backward_with<__half>(call) : backward_with<__nv_bfloat16>(call);
}

HEDDLE_CUDA_RUNG("rows_trunk_forward", "02_tensor_cores", launch_forward)
HEDDLE_CUDA_RUNG("rows_trunk_backward", "02_tensor_cores", launch_backward)

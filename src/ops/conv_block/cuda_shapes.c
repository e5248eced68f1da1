// The workspace of the CUDA rungs of conv_block. Their kernels include the same header.

#include "ops/conv_block/cuda_layout.h"
#include "ops/define.h"

// The gradient of the convolution, (n, h, w, k).
size_t heddle_conv_block_cuda_naive_backward_workspace(const void *shape, int threads)
{
    return heddle_conv_block_cpu_naive_backward_workspace(shape, threads);
}

HEDDLE_SHARED_WORKSPACE(heddle_conv_block_cuda_forward_workspace, heddle_conv_block_shape,
                        sizeof(float) * conv_block_forward_layout(shape).size)
HEDDLE_SHARED_WORKSPACE(heddle_conv_block_cuda_backward_workspace, heddle_conv_block_shape,
                        sizeof(float) * conv_block_backward_layout(shape).size)
HEDDLE_SHARED_WORKSPACE(heddle_conv_block_cuda_inference_workspace, heddle_conv_block_shape,
                        sizeof(float) * conv_block_inference_layout(shape).size)

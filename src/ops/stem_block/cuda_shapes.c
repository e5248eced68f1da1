// The workspace of the CUDA rungs of stem_block. Their kernels include the same header.

#include "ops/define.h"
#include "ops/stem_block/cuda_layout.h"

// The convolution, which the operator itself does not save, (n, h, w, k).
HEDDLE_SHARED_WORKSPACE(heddle_stem_block_cuda_naive_forward_workspace, heddle_conv_block_shape,
                        sizeof(float) * shape->n * shape->h * shape->w * shape->k)

// And its gradient.
size_t heddle_stem_block_cuda_naive_backward_workspace(const void *shape, int threads)
{
    return 2 * heddle_stem_block_cuda_naive_forward_workspace(shape, threads);
}

HEDDLE_SHARED_WORKSPACE(heddle_stem_block_cuda_forward_workspace, heddle_conv_block_shape,
                        stem_block_folded_bytes(shape) + stem_block_moment_parts_bytes(shape))
HEDDLE_SHARED_WORKSPACE(heddle_stem_block_cuda_backward_workspace, heddle_conv_block_shape,
                        stem_block_sum_parts_bytes(shape))
HEDDLE_SHARED_WORKSPACE(heddle_stem_block_cuda_inference_workspace, heddle_conv_block_shape,
                        stem_block_folded_bytes(shape))

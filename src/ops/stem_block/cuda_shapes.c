// How much workspace the CUDA rungs of stem_block need. Their kernels include the same header.

#include "ops/stem_block/cuda_layout.h"

// The convolution, which the operator itself does not keep, (n, h, w, k).
size_t heddle_stem_block_cuda_naive_forward_workspace(const void *shape_, int threads)
{
    const heddle_conv_block_shape *shape = shape_;
    (void)threads;
    return sizeof(float) * shape->n * shape->h * shape->w * shape->k;
}

// And its gradient.
size_t heddle_stem_block_cuda_naive_backward_workspace(const void *shape, int threads)
{
    return 2 * heddle_stem_block_cuda_naive_forward_workspace(shape, threads);
}

size_t heddle_stem_block_cuda_forward_workspace(const void *shape, int threads)
{
    (void)threads;
    return stem_block_folded_bytes(shape) + stem_block_moment_parts_bytes(shape);
}

size_t heddle_stem_block_cuda_backward_workspace(const void *shape, int threads)
{
    (void)threads;
    return stem_block_sum_parts_bytes(shape);
}

size_t heddle_stem_block_cuda_inference_workspace(const void *shape, int threads)
{
    (void)threads;
    return stem_block_folded_bytes(shape);
}

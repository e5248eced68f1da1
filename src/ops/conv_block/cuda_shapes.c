// How much workspace the CUDA rungs of conv_block need. Their kernels include the same header.

#include "ops/conv_block/cuda_layout.h"

// The gradient of the convolution, (n, h, w, k).
size_t heddle_conv_block_cuda_naive_backward_workspace(const void *shape, int threads)
{
    return heddle_conv_block_cpu_naive_backward_workspace(shape, threads);
}

size_t heddle_conv_block_cuda_forward_workspace(const void *shape, int threads)
{
    (void)threads;
    return sizeof(float) * conv_block_forward_layout(shape).size;
}

size_t heddle_conv_block_cuda_backward_workspace(const void *shape, int threads)
{
    (void)threads;
    return sizeof(float) * conv_block_backward_layout(shape).size;
}

size_t heddle_conv_block_cuda_inference_workspace(const void *shape, int threads)
{
    (void)threads;
    return sizeof(float) * conv_block_inference_layout(shape).size;
}

// conv_block inference, rung 2: batchnorm folded into the weight; relu and pooling in the registers of the convolution.
//
// Rung 1 computes every pixel by itself. At inference batchnorm is one factor and one shift per channel, known
// beforehand: the factor goes into the weight when it is packed, the shift is added at the end. The product's pixels
// are in the order of pooling windows (product.h), so the four that a thread loads together are one window. Their
// largest, shifted, is the pooled value, and only that is written.
//
// Limited by: multiplications and the instructions that feed them, like the forward pass.

#include "ops/conv_block/inference.h"

static heddle_status launch(const heddle_call *call)
{
    conv_block_launch_inference<false>(call);
    return heddle_cuda_launched("02_folded_batchnorm");
}

HEDDLE_CUDA_RUNG("conv_block_inference", "02_folded_batchnorm", launch)

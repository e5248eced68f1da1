// conv_block inference, rung 2: batchnorm folded into the weight, relu and pooling in the registers of the convolution.
//
// Rung 1 computes every pixel by itself. At inference batchnorm is a factor and a shift a channel, known beforehand:
// the factor goes into the weight when it is packed, the shift is added at the end. The product's pixels are taken in
// the order of pooling windows (product.h), so that the four that a thread loads side by side are one window: its
// largest, shifted, is the pooled value, and nothing but that is written.
//
// Limited by: multiplications and what goes with them, as forward is.

#include "ops/conv_block/inference.h"

static heddle_status launch(const heddle_call *call)
{
    conv_block_launch_inference<false>(call);
    return heddle_cuda_launched("02_folded_batchnorm");
}

HEDDLE_CUDA_RUNG("conv_block_inference", "02_folded_batchnorm", launch)

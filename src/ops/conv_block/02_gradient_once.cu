// conv_block backward, rung 2: the gradient of the convolution is computed once, from grad_output through pooling, relu
// and batchnorm, and serves two tiled products.
//
// Rung 1 writes it twice and reads it four times. It is
//     scale * (grad_output where the pixel won its window) - offset - slope * convolution
// with three numbers per channel that follow from two sums over the winners. The first kernel computes those sums, one
// pooled value at a time: 3 of 4 pixels are not part of them. The second writes the gradient. It could also be
// recomputed wherever the products need it. But the input's gradient reads every element nine times, once per tap, and
// the weight's once for every 96 columns; each time that would take three loads, a comparison and two multiplications
// for the 32 or 64 that use the element. Stored, it costs 8 bytes of traffic per element, and one load where it is
// needed.
//
// The gradient of the input is forward's convolution again (product.h), with channels and filters swapped. The gradient
// of the weight is a product with a sum over all pixels: a block has a tile of 64 filters by 96 columns (tap, channel)
// and a part of the pixels; a second pass adds the parts in order. Both factors are channels-last, so neighbouring
// columns are neighbours in memory: they are copied to shared memory unchanged, 16 bytes at a time.
//
// Limited by: multiplications and the instructions that feed them: 4 loads of 16 bytes from shared memory for 64 of
// them.

#include "ops/conv_block/backward.h"

static heddle_status launch(const heddle_call *call)
{
    conv_block_launch_backward<false>(call);
    return heddle_cuda_launched("02_gradient_once");
}

HEDDLE_CUDA_RUNG("conv_block_backward", "02_gradient_once", launch)

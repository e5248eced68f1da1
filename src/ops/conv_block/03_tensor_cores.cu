// conv_block backward and inference, rung 3: rung 2 with its products on tensor cores. Factors are rounded to tf32,
// sums are float32.
//
// Rung 2 is limited by multiplications, of which a warp issues 32 at a time. One mma.sync does 1024: a warp has 64
// pixels by 32 filters in the registers of 16 products, and loads 24 numbers per lane for them. Pixels have the same
// layout in shared memory as in the image, and are loaded by asynchronous copies (product_tf32.h); so are both factors
// of the weight's gradient (weight_gradient.h). Everything else, including the saved convolution, is as in rung 2.
//
// Forward has no such rung: rounded to tf32, windows with close values would get other winners, and their whole
// gradients would go elsewhere.
//
// Limited by: moving fragments through shared memory, one load of 4 bytes per lane for each half of a product; in
// backward by the memory traffic of the convolution and its gradient.

#include "ops/conv_block/backward.h"
#include "ops/conv_block/inference.h"

static heddle_status launch_backward(const heddle_call *call)
{
    conv_block_launch_backward<true>(call);
    return heddle_cuda_launched("03_tensor_cores");
}

static heddle_status launch_inference(const heddle_call *call)
{
    conv_block_launch_inference<true>(call);
    return heddle_cuda_launched("03_tensor_cores");
}

HEDDLE_CUDA_RUNG("conv_block_backward", "03_tensor_cores", launch_backward)
HEDDLE_CUDA_RUNG("conv_block_inference", "03_tensor_cores", launch_inference)

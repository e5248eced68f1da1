// rows_trunk, rung 2: one image per block at a time, its convolutions as products of fp16 on tensor cores.
//
// An image is the left side of a product where it lies: a pixel has its channels side by side in shared memory, and
// ldmatrix reads them at every tap of the filter. So nothing is copied into patches. The image itself is bytes, which
// fp16 holds exactly. Rows of a product are chosen so that a lane has whole windows of pooling.
//
// Limited by: the time that an image takes from its bytes to its row, one stage after another.

#include "ops/rows_trunk/tensor_launch.h"

static const char rung[] = "02_tensor_cores";

static bool is_half(const heddle_call *call)
{
    return ((const trunk_shape *)call->shape)->half;
}

static heddle_status launch_forward(const heddle_call *call)
{
    if (((const trunk_shape *)call->shape)->int8)
        return tensor_forward_with<int8_t>(call, rung);
    return is_half(call) ? tensor_forward_with<__half>(call, rung) : tensor_forward_with<__nv_bfloat16>(call, rung);
}

static heddle_status launch_backward(const heddle_call *call)
{
    return is_half(call) ? tensor_backward_with<__half>(call, rung) : tensor_backward_with<__nv_bfloat16>(call, rung);
}

HEDDLE_CUDA_RUNG("rows_trunk_forward", "02_tensor_cores", launch_forward)
HEDDLE_CUDA_RUNG("rows_trunk_backward", "02_tensor_cores", launch_backward)

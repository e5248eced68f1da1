// rows_trunk, rung 3: as rung 2, for rows of pairs. Every number is a pair of fp16 numbers, hi + lo / 2048, which has
// 22 bits, and every product is three: hi * hi, hi * lo and lo * hi. The bytes of the image have no lo, so that the
// first stage has two.
//
// Limited by: the time that an image takes from its bytes to its row, one stage after another.

#include "ops/rows_trunk/tensor_launch.h"

static heddle_status launch_forward(const heddle_call *call)
{
    return tensor_forward_with<rows_pair>(call, "03_pairs");
}

static heddle_status launch_backward(const heddle_call *call)
{
    return tensor_backward_with<rows_pair>(call, "03_pairs");
}

HEDDLE_CUDA_RUNG("rows_trunk_forward", "03_pairs", launch_forward)
HEDDLE_CUDA_RUNG("rows_trunk_backward", "03_pairs", launch_backward)

// matmul_bf16, rung 6: persistent blocks, in clusters of two that share their loads.
//
// Rung 5 paid for the start of every tile (barriers, an empty pipeline) and its end (stores while no product ran), and
// every block loaded its own copy of a strip of b from L2. Here a block computes tile after tile: its producer fills
// stages of the next one while its consumers finish the last. Rounded to bf16, a finished tile takes half as many
// registers as its sums. So it can wait in registers and be stored piece by piece behind the first products of the
// next: by stmatrix to shared memory, swizzled without bank conflicts, and from there by TMA, which writes whole lines
// and clips at the edges. Two blocks, one above the other in the output, form a cluster. Each loads its own 128 rows of
// a and one half of the 256 columns of b, which TMA delivers to both.
//
// Tiles are taken in bands of GROUP_ROWS tile rows. The blocks that run at one time then form nearly a square of the
// output and read the fewest rows of a and columns of b from device memory. An output with too few tiles for all SMs is
// cut into narrower ones, of 128 or 64 columns.
//
// Limited by: the tensor cores and their power: clocks drop before anything else saturates. A warpgroup reads (64 +
// 256) * 16 * 2 bytes of shared memory in the 128 cycles of a wgmma, 5/8 of its bandwidth.

#include "ops/matmul/wgmma_persistent.h"
#include "ops/matmul_bf16/matmul_bf16_cuda.h"

template <int MMajorA, int MMajorB> static heddle_status launch_layout(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const size_t columns_a = MMajorA ? shape->m : shape->k, columns_b = MMajorB ? shape->n : shape->k;
    const persistent_product<__nv_bfloat16> product = {*shape,
                                                       {},
                                                       "06_wgmma_persistent_clusters",
                                                       {call->input[0], columns_a * sizeof(__nv_bfloat16)},
                                                       {call->input[1], columns_b * sizeof(__nv_bfloat16)}};
    return persistent_launch<__nv_bfloat16, MMajorA, MMajorB>(call, &product);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    if (!tma_takes(call))
        return heddle_matmul_bf16_mma_sync(call);
    if (shape->transpose_a)
        return shape->transpose_b ? launch_layout<1, 0>(call) : launch_layout<1, 1>(call);
    return shape->transpose_b ? launch_layout<0, 0>(call) : launch_layout<0, 1>(call);
}

HEDDLE_CUDA_RUNG("matmul_bf16_forward", "06_wgmma_persistent_clusters", launch)

// matmul_batched, rung 2: matmul's tuned kernel, with the tiles of all products in one grid.
//
// Rung 1 loaded two floats from global memory per multiplication; the tuned kernel needs 6 loads from shared memory for
// 128. A batch is one launch: a block finds its product from its index. The tile size is chosen for all tiles of all
// products together, so that many small products fill the GPU like one large one.
//
// Limited by: the edges of tiles. A product of 100 by 100 takes four tiles of 64 by 64, and uses 61 % of them.

#include "ops/matmul_batched/product.h"

static heddle_status launch(const heddle_call *call)
{
    heddle_product product = heddle_matmul_batched_product((const heddle_matmul_batched_shape *)call->shape);
    product.a = (const float *)call->input[0];
    product.b = (const float *)call->input[1];
    product.output = (float *)call->output[0];
    return heddle_product_launch(&product, call->workspace, heddle_cuda_stream_of(call), "02_tuned");
}

HEDDLE_CUDA_RUNG("matmul_batched_forward", "02_tuned", launch)

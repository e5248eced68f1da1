// matmul_host, rung 1: tile after tile, everything on one stream.
//
// The matrices stay in host memory; the device holds one tile of the output and a panel of each factor. For each tile:
// copy two panels in, multiply and add, until all of k is done; then copy the tile out. Memory may be pageable or
// pinned.
//
// Limited by: serialisation. The SMs wait during copies, and both copy engines wait during products: the time is the
// sum of the copies in, the products and the copies out.

#include "ops/matmul_host/tiles.h"

static heddle_status launch(const heddle_call *call)
{
    cudaStream_t stream = heddle_cuda_stream_of(call);
    host_product product = host_product_of(call, 1, host_multiply_tuned);
    host_buffers buffers = host_buffers_of(&product, 0);
    for (int tile = 0; tile < product.plan.tiles_m * product.plan.tiles_n; tile++) {
        host_step step = heddle_matmul_host_begin(&product.shape, &product.plan, tile);
        for (;; step = heddle_matmul_host_next(&product.shape, &product.plan, step)) {
            HEDDLE_TRY(host_load(&product, &step, &buffers, stream));
            HEDDLE_TRY(host_multiply(&product, &step, &buffers, buffers.output, 0, step.rows));
            if (step.last)
                break;
        }
        HEDDLE_TRY(host_store(&product, &step, buffers.output, 0, step.rows, stream));
    }
    return HEDDLE_OK;
}

HEDDLE_CUDA_RUNG("matmul_host", "01_one_stream", launch)

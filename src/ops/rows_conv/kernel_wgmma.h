// The kernel behind rows_conv_forward, rows_conv_pool and rows_conv_backward_data on Hopper: loads and products of
// product_wgmma.h, and the epilogues of store_wgmma.h and pool_wgmma.h.
#pragma once

#include "ops/rows_conv/pool_wgmma.h"

// Steps: 4, or 2 if the input has at most 32 channels.
template <typename Element, int Rows, int Share, int Steps, int Turned, int End>
__global__ void __launch_bounds__(ROWS_THREADS, 1)
    rows_product_wgmma(const __grid_constant__ rows_product job, const __grid_constant__ CUtensorMap map_input,
                       const __grid_constant__ CUtensorMap map_weight, const __grid_constant__ CUtensorMap map_output,
                       const rows_epilogue end)
{
    extern __shared__ unsigned char shared[];
    __shared__ rows_product_barriers barriers;
    __shared__ float channel_sums[ROWS_WARPGROUPS][2][64];
    __shared__ bool last;
    __shared__ uint32_t marks[ROWS_WARPGROUPS][Rows / 32];
    unsigned char *weights =
        shared + (HOPPER_ROWS_BYTES - hopper_shared(shared) % HOPPER_ROWS_BYTES) % HOPPER_ROWS_BYTES;
    unsigned char *inputs = weights + job.weight_stages * (Share ? 2 : 1) * ROWS_BOX_BYTES;
    const int ring_bytes = job.input_stages * job.boxes * job.box_rows * HOPPER_ROW_BYTES;
    unsigned char *boxes = inputs + (Share ? 1 : ROWS_WARPGROUPS) * ring_bytes;
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / HOPPER_WARPGROUP, 0);
    const rows_block block = rows_block_of<Share>(job);
    if (threadIdx.x == 0) {
        for (int i = 0; i < job.weight_stages; i++) {
            mbarrier_init(&barriers.weights_full[i], 1);
            mbarrier_init(&barriers.weights_empty[i], ROWS_WARPGROUPS);
        }
        for (int i = 0; i < job.input_stages; i++)
            for (int ring = 0; ring < (Share ? 1 : ROWS_WARPGROUPS); ring++) {
                mbarrier_init(&barriers.input_full[ring][i], 1);
                mbarrier_init(&barriers.input_empty[ring][i], Share ? ROWS_WARPGROUPS : 1);
            }
        mbarrier_init_fence();
    }
    __syncthreads();
    if (warpgroup == ROWS_WARPGROUPS) {
        registers_give_back<ROWS_PRODUCER_REGISTERS>();
        const int warp = threadIdx.x % HOPPER_WARPGROUP / 32;
        // Weights were written before the previous kernel: they need not wait for it.
        if (threadIdx.x % 32 == 0 && warp == 0)
            rows_load_weights<Share, Turned, rows_loads<Element, Steps>::PAIRS, rows_factor<Element>::BYTES>(
                job, block, &map_weight, weights, &barriers);
        heddle_wait_for_previous();
        heddle_release_next();
        if (threadIdx.x % 32 == 0 && warp > 0 && warp <= (Share ? 1 : ROWS_WARPGROUPS))
            rows_load_input<Rows, Share, rows_loads<Element, Steps>::PAIRS, End == ROWS_END_POOL>(
                job, block, &map_input, inputs + (warp - 1) * ring_bytes, &barriers, warp - 1);
        return;
    }
    registers_take<ROWS_CONSUMER_REGISTERS>();
    heddle_wait_for_previous();
    heddle_release_next();
    const int ring = Share ? 0 : warpgroup;
    rows_reader from = {inputs + ring * ring_bytes,
                        weights + (Share ? warpgroup : 0) * ROWS_BOX_BYTES,
                        &barriers,
                        ring,
                        {0, 0},
                        {0, 0},
                        -1,
                        -1};
    typename rows_factor<Element>::sum sums[Rows / 2];
    float totals[4] = {0, 0, 0, 0};
    for (int round = 0; round < block.rounds; round++) {
        rows_multiply<Element, Rows, Share, Steps, Turned>(job, sums, &from);
        unsigned char *own_boxes = boxes + warpgroup * ROWS_OUT_BOXES * ROWS_BOX_BYTES;
        const int tile = rows_tile_of<Share>(block, round, warpgroup), row = tile * Rows;
        const int channel = block.channel + (Share ? warpgroup * 64 : 0);
        if constexpr (End == ROWS_END_POOL)
            rows_finish_pool<Element, Rows>(job, end, sums, boxes + threadIdx.x / 32 * rows_pool_bytes(Rows), tile,
                                            channel);
        else if constexpr (rows_factor<Element>::BYTES)
            rows_finish_bytes<Rows>(job, end, sums, &map_output, own_boxes, marks[warpgroup], row, channel, warpgroup);
        else
            rows_finish_tile<Element, Rows, End>(job, end, sums, &map_output, own_boxes, marks[warpgroup], totals, row,
                                                 channel, warpgroup);
    }
    if (End == ROWS_END_SUMS)
        rows_store_sums<Share>(job, end, totals, channel_sums, &last, (double *)weights, block, warpgroup);
    if (threadIdx.x % HOPPER_WARPGROUP == 0)
        tma_store_wait_read<0>();
}

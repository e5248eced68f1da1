// The gradient of 3x3 filters of at most 32 channels in and out: gradient_wgmma.h the other way round.
//
// There a product has 64 channels of grad_output by three taps of 64 channels of the input; of 32 channels each, a
// quarter of it would be of use. Here wgmma's 64 are two taps of 32 input channels, the second tap's rows some rows
// further on, and its 32 columns are the channels of grad_output. Nine taps take five products. The half that is left
// has ones in place of a tap: its sums are the gradient of the bias.
//
// Two warpgroups take turns with the stages of rows, and add their sums through shared memory at the end, as the blocks
// of a cluster do.
//
// Limited by: device memory.
#pragma once

#include "ops/rows_conv/gradient_wgmma.h"
#include "ops/rows_conv/narrow_wgmma.h"

enum {
    NARROW_TAPS = 9,
    NARROW_PRODUCTS = (NARROW_TAPS + 1) / 2,
    NARROW_SUMS_PITCH = NARROW_PRODUCTS * 64 + 4, // floats from channel to channel of grad_output
    NARROW_SUMS = NARROW * NARROW_SUMS_PITCH,     // of a warpgroup
    NARROW_ONES_BYTES = ROWS_STEP * NARROW_ROW_BYTES,
};

struct narrow_gradient {
    int rows, c, k;
    int first, halo; // the smallest shift; input rows in one stage
    int stages;
    int parts, part_stages; // stages of rows in one part
    int cluster;            // blocks that share a part
    int shift[NARROW_TAPS];
};

// The products of a stage: each two taps by 32 channels, 16 rows at a time.
template <typename Element>
HOPPER_DEVICE void narrow_gradient_multiply(const narrow_gradient &job, float (&sums)[NARROW_PRODUCTS][NARROW / 2],
                                            const unsigned char *output, const unsigned char *input,
                                            const unsigned char *ones)
{
    const uint64_t b = narrow_descriptor(output);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < NARROW_PRODUCTS; i++) {
        const unsigned char *first = input + (job.shift[2 * i] - job.first) * NARROW_ROW_BYTES;
#pragma unroll
        for (int step = 0; step < ROWS_GRADIENT_ROWS / ROWS_STEP; step++) {
            const unsigned char *from = first + step * ROWS_STEP * NARROW_ROW_BYTES;
            const int apart = 2 * i + 1 < NARROW_TAPS ? (job.shift[2 * i + 1] - job.shift[2 * i]) * NARROW_ROW_BYTES
                                                      : (int)(ones - from);
            wgmma16<NARROW, Element>::template multiply<1, 1>(
                sums[i], narrow_descriptor(from) | (uint64_t)(apart >> 4) << 16,
                wgmma_descriptor_at(b, step * ROWS_STEP * NARROW_ROW_BYTES), 1);
        }
    }
    wgmma_commit();
    wgmma_wait<0>();
}

template <typename Element>
__global__ void __launch_bounds__(ROWS_THREADS, 1)
    rows_gradient_narrow(const __grid_constant__ narrow_gradient job, const __grid_constant__ CUtensorMap map_output,
                         const __grid_constant__ CUtensorMap map_input, float *gradient, float *bias)
{
    extern __shared__ unsigned char shared[];
    __shared__ rows_gradient_barriers barriers;
    unsigned char *stages =
        shared + (HOPPER_ROWS_BYTES - hopper_shared(shared) % HOPPER_ROWS_BYTES) % HOPPER_ROWS_BYTES;
    const int output_bytes = ROWS_GRADIENT_ROWS * NARROW_ROW_BYTES;
    const int stage_bytes = output_bytes + job.halo * NARROW_ROW_BYTES;
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / HOPPER_WARPGROUP, 0);
    const int rank = blockIdx.x % job.cluster, part = blockIdx.x / job.cluster;
    const int all = (job.rows + ROWS_GRADIENT_ROWS - 1) / ROWS_GRADIENT_ROWS;
    const int share = (job.part_stages + job.cluster - 1) / job.cluster, first = part * job.part_stages + rank * share;
    const int count = min(min(share, job.part_stages - rank * share), all - first); // may be negative: none
    if (threadIdx.x == 0) {
        for (int i = 0; i < job.stages; i++) {
            mbarrier_init(&barriers.full[i], 1);
            mbarrier_init(&barriers.empty[i], 1);
        }
        mbarrier_init_fence();
    }
    Element *ones = (Element *)(stages + job.stages * stage_bytes);
    for (int i = threadIdx.x; i < NARROW_ONES_BYTES / (int)sizeof(Element); i += ROWS_THREADS)
        ones[i] = rows_element<Element>::round(1.0f);
    tma_fence_written();
    __syncthreads();
    heddle_wait_for_previous();
    heddle_release_next();
    float *kept = (float *)stages;
    if (warpgroup == ROWS_WARPGROUPS) {
        registers_give_back<ROWS_PRODUCER_REGISTERS>();
        rows_stage at = {0, 0};
        const bool loads = threadIdx.x % HOPPER_WARPGROUP == 0;
        for (int i = 0; loads && i < count; i++) {
            const int row = (first + i) * ROWS_GRADIENT_ROWS;
            unsigned char *place = stages + at.index * stage_bytes;
            mbarrier_wait(&barriers.empty[at.index], at.phase ^ 1);
            mbarrier_arrive_expect(&barriers.full[at.index], stage_bytes);
            tma_load(place, &map_output, 0, row, &barriers.full[at.index]);
            tma_load(place + output_bytes, &map_input, 0, row + job.first, &barriers.full[at.index]);
            rows_advance(&at, job.stages);
        }
        __syncwarp();
        __barrier_sync_count(ROWS_GRADIENT_DONE, ROWS_THREADS); // __syncthreads would have to be one for all
    } else {
        registers_take<ROWS_CONSUMER_REGISTERS>();
        float sums[NARROW_PRODUCTS][NARROW / 2] = {};
        for (int i = warpgroup; i < count; i += ROWS_WARPGROUPS) {
            const int index = i % job.stages;
            const unsigned char *place = stages + index * stage_bytes;
            mbarrier_wait(&barriers.full[index], i / job.stages % 2);
            narrow_gradient_multiply<Element>(job, sums, place, place + output_bytes, (const unsigned char *)ones);
            if (threadIdx.x % HOPPER_WARPGROUP == 0)
                mbarrier_arrive(&barriers.empty[index]);
        }
        const int lane = threadIdx.x % 32, warp = threadIdx.x % HOPPER_WARPGROUP / 32;
        __barrier_sync_count(ROWS_GRADIENT_DONE, ROWS_THREADS); // by all warpgroups: the operands' memory is free
#pragma unroll
        for (int i = 0; i < NARROW_PRODUCTS; i++) {
            wgmma_settle(sums[i]);
#pragma unroll
            for (int j = 0; j < NARROW / 2; j++)
                kept[warpgroup * NARROW_SUMS + (j / 4 * 8 + lane % 4 * 2 + j % 2) * NARROW_SUMS_PITCH + i * 64 +
                     warp * 16 + j / 2 % 2 * 8 + lane / 4] = sums[i][j];
        }
    }
    if (job.cluster > 1)
        cluster_sync();
    else
        __syncthreads();
    // This block's share of the cluster's sums: (part, k, tap, c), and (part, k) behind the last tap.
    const int quads = NARROW / 4, taps = NARROW_TAPS + 1;
    for (int i = rank * ROWS_THREADS + threadIdx.x; i < NARROW * taps * quads; i += job.cluster * ROWS_THREADS) {
        const int c = i % quads * 4, tap = i / quads % taps, k = i / quads / taps;
        float4 sum = make_float4(0, 0, 0, 0);
        for (int block = 0; block < job.cluster; block++)
            for (int half = 0; half < ROWS_WARPGROUPS; half++) {
                const float *from = &kept[half * NARROW_SUMS + k * NARROW_SUMS_PITCH + tap * NARROW + c];
                const float4 more = job.cluster > 1 ? cluster_read(from, block) : *(const float4 *)from;
                sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
            }
        if (tap < NARROW_TAPS && k < job.k && c < job.c) // c is a multiple of 8
            *(float4 *)&gradient[(((size_t)part * job.k + k) * NARROW_TAPS + tap) * job.c + c] = sum;
        if (tap == NARROW_TAPS && k < job.k && c == 0 && bias)
            bias[(size_t)part * job.k + k] = sum.x;
    }
    if (job.cluster > 1) // no block exits while another reads its sums
        cluster_sync();
}

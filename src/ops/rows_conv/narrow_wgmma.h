// The product of rows_conv for at most 32 channels in and out: rows by channels, not channels by rows.
//
// wgmma multiplies 64 by up to 256. product_wgmma.h has channels where the 64 are: of 32 channels, half of each product
// would be for nothing. Here the 64 are rows, and 32 columns are the channels. A row of 32 channels has 64 bytes, so
// that memory holds twice as many stages of rows, with TMA's swizzle of 64 bytes.
//
// Two warpgroups have tiles of their own; all weights stay in shared memory. A thread holds eight channels of many
// rows: their sums for a batchnorm stay in its registers, and pass through shared memory once, at the end.
//
// Limited by: device memory.
#pragma once

#include "ops/rows_conv/store_wgmma.h"

enum {
    NARROW = 32,                                  // channels, at most
    NARROW_ROW_BYTES = 64,                        // of 32 channels
    NARROW_ROWS_BYTES = 8 * NARROW_ROW_BYTES,     // the period of the swizzle
    NARROW_TAP_BYTES = NARROW * NARROW_ROW_BYTES, // the weights of one tap
    NARROW_WARPS = HOPPER_WARPGROUP / 32,         // of a warpgroup
    NARROW_OWN = 8,                               // channels of a thread
};

struct narrow_barriers {
    uint64_t weights_full;
    uint64_t input_full[ROWS_WARPGROUPS][ROWS_MOST_INPUTS], input_empty[ROWS_WARPGROUPS][ROWS_MOST_INPUTS];
};

// A matrix of 16-bit elements in boxes of 32 columns.
static inline heddle_status narrow_map(CUtensorMap *map, const void *matrix, int rows, int columns, unsigned box_rows)
{
    const cuuint64_t size[2] = {(cuuint64_t)columns, (cuuint64_t)rows}, pitch[1] = {columns * sizeof(uint16_t)};
    const cuuint32_t box[2] = {NARROW, box_rows};
    return tma_map_boxes(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, matrix, 2, size, pitch, box, CU_TENSOR_MAP_SWIZZLE_64B);
}

// The descriptor of an operand whose rows have 64 bytes: 512 bytes between groups of 8 rows, and the 64-byte swizzle.
HOPPER_DEVICE uint64_t narrow_descriptor(const void *shared)
{
    return (hopper_shared(shared) & 0x3ffff) >> 4 | (uint64_t)(NARROW_ROWS_BYTES >> 4) << 32 | (uint64_t)2 << 62;
}

HOPPER_DEVICE void narrow_load_weights(const rows_product &job, const CUtensorMap *map, unsigned char *weights,
                                       int tap_columns, uint64_t *full)
{
    mbarrier_arrive_expect(full, job.taps * NARROW_TAP_BYTES);
    for (int tap = 0; tap < job.taps; tap++)
        tma_load(weights + tap * NARROW_TAP_BYTES, map, tap * tap_columns, 0, full);
}

// The rows of one warpgroup's tiles.
template <int Rows>
HOPPER_DEVICE void narrow_load_input(const rows_product &job, const rows_block &block, const CUtensorMap *map,
                                     unsigned char *stages, narrow_barriers *barriers, int warpgroup)
{
    const int box_bytes = job.box_rows * NARROW_ROW_BYTES;
    rows_stage at = {0, 0};
    for (int round = 0; round < block.rounds; round++) {
        const int row = rows_tile_of<0>(block, round, warpgroup) * Rows + job.first;
        uint64_t *full = &barriers->input_full[warpgroup][at.index];
        mbarrier_wait(&barriers->input_empty[warpgroup][at.index], at.phase ^ 1);
        mbarrier_arrive_expect(full, job.boxes * box_bytes);
        for (int box = 0; box < job.boxes; box++)
            tma_load(stages + (at.index * job.boxes + box) * box_bytes, map, 0, row + box * job.box_rows, full);
        rows_advance(&at, job.input_stages);
    }
}

// All products of one tile: sums (Rows, 32 channels).
template <typename Element, int Rows, int Turned>
HOPPER_DEVICE void narrow_multiply(const rows_product &job, float (&sums)[Rows / 64][NARROW / 2],
                                   const unsigned char *input, const unsigned char *weights)
{
    const int along = ROWS_STEP * (Turned ? (int)NARROW_ROW_BYTES : 2);
    wgmma_fence();
    for (int tap = 0; tap < job.taps; tap++) {
        const uint64_t a = narrow_descriptor(input + (job.shift[tap] - job.first) * NARROW_ROW_BYTES);
        const uint64_t b = narrow_descriptor(weights + tap * NARROW_TAP_BYTES);
#pragma unroll
        for (int part = 0; part < Rows / 64; part++)
#pragma unroll
            for (int step = 0; step < NARROW / ROWS_STEP; step++)
                wgmma16<NARROW, Element>::template multiply<0, Turned>(
                    sums[part], wgmma_descriptor_at(a, part * 64 * NARROW_ROW_BYTES + step * ROWS_STEP * 2),
                    wgmma_descriptor_at(b, step * along), tap + step > 0);
    }
    wgmma_commit();
    wgmma_wait<0>();
#pragma unroll
    for (int part = 0; part < Rows / 64; part++)
        wgmma_settle(sums[part]);
}

// Stores a tile, and adds the thread's channels to its totals: sums, then sums of squares.
template <typename Element, int Rows, int End>
HOPPER_DEVICE void narrow_finish(const rows_product &job, const rows_epilogue &end,
                                 float (&sums)[Rows / 64][NARROW / 2], const float (&bias)[NARROW_OWN],
                                 const CUtensorMap *map, unsigned char *place, uint32_t *marks,
                                 float (&totals)[2][NARROW_OWN], int row, int warpgroup)
{
    const int thread = threadIdx.x % HOPPER_WARPGROUP, lane = thread % 32, warp = thread / 32;
    const bool marked = End == ROWS_END_SUMS || end.zero_gaps;
    if (marked)
        rows_mark<Rows>(job, row, marks, warpgroup);
    if (thread == 0)
        tma_store_wait_read<0>();
    warpgroup_sync(1 + warpgroup); // the tile before has been stored
#pragma unroll
    for (int part = 0; part < Rows / 64; part++) {
        const uint32_t bits = marked ? marks[part * 2 + warp / 2] >> (warp % 2 * 16 + lane / 4) : ~0u;
        uint32_t packed[NARROW_OWN];
#pragma unroll
        for (int i = 0; i < NARROW / 2; i++)
            sums[part][i] += bias[i / 4 * 2 + i % 2];
        rows_apply<rows_precision<Element, Rows, End>()>(end.function, sums[part]);
#pragma unroll
        for (int i = 0; i < NARROW_OWN; i++) { // two channels of a row: of eight channels the upper row, then the lower
            const bool held = bits >> i % 2 * 8 & 1;
            const float *value = &sums[part][2 * i];
#pragma unroll
            for (int j = 0; j < 2 && End == ROWS_END_SUMS; j++) {
                const float counted = held ? value[j] : 0;
                totals[0][i / 2 * 2 + j] += counted;
                totals[1][i / 2 * 2 + j] += counted * counted;
            }
            const bool stored = held || !end.zero_gaps;
            packed[i] = rows_pack<Element>(0, stored ? value[0] : 0, stored ? value[1] : 0);
        }
#pragma unroll
        for (int i = 0; i < NARROW_OWN; i += 4) { // 16 rows of the warp by 16 channels
            const int at = part * 64 + warp * 16 + lane % 16, chunk = i / 2 + lane / 16;
            stmatrix_x4(place + at * NARROW_ROW_BYTES + (chunk ^ at / 2 % 4) * 16, packed[i], packed[i + 1],
                        packed[i + 2], packed[i + 3]);
        }
    }
    tma_fence_written();
    warpgroup_sync(1 + warpgroup);
    if (thread == 0) {
        tma_store(map, place, 0, row);
        tma_store_commit();
    }
}

// The totals of a block's warps, of both kinds, in shared memory.
typedef float narrow_totals[2][NARROW];

HOPPER_DEVICE void narrow_keep(float (&totals)[2][NARROW_OWN], narrow_totals *kept)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int which = 0; which < 2; which++)
#pragma unroll
        for (int own = 0; own < NARROW_OWN; own++) {
            float total = totals[which][own];
            for (int distance = 4; distance < 32; distance *= 2)
                total += __shfl_xor_sync(~0u, total, distance);
            if (lane < 4)
                kept[warp][which][own / 2 * 8 + lane * 2 + own % 2] = total;
        }
}

template <typename Element, int Rows, int Turned, int End>
__global__ void __launch_bounds__(ROWS_THREADS, 1)
    rows_narrow_wgmma(const __grid_constant__ rows_product job, const __grid_constant__ CUtensorMap map_input,
                      const __grid_constant__ CUtensorMap map_weight, const __grid_constant__ CUtensorMap map_output,
                      const rows_epilogue end)
{
    extern __shared__ unsigned char shared[];
    __shared__ narrow_barriers barriers;
    __shared__ narrow_totals kept[ROWS_WARPGROUPS * NARROW_WARPS];
    __shared__ bool last;
    __shared__ uint32_t marks[ROWS_WARPGROUPS][Rows / 32];
    unsigned char *weights =
        shared + (HOPPER_ROWS_BYTES - hopper_shared(shared) % HOPPER_ROWS_BYTES) % HOPPER_ROWS_BYTES;
    const int ring_bytes = job.input_stages * job.boxes * job.box_rows * NARROW_ROW_BYTES;
    unsigned char *inputs = weights + job.taps * NARROW_TAP_BYTES, *places = inputs + ROWS_WARPGROUPS * ring_bytes;
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / HOPPER_WARPGROUP, 0);
    const rows_block block = rows_block_of<0>(job);
    if (threadIdx.x == 0) {
        mbarrier_init(&barriers.weights_full, 1);
        for (int i = 0; i < job.input_stages; i++)
            for (int ring = 0; ring < ROWS_WARPGROUPS; ring++) {
                mbarrier_init(&barriers.input_full[ring][i], 1);
                mbarrier_init(&barriers.input_empty[ring][i], 1);
            }
        mbarrier_init_fence();
    }
    __syncthreads();
    if (warpgroup == ROWS_WARPGROUPS) {
        registers_give_back<ROWS_PRODUCER_REGISTERS>();
        const int warp = threadIdx.x % HOPPER_WARPGROUP / 32;
        // Weights were written before the previous kernel: they need not wait for it.
        if (threadIdx.x % 32 == 0 && warp == 0)
            narrow_load_weights(job, &map_weight, weights, Turned ? job.k : job.c, &barriers.weights_full);
        heddle_wait_for_previous();
        heddle_release_next();
        if (threadIdx.x % 32 == 0 && warp > 0 && warp <= ROWS_WARPGROUPS)
            narrow_load_input<Rows>(job, block, &map_input, inputs + (warp - 1) * ring_bytes, &barriers, warp - 1);
        return;
    }
    registers_take<ROWS_CONSUMER_REGISTERS>();
    float bias[NARROW_OWN], totals[2][NARROW_OWN] = {};
#pragma unroll
    for (int own = 0; own < NARROW_OWN; own++) {
        const int channel = own / 2 * 8 + threadIdx.x % 4 * 2 + own % 2;
        bias[own] = end.bias && channel < job.k ? end.bias[channel] : 0;
    }
    heddle_wait_for_previous();
    heddle_release_next();
    unsigned char *place = places + warpgroup * Rows * NARROW_ROW_BYTES;
    rows_stage at = {0, 0};
    mbarrier_wait(&barriers.weights_full, 0);
    for (int round = 0; round < block.rounds; round++) {
        float sums[Rows / 64][NARROW / 2];
        mbarrier_wait(&barriers.input_full[warpgroup][at.index], at.phase);
        narrow_multiply<Element, Rows, Turned>(
            job, sums, inputs + warpgroup * ring_bytes + at.index * job.boxes * job.box_rows * NARROW_ROW_BYTES,
            weights);
        if (threadIdx.x % HOPPER_WARPGROUP == 0)
            mbarrier_arrive(&barriers.input_empty[warpgroup][at.index]);
        rows_advance(&at, job.input_stages);
        narrow_finish<Element, Rows, End>(job, end, sums, bias, &map_output, place, marks[warpgroup], totals,
                                          rows_tile_of<0>(block, round, warpgroup) * Rows, warpgroup);
    }
    if (End == ROWS_END_SUMS) {
        narrow_keep(totals, kept);
        rows_publish_sums(job, end, &last, (double *)weights, block, job.k, [&](int which, int channel) {
            float sum = 0;
            for (int warp = 0; warp < ROWS_WARPGROUPS * NARROW_WARPS; warp++)
                sum += kept[warp][which][channel];
            return sum;
        });
    }
    if (threadIdx.x % HOPPER_WARPGROUP == 0)
        tma_store_wait_read<0>();
}

// A product of few rows on Hopper, for linear layers of small batches: one cluster per tile.
//
// With 64 rows, a layer of 1024 outputs has 16 tiles of 64 by 64: 16 SMs would each read a long strip of weights while
// the others are idle. Here the blocks of a cluster, and the two warpgroups of each, share a tile's columns. Each
// leaves its sums in shared memory. Every block adds eight of the tile's rows from all of them, applies the epilogue
// and stores them.
//
// Limited by: latency: two trips to memory, one to the other blocks.
#pragma once

#include "ops/rows_conv/gradient_wgmma.h"
#include "ops/rows_conv/store_wgmma.h"

enum {
    LINEAR_ROWS = 64, // of a tile, and its channels
    LINEAR_MOST_CLUSTER = 16,
    LINEAR_STAGES = 6,                       // of each warpgroup, at most
    LINEAR_STAGE_BYTES = 2 * ROWS_BOX_BYTES, // 64 channels and 64 rows, by 64 columns
    LINEAR_SUMS = LINEAR_ROWS / 2,           // per thread
    // Sums are stored as threads hold them: 32 per thread, in groups of four that a block adds, 16 bytes of each thread
    // adjacent.
    LINEAR_SUMS_BYTES = ROWS_WARPGROUPS * LINEAR_SUMS * HOPPER_WARPGROUP * (int)sizeof(float),
};

// Shared memory of a block with so many stages.
static inline int linear_bytes(int stages)
{
    return HOPPER_ROWS_BYTES + ROWS_WARPGROUPS * stages * LINEAR_STAGE_BYTES + LINEAR_SUMS_BYTES;
}

struct rows_linear {
    int rows, c, k;
    int chunks;  // of 64 columns, in all passes
    int cluster; // blocks that share a tile: 1, 2, 4, 8 or 16
    int channel_tiles;
    int pass_chunks; // chunks in one pass
    int stages;      // of each warpgroup: no more than it has chunks, so that the next kernel's blocks find room
};

struct rows_linear_barriers {
    uint64_t full[ROWS_WARPGROUPS][LINEAR_STAGES], empty[ROWS_WARPGROUPS][LINEAR_STAGES];
};

// One warpgroup's chunks: every n-th of all, starting with its own.
template <int Turned, int Pairs, int Bytes>
HOPPER_DEVICE void linear_load(const rows_linear &job, const CUtensorMap *map_input, const CUtensorMap *map_weight,
                               unsigned char *stages, rows_linear_barriers *barriers, int warpgroup, int first,
                               int step, int row, int channel, bool inputs)
{
    rows_stage at = {0, 0};
    for (int chunk = first; chunk < job.chunks; chunk += step) {
        uint64_t *full = &barriers->full[warpgroup][at.index];
        unsigned char *place = stages + at.index * LINEAR_STAGE_BYTES;
        mbarrier_wait(&barriers->empty[warpgroup][at.index], at.phase ^ 1);
        const int pass = Pairs ? chunk / job.pass_chunks : (int)ROWS_NONE_LOWER;
        const int column = (Pairs ? chunk % job.pass_chunks : chunk) * ROWS_CHUNK;
        if (inputs) {
            rows_load_box<Pairs>(place + ROWS_BOX_BYTES, map_input, 0, 0, pass == ROWS_INPUT_LOWER, column, row, full);
        } else {
            mbarrier_arrive_expect(full, LINEAR_STAGE_BYTES);
            if (Bytes)
                tma_load5(place, map_weight, column, 0, 0, 0, channel / ROWS_WEAVE, full);
            else
                rows_load_box<Pairs>(place, map_weight, 0, 0, pass == ROWS_OTHER_LOWER, Turned ? channel : column,
                                     Turned ? column : channel, full);
        }
        rows_advance(&at, job.stages);
    }
}

// Those of them from `first` to `end`; returns the next one. `used` is the stage that is yet to be released; -1: none.
// `begun`: the sums are added to.
template <typename Element, int Turned>
HOPPER_DEVICE int linear_multiply_chunks(const rows_linear &job,
                                         typename rows_factor<Element>::sum (&sums)[LINEAR_SUMS],
                                         const unsigned char *stages, rows_linear_barriers *barriers, int warpgroup,
                                         int first, int end, int step, rows_stage *at, int *used, int begun)
{
    const int along = ROWS_STEP * (Turned ? (int)HOPPER_ROW_BYTES : 2);
    int chunk = first;
    for (; chunk < end; chunk += step) {
        const uint64_t a = wgmma_descriptor(stages + at->index * LINEAR_STAGE_BYTES, 0);
        const uint64_t b = wgmma_descriptor(stages + at->index * LINEAR_STAGE_BYTES + ROWS_BOX_BYTES, 0);
        mbarrier_wait(&barriers->full[warpgroup][at->index], at->phase);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < ROWS_CHUNK / ROWS_STEP; i++)
            wgmma16<LINEAR_ROWS, typename rows_factor<Element>::type>::template multiply<Turned, 0>(
                sums, wgmma_descriptor_at(a, i * along), wgmma_descriptor_at(b, i * ROWS_STEP * 2),
                begun || chunk > first || i > 0);
        wgmma_commit();
        wgmma_wait<1>();
        if (*used >= 0 && threadIdx.x % HOPPER_WARPGROUP == 0)
            mbarrier_arrive(&barriers->empty[warpgroup][*used]);
        *used = at->index;
        rows_advance(at, job.stages);
    }
    wgmma_wait<0>();
    return chunk;
}

template <typename Element, int Turned>
HOPPER_DEVICE void linear_multiply(const rows_linear &job, typename rows_factor<Element>::sum (&sums)[LINEAR_SUMS],
                                   const unsigned char *stages, rows_linear_barriers *barriers, int warpgroup,
                                   int first, int step)
{
    rows_stage at = {0, 0};
    int used = -1, begun = 0;
    if constexpr (rows_factor<Element>::PAIRS) {
        first = linear_multiply_chunks<Element, Turned>(job, sums, stages, barriers, warpgroup, first,
                                                        ROWS_NONE_LOWER * job.pass_chunks, step, &at, &used, 0);
        begun = used >= 0;
        if (begun)
            rows_scale_sums(sums, rows_pair_unscale);
    }
    linear_multiply_chunks<Element, Turned>(job, sums, stages, barriers, warpgroup, first, job.chunks, step, &at, &used,
                                            begun);
}

// Four sums of a thread, two rows of two channels, added over all blocks and warpgroups; `quad` says which.
template <int Bytes> HOPPER_DEVICE float4 linear_add(const rows_linear &job, const float4 *kept, int quad)
{
    float4 sum = make_float4(0, 0, 0, 0);
    int4 whole = make_int4(0, 0, 0, 0);
    for (int block = 0; block < job.cluster; block++)
#pragma unroll
        for (int warpgroup = 0; warpgroup < ROWS_WARPGROUPS; warpgroup++) {
            const float4 *from =
                &kept[(warpgroup * (LINEAR_SUMS / 4) + quad) * HOPPER_WARPGROUP + threadIdx.x % HOPPER_WARPGROUP];
            const float4 more = job.cluster > 1 ? cluster_read((const float *)from, block) : *from;
            if (Bytes) // kept as bits
                whole.x += __float_as_int(more.x), whole.y += __float_as_int(more.y), whole.z += __float_as_int(more.z),
                    whole.w += __float_as_int(more.w);
            else
                sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
        }
    return Bytes ? make_float4((float)whole.x, (float)whole.y, (float)whole.z, (float)whole.w) : sum;
}

HOPPER_DEVICE float4 linear_kept(const float *sums)
{
    return make_float4(sums[0], sums[1], sums[2], sums[3]);
}

HOPPER_DEVICE float4 linear_kept(const int *sums)
{
    return make_float4(__int_as_float(sums[0]), __int_as_float(sums[1]), __int_as_float(sums[2]),
                       __int_as_float(sums[3]));
}

// Applies the epilogue and stores them.
template <typename Element, int End>
HOPPER_DEVICE void linear_store(const rows_linear &job, const rows_epilogue &end, float4 sum, Element *output, int row,
                                int channel)
{
    const float values[4] = {sum.x, sum.y, sum.z, sum.w}; // channel, row: (0, 0) (0, 1) (1, 0) (1, 1)
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int to = channel + i / 2 * (rows_factor<Element>::BYTES ? 1 : 8), at = row + i % 2;
        if (to >= job.k || at >= job.rows)
            continue;
        const size_t place = (size_t)at * job.k + to;
        float value = values[i] + (end.bias ? end.bias[to] : 0);
        if constexpr (rows_factor<Element>::BYTES) {
            value = __fmaf_rn(values[i], end.scale ? end.scale[to] : 1, end.bias ? end.bias[to] : 0);
            value = rows_function16(end.function, value) * rows_byte_unit(end.function);
        } else if (End == ROWS_END_SLOPE)
            value *= rows_slope(end.function, rows_read_at((const Element *)end.activated, place, at, job.k));
        else if (rows_precision<Element, LINEAR_ROWS, End>() == ROWS_TO_32_BITS)
            value = rows_function(end.function, value);
        else
            value = rows_function16(end.function, value);
        if (End == ROWS_END_FLOATS)
            end.floats[place] = value;
        else
            rows_write_at(output, place, at, job.k, value);
    }
}

template <typename Element, int Turned, int End>
__global__ void __launch_bounds__(ROWS_THREADS, 1)
    rows_linear_wgmma(const __grid_constant__ rows_linear job, const __grid_constant__ CUtensorMap map_input,
                      const __grid_constant__ CUtensorMap map_weight, const rows_epilogue end, Element *output)
{
    extern __shared__ unsigned char shared[];
    __shared__ rows_linear_barriers barriers;
    unsigned char *stages =
        shared + (HOPPER_ROWS_BYTES - hopper_shared(shared) % HOPPER_ROWS_BYTES) % HOPPER_ROWS_BYTES;
    const int ring_bytes = job.stages * LINEAR_STAGE_BYTES; // of one warpgroup
    float4 *kept = (float4 *)(stages + ROWS_WARPGROUPS * ring_bytes);
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / HOPPER_WARPGROUP, 0);
    const int rank = blockIdx.x % job.cluster, tile = blockIdx.x / job.cluster;
    const int channel = tile % job.channel_tiles * 64, row = tile / job.channel_tiles * LINEAR_ROWS;
    const int step = job.cluster * ROWS_WARPGROUPS, lane = threadIdx.x % 32, warp = threadIdx.x % HOPPER_WARPGROUP / 32;
    if (threadIdx.x == 0) {
        for (int i = 0; i < LINEAR_STAGES; i++)
            for (int j = 0; j < ROWS_WARPGROUPS; j++) {
                mbarrier_init(&barriers.full[j][i], 1);
                mbarrier_init(&barriers.empty[j][i], 1);
            }
        mbarrier_init_fence();
    }
    __syncthreads();
    if (warpgroup == ROWS_WARPGROUPS) {
        // Weights were written before the previous kernel: two threads load them at once, two load the rows when they
        // are ready.
        if (lane == 0 && warp < ROWS_WARPGROUPS)
            linear_load<Turned, rows_factor<Element>::PAIRS, rows_factor<Element>::BYTES>(
                job, &map_input, &map_weight, stages + warp * ring_bytes, &barriers, warp,
                rank * ROWS_WARPGROUPS + warp, step, row, channel, false);
        heddle_wait_for_previous();
        heddle_release_next();
        if (lane == 0 && warp >= ROWS_WARPGROUPS)
            linear_load<Turned, rows_factor<Element>::PAIRS, rows_factor<Element>::BYTES>(
                job, &map_input, &map_weight, stages + (warp - ROWS_WARPGROUPS) * ring_bytes, &barriers,
                warp - ROWS_WARPGROUPS, rank * ROWS_WARPGROUPS + warp - ROWS_WARPGROUPS, step, row, channel, true);
    } else {
        typename rows_factor<Element>::sum sums[LINEAR_SUMS];
        heddle_wait_for_previous();
        heddle_release_next();
        linear_multiply<Element, Turned>(job, sums, stages + warpgroup * ring_bytes, &barriers, warpgroup,
                                         rank * ROWS_WARPGROUPS + warpgroup, step);
        const bool any = rank * ROWS_WARPGROUPS + warpgroup < job.chunks; // else the sums were never begun
#pragma unroll
        for (int quad = 0; quad < LINEAR_SUMS / 4; quad++)
            kept[(warpgroup * (LINEAR_SUMS / 4) + quad) * HOPPER_WARPGROUP + threadIdx.x % HOPPER_WARPGROUP] =
                any ? linear_kept(&sums[4 * quad]) : make_float4(0, 0, 0, 0);
    }
    if (job.cluster > 1)
        cluster_sync();
    else
        __syncthreads();
    // A quad has eight rows. The blocks share the quads, and in a block the warpgroups.
    for (int quad = rank * ROWS_WARPGROUPS + warpgroup; warpgroup < ROWS_WARPGROUPS && quad < LINEAR_SUMS / 4;
         quad += step)
        linear_store<Element, End>(job, end, linear_add<rows_factor<Element>::BYTES>(job, kept, quad), output,
                                   row + quad * 8 + lane % 4 * 2,
                                   channel + warp * 16 + lane / 4 * (rows_factor<Element>::BYTES ? 2 : 1));
    if (job.cluster > 1) // no block exits while another reads its sums
        cluster_sync();
}

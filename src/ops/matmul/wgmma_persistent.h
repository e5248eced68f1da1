// The kernel of matmul_bf16's 06_wgmma_persistent_clusters and of 04_wgmma of matmul_fp8 and matmul_int8: persistent
// blocks in clusters of two that share their loads, and store a tile behind the first products of the next. `Element`
// is the type of the operands, __nv_bfloat16, __nv_fp8_e4m3 or int8_t; the output is bf16, of int8_t float32. The
// comment of 06_wgmma_persistent_clusters.cu explains the technique.
//
// Operands need rows that start at multiples of 16 bytes (pack_cuda.h). The output may have any: where TMA does not
// take it, threads store what they have put into shared memory. hopper.h describes the layout of tile and swizzle. A
// stage has 128 bytes of k of each operand, whatever their type.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/hopper.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/wgmma16.h"
#include "ops/matmul/pack_cuda.h"

enum {
    CLUSTER = 2,
    CONSUMERS = 2,                         // warpgroups that multiply, 64 rows of the tile each
    TILE_M = 64 * CONSUMERS,               // rows of the output per block
    STEP_BYTES = 32,                       // of k per wgmma
    STEPS = HOPPER_ROW_BYTES / STEP_BYTES, // wgmmas per stage
    GROUP_ROWS = 8, // cluster tiles of 256 rows: 8 by 8 of 256 by 256 are about one wave of clusters
    BOX = 64,       // rows of a box; columns of 16 bits that it has
    BOX_BYTES = BOX * HOPPER_ROW_BYTES,
    BOX_REGISTERS = BOX_BYTES / 4 / HOPPER_WARPGROUP, // of a box of the output, per thread
    MOST_WAITING = 4,                                 // boxes of a tile that wait in registers
    A_BYTES = TILE_M * HOPPER_ROW_BYTES,
    OUT_BOXES = 2,               // of the output, staged for the store, per consumer
    STAGES_BYTES = 4 * 48 << 10, // what shared memory holds beside the output buffers
    MOST_STAGES = 8,
    SHARED_BYTES = STAGES_BYTES + CONSUMERS * OUT_BOXES * BOX_BYTES + HOPPER_ROWS_BYTES,
    THREADS = (1 + CONSUMERS) * HOPPER_WARPGROUP,
    // 65536 registers per SM: the producer needs few, a consumer needs 128 for its tile alone.
    PRODUCER_REGISTERS = 40,
    CONSUMER_REGISTERS = 232,
};

// What depends on the columns of the output per block: 256, the most one wgmma handles, 128 or 64.
template <int TILE_N> struct tile {
    enum {
        HALF = TILE_N / CLUSTER, // columns of b that a block loads for both
        STAGE_BYTES = A_BYTES + TILE_N * HOPPER_ROW_BYTES,
        STAGES = STAGES_BYTES / STAGE_BYTES,
        SUMS = TILE_N / 2, // per thread: a warpgroup has 64 rows
        // An M-major box holds 64 columns. If HALF is less, a block loads half of its k instead.
        HALVES_K = (int)HALF < (int)BOX,
        B_ROWS = HALVES_K ? BOX / CLUSTER : BOX,
    };
    static_assert((int)STAGES <= (int)MOST_STAGES, "a barrier for every stage");
};

// What depends on the type of the operands.
template <typename Element> struct operand;
template <> struct operand<__nv_bfloat16> {
    typedef float sum;
    typedef __nv_bfloat16 output;
    enum { TILE_K = 64, PROMOTES = 0, MOST_COLUMNS = 256, MAP_TYPE = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 };
    enum { OUTPUT_MAP_TYPE = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 };
};
// wgmma has e4m3 only K-major, and keeps 14 bits of its sums. Those of one stage, 128 of k, are added to others in
// float32 ("promoted"), which takes as many registers again: a tile has half as many columns.
template <> struct operand<__nv_fp8_e4m3> {
    typedef float sum;
    typedef __nv_bfloat16 output;
    enum { TILE_K = 128, PROMOTES = 1, MOST_COLUMNS = 128, MAP_TYPE = CU_TENSOR_MAP_DATA_TYPE_UINT8 };
    enum { OUTPUT_MAP_TYPE = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 };
};
// Only K-major, too. Sums are exact.
template <> struct operand<int8_t> {
    typedef int sum;
    typedef float output;
    enum { TILE_K = 128, PROMOTES = 0, MOST_COLUMNS = 256, MAP_TYPE = CU_TENSOR_MAP_DATA_TYPE_UINT8 };
    enum { OUTPUT_MAP_TYPE = CU_TENSOR_MAP_DATA_TYPE_FLOAT32 };
};

// The output of a tile, in boxes of 128 bytes by 64 rows. The last of them wait in registers for the next tile's
// products. 256 columns of float32 are twice what registers hold beside the sums: the first half is stored at once.
template <typename Element, int TILE_N> struct boxes_of {
    enum {
        COLUMNS = HOPPER_ROW_BYTES / sizeof(typename operand<Element>::output),
        COUNT = TILE_N / COLUMNS,
        WAITING = (int)COUNT < (int)MOST_WAITING ? (int)COUNT : (int)MOST_WAITING,
        AT_ONCE = COUNT - WAITING,
        FREE_PLACES = (int)COUNT < (int)OUT_BOXES ? 0 : OUT_BOXES - 1, // a tile of one box always uses the same one
    };
};

// The factor of a product: alpha, and for fp8 the operands' scales, which are in device memory. For int8 there is one
// per row of a, and per row of b, a column of the output.
template <typename Element> struct factors {
    __device__ float times(float alpha) const
    {
        return alpha;
    }
};
template <> struct factors<__nv_fp8_e4m3> {
    const float *scale_a, *scale_b;
    __device__ float times(float alpha) const
    {
        return alpha * (*scale_a * *scale_b);
    }
};
template <> struct factors<int8_t> {
    const float *scale_a, *scale_b; // (m), (n)
    __device__ float times(float alpha) const
    {
        return alpha;
    }
};

// Barriers of the stages. full counts bytes. empty counts the consumers of both blocks, because both are written to.
struct pipeline {
    uint64_t full[MOST_STAGES], empty[MOST_STAGES];
};

// A place in the ring of stages.
struct stage {
    int index;
    unsigned phase;
};

template <int TILE_N> __device__ static void advance(stage *at)
{
    if (++at->index == tile<TILE_N>::STAGES) {
        at->index = 0;
        at->phase ^= 1;
    }
}

// The stage before this one.
template <int TILE_N> __device__ static int before(const stage *at)
{
    return at->index == 0 ? tile<TILE_N>::STAGES - 1 : at->index - 1;
}

// The cluster's tiles, CLUSTER blocks high, and where number `index` of them starts.
template <int TILE_N> __device__ static int tile_count(const heddle_matmul_shape *shape)
{
    return (shape->m + CLUSTER * TILE_M - 1) / (CLUSTER * TILE_M) * ((shape->n + TILE_N - 1) / TILE_N);
}

template <int TILE_N>
__device__ static void place_tile(const heddle_matmul_shape *shape, int index, int *row, int *column)
{
    int tiles_m = (shape->m + CLUSTER * TILE_M - 1) / (CLUSTER * TILE_M), tiles_n = (shape->n + TILE_N - 1) / TILE_N;
    int in_group = GROUP_ROWS * tiles_n, first = index / in_group * GROUP_ROWS;
    int rows = min(tiles_m - first, (int)GROUP_ROWS), rest = index % in_group;
    *row = (first + rest % rows) * CLUSTER * TILE_M;
    *column = rest / rows * TILE_N;
}

// One thread fills stages as they become free: 128 rows of a for this block, half of b's columns for both.
template <typename Element, int TILE_N, int MMajorA, int MMajorB>
__device__ static void produce(const heddle_matmul_shape *shape, const CUtensorMap *map_a, const CUtensorMap *map_b,
                               unsigned char *stages, pipeline *barriers, unsigned rank)
{
    typedef tile<TILE_N> T;
    const int TILE_K = operand<Element>::TILE_K;
    const uint16_t both = (1 << CLUSTER) - 1;
    stage at = {0, 0};
    for (int index = blockIdx.x / CLUSTER; index < tile_count<TILE_N>(shape); index += gridDim.x / CLUSTER) {
        int row, column;
        place_tile<TILE_N>(shape, index, &row, &column);
        row += (int)rank * TILE_M;
        for (int p = 0; p < shape->k; p += TILE_K) {
            unsigned char *a = stages + at.index * T::STAGE_BYTES, *b = a + A_BYTES;
            uint64_t *full = &barriers->full[at.index];
            mbarrier_wait(&barriers->empty[at.index], at.phase ^ 1);
            mbarrier_arrive_expect(full, T::STAGE_BYTES);
            if (!MMajorA)
                tma_load(a, map_a, p, row, full);
            for (int box = 0; MMajorA && box < TILE_M / BOX; box++)
                tma_load(a + box * BOX_BYTES, map_a, row + box * BOX, p, full);
            if (!MMajorB)
                tma_load_multicast(b + rank * T::HALF * HOPPER_ROW_BYTES, map_b, p, column + (int)rank * T::HALF, full,
                                   both);
            if (MMajorB && T::HALVES_K)
                tma_load_multicast(b + rank * T::B_ROWS * HOPPER_ROW_BYTES, map_b, column, p + (int)rank * T::B_ROWS,
                                   full, both);
            for (int box = (int)rank * T::HALF; MMajorB && !T::HALVES_K && box < ((int)rank + 1) * T::HALF; box += BOX)
                tma_load_multicast(b + box * HOPPER_ROW_BYTES, map_b, column + box, p, full, both);
            advance<TILE_N>(&at);
        }
    }
}

// Tells the producers of both blocks that this warpgroup has read a stage.
__device__ static void release(pipeline *barriers, int index)
{
    if (threadIdx.x % HOPPER_WARPGROUP < CLUSTER)
        mbarrier_arrive_at(&barriers->empty[index], threadIdx.x % HOPPER_WARPGROUP);
}

// totals = first ? sums : totals + sums, in float32.
template <int SUMS> __device__ static void promote(float (&totals)[SUMS], float (&sums)[SUMS], bool first)
{
    wgmma_settle(sums);
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        totals[i] = first ? sums[i] : totals[i] + sums[i];
    wgmma_settle(totals); // the next product overwrites the sums
}

// The products of one stage; `first`: the stage begins a tile and its sums. On return the products of the stage before
// are done, and it is released: one group of products is always in flight. If sums are promoted, those of this stage
// are done and in `totals`; meanwhile the tensor cores have the other warpgroup's products.
template <typename Element, int TILE_N, int MMajorA, int MMajorB>
__device__ static void multiply(typename operand<Element>::sum (&sums)[TILE_N / 2],
                                typename operand<Element>::sum (&totals)[TILE_N / 2], const unsigned char *stages,
                                pipeline *barriers, stage *at, bool first, int consumer)
{
    const bool promotes = operand<Element>::PROMOTES;
    const int m_major = STEP_BYTES / (int)sizeof(Element) * HOPPER_ROW_BYTES;
    const int next_a = MMajorA ? m_major : (int)STEP_BYTES, next_b = MMajorB ? m_major : (int)STEP_BYTES;
    const unsigned char *from = stages + at->index * tile<TILE_N>::STAGE_BYTES;
    uint64_t a = wgmma_descriptor(from + consumer * BOX_BYTES, BOX_BYTES);
    uint64_t b = wgmma_descriptor(from + A_BYTES, BOX_BYTES);
    mbarrier_wait(&barriers->full[at->index], at->phase);
    wgmma_fence();
    for (int step = 0; step < STEPS; step++)
        wgmma16<TILE_N, Element>::template multiply<MMajorA, MMajorB>(sums, wgmma_descriptor_at(a, step * next_a),
                                                                      wgmma_descriptor_at(b, step * next_b),
                                                                      (!promotes && !first) || step > 0);
    wgmma_commit();
    wgmma_wait<promotes ? 0 : 1>();
    if (promotes)
        release(barriers, at->index);
    else if (!first)
        release(barriers, before<TILE_N>(at));
    if constexpr (promotes)
        promote(totals, sums, first);
    advance<TILE_N>(at);
}

// Where tiles go. `direct`: TMA does not take the output.
template <typename Element> struct destination {
    const heddle_matmul_shape *shape;
    const CUtensorMap *map;
    typename operand<Element>::output *output;
    bool direct;
    float factor; // of all sums; int8 has others
};

// sums += beta * output, where it exists
template <typename Element, int SUMS>
__device__ static void add_output(float (&sums)[SUMS], const destination<Element> *to, int row, int column)
{
    const heddle_matmul_shape *shape = to->shape;
    int lane = threadIdx.x % 32, warp = threadIdx.x % HOPPER_WARPGROUP / 32;
#pragma unroll
    for (int i = 0; i < SUMS; i += 2) {
        int at_row = row + warp * 16 + i / 2 % 2 * 8 + lane / 4, at_column = column + i / 4 * 8 + lane % 4 * 2;
        if (at_row >= shape->m || at_column >= shape->n)
            continue;
        const __nv_bfloat16 *from = &to->output[(size_t)at_row * shape->n + at_column];
        __nv_bfloat162 old;
        if (!to->direct)
            old = *(const __nv_bfloat162 *)from;
        else
            old = __halves2bfloat162(from[0], at_column + 1 < shape->n ? from[1] : from[0]);
        sums[i] += shape->beta * __low2float(old);
        sums[i + 1] += shape->beta * __high2float(old);
    }
}

// packed = factor * sums + beta * output, rounded: two columns in each.
template <typename Element, int SUMS>
__device__ static void pack(uint32_t (&packed)[SUMS / 2], float (&sums)[SUMS], const destination<Element> *to, int row,
                            int column)
{
    const float factor = to->factor;
    if (factor != 1.0f) {
#pragma unroll
        for (int i = 0; i < SUMS; i++)
            sums[i] *= factor;
    }
    if (to->shape->beta != 0.0f)
        add_output<Element>(sums, to, row, column);
#pragma unroll
    for (int i = 0; i < SUMS / 2; i++) {
        __nv_bfloat162 pair = __floats2bfloat162_rn(sums[2 * i], sums[2 * i + 1]);
        packed[i] = *(uint32_t *)&pair;
    }
}

// A box of packed sums to shared memory, 16 by 16 per warp at a time; 16-byte chunks are swizzled by the row, as TMA
// reads them.
template <typename Element, int COUNT>
__device__ static void stage_box(unsigned char *place, const uint32_t (&packed)[COUNT], int first,
                                 const factors<Element> *, const heddle_matmul_shape *, int, int)
{
    const int thread = threadIdx.x % HOPPER_WARPGROUP, lane = thread % 32, in_box = thread / 32 * 16 + lane % 16;
#pragma unroll
    for (int pair = 0; pair < BOX / 16; pair++) {
        const int at = first + pair * 4, chunk = pair * 2 + lane / 16;
        stmatrix_x4(place + in_box * HOPPER_ROW_BYTES + (chunk ^ in_box % 8) * 16, packed[at], packed[at + 1],
                    packed[at + 2], packed[at + 3]);
    }
}

// The same of int32 sums, which become float32 here, behind products. The box starts at (row, column) of the output.
template <typename Element, int COUNT>
__device__ static void stage_box(unsigned char *place, const int (&sums)[COUNT], int first,
                                 const factors<Element> *factors, const heddle_matmul_shape *shape, int row, int column)
{
    const int lane = threadIdx.x % 32, in_box = threadIdx.x % HOPPER_WARPGROUP / 32 * 16 + lane / 4;
    float of_row[2];
    for (int half = 0; half < 2; half++)
        of_row[half] = row + in_box + half * 8 < shape->m ? factors->scale_a[row + in_box + half * 8] : 0.0f;
#pragma unroll
    for (int i = 0; i < BOX_REGISTERS / 4; i++) {
        const int in_row = i * 8 + lane % 4 * 2, chunk = i * 2 + lane % 4 / 2;
        const float left = column + in_row < shape->n ? factors->scale_b[column + in_row] : 0.0f;
        const float right = column + in_row + 1 < shape->n ? factors->scale_b[column + in_row + 1] : 0.0f;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int at = first + i * 4 + half * 2;
            *(float2 *)(place + (in_box + half * 8) * HOPPER_ROW_BYTES + (chunk ^ in_box % 8) * 16 + lane % 2 * 8) =
                make_float2(of_row[half] * left * (float)sums[at], of_row[half] * right * (float)sums[at + 1]);
        }
    }
}

// A staged box to the output at (row, column), by the threads: a warp stores a row at a time.
template <typename Output>
__device__ static void store_direct(const unsigned char *place, const heddle_matmul_shape *shape, Output *output,
                                    int row, int column)
{
    const int in_chunk = 16 / sizeof(Output), thread = threadIdx.x % HOPPER_WARPGROUP, lane = thread % 32;
#pragma unroll 4
    for (int in_box = thread / 32; in_box < BOX; in_box += HOPPER_WARPGROUP / 32)
        for (int i = lane; i < HOPPER_ROW_BYTES / (int)sizeof(Output); i += 32) {
            const unsigned char *chunk = place + in_box * HOPPER_ROW_BYTES + (i / in_chunk ^ in_box % 8) * 16;
            if (row + in_box < shape->m && column + i < shape->n)
                output[(size_t)(row + in_box) * shape->n + column + i] = ((const Output *)chunk)[i % in_chunk];
        }
}

// Box number `box` of the tile at (row, column) to the output, through shared memory: registers from `first` on.
template <typename Element, int TILE_N, typename Word, int COUNT>
__device__ static void store(const Word (&from)[COUNT], int first, int box, const factors<Element> *factors,
                             const destination<Element> *to, unsigned char *boxes, int row, int column, int consumer)
{
    typedef boxes_of<Element, TILE_N> B;
    const bool leads = threadIdx.x % HOPPER_WARPGROUP == 0;
    unsigned char *place = boxes + box % OUT_BOXES * BOX_BYTES;
    column += box * B::COLUMNS;
    // Waits until the last store from this place has been read.
    if (leads)
        tma_store_wait_read<B::FREE_PLACES>();
    warpgroup_sync(1 + consumer);
    stage_box<Element>(place, from, first, factors, to->shape, row, column);
    tma_fence_written();
    warpgroup_sync(1 + consumer);
    if (to->direct)
        store_direct(place, to->shape, to->output, row, column);
    if (leads && !to->direct) {
        tma_store(to->map, place, column, row);
        tma_store_commit();
    }
}

// A finished tile: what does not wait is stored, the rest is left in `packed`.
template <typename Element, int TILE_N, int PACKED>
__device__ static void finish(uint32_t (&packed)[PACKED], float (&sums)[TILE_N / 2], const factors<Element> *,
                              const destination<Element> *to, unsigned char *, int row, int column, int)
{
    pack<Element, TILE_N / 2>(packed, sums, to, row, column);
}

template <typename Element, int TILE_N, int PACKED>
__device__ static void finish(int (&packed)[PACKED], int (&sums)[TILE_N / 2], const factors<Element> *factors,
                              const destination<Element> *to, unsigned char *boxes, int row, int column, int consumer)
{
    typedef boxes_of<Element, TILE_N> B;
    wgmma_settle(sums);
#pragma unroll
    for (int box = 0; box < B::AT_ONCE; box++)
        store<Element, TILE_N>(sums, box * BOX_REGISTERS, box, factors, to, boxes, row, column, consumer);
#pragma unroll
    for (int i = 0; i < PACKED; i++)
        packed[i] = sums[B::AT_ONCE * BOX_REGISTERS + i];
    wgmma_settle(packed); // the next product overwrites the sums
}

// What waits in registers: pairs of bf16, or sums as they are.
template <typename Sum> struct waiting;
template <> struct waiting<float> {
    typedef uint32_t word;
};
template <> struct waiting<int> {
    typedef int word;
};

// A warpgroup's 64 rows of every tile. A finished tile waits in `packed` and is stored behind the products of the next.
template <typename Element, int TILE_N, int MMajorA, int MMajorB>
__device__ static void consume(const factors<Element> *factors, const destination<Element> *to, unsigned char *stages,
                               pipeline *barriers, unsigned rank, int consumer)
{
    typedef boxes_of<Element, TILE_N> B;
    typedef typename operand<Element>::sum Sum;
    unsigned char *boxes = stages + STAGES_BYTES + consumer * OUT_BOXES * BOX_BYTES;
    const heddle_matmul_shape *shape = to->shape;
    const int TILE_K = operand<Element>::TILE_K, steps = (shape->k + TILE_K - 1) / TILE_K;
    stage at = {0, 0};
    Sum sums[tile<TILE_N>::SUMS], totals[tile<TILE_N>::SUMS]; // those only if sums are promoted
    typename waiting<Sum>::word packed[B::WAITING * BOX_REGISTERS];
    int packed_row = -1, packed_column = 0; // -1: nothing waits
    for (int index = blockIdx.x / CLUSTER; index < tile_count<TILE_N>(shape); index += gridDim.x / CLUSTER) {
        int row, column;
        place_tile<TILE_N>(shape, index, &row, &column);
        row += (int)rank * TILE_M + consumer * 64;
#pragma unroll
        for (int box = 0; box < B::WAITING; box++) {
            if (box < steps)
                multiply<Element, TILE_N, MMajorA, MMajorB>(sums, totals, stages, barriers, &at, box == 0, consumer);
            if (packed_row >= 0)
                store<Element, TILE_N>(packed, box * BOX_REGISTERS, B::AT_ONCE + box, factors, to, boxes, packed_row,
                                       packed_column, consumer);
        }
        for (int step = B::WAITING; step < steps; step++)
            multiply<Element, TILE_N, MMajorA, MMajorB>(sums, totals, stages, barriers, &at, false, consumer);
        if (!operand<Element>::PROMOTES) {
            wgmma_wait<0>();
            release(barriers, before<TILE_N>(&at));
        }
        finish<Element, TILE_N>(packed, operand<Element>::PROMOTES ? totals : sums, factors, to, boxes, row, column,
                                consumer);
        packed_row = row, packed_column = column;
    }
#pragma unroll
    for (int box = 0; box < B::WAITING; box++)
        store<Element, TILE_N>(packed, box * BOX_REGISTERS, B::AT_ONCE + box, factors, to, boxes, packed_row,
                               packed_column, consumer);
    if (threadIdx.x % HOPPER_WARPGROUP == 0)
        tma_store_wait_read<0>();
}

// a: (m, k) or M-major (k, m); b: (n, k) or M-major (k, n); output: (m, n)
template <typename Element, int TILE_N, int MMajorA, int MMajorB>
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
    matmul_persistent(const heddle_matmul_shape shape, const __grid_constant__ CUtensorMap map_a,
                      const __grid_constant__ CUtensorMap map_b, const __grid_constant__ CUtensorMap map_output,
                      typename operand<Element>::output *output, bool direct, const factors<Element> factors)
{
    extern __shared__ unsigned char shared[];
    __shared__ pipeline barriers;
    unsigned char *stages =
        shared + (HOPPER_ROWS_BYTES - hopper_shared(shared) % HOPPER_ROWS_BYTES) % HOPPER_ROWS_BYTES;
    const unsigned rank = cluster_rank();
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / HOPPER_WARPGROUP, 0); // the same for the whole warp
    if (threadIdx.x == 0) {
        tma_prefetch_map(&map_a);
        tma_prefetch_map(&map_b);
        if (!direct)
            tma_prefetch_map(&map_output);
        for (int i = 0; i < tile<TILE_N>::STAGES; i++) {
            mbarrier_init(&barriers.full[i], 1);
            mbarrier_init(&barriers.empty[i], CLUSTER * CONSUMERS);
        }
        mbarrier_init_fence();
    }
    cluster_sync();
    if (warpgroup == 0) {
        registers_give_back<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0)
            produce<Element, TILE_N, MMajorA, MMajorB>(&shape, &map_a, &map_b, stages, &barriers, rank);
    } else {
        registers_take<CONSUMER_REGISTERS>();
        const destination<Element> to = {&shape, &map_output, output, direct, factors.times(shape.alpha)};
        consume<Element, TILE_N, MMajorA, MMajorB>(&factors, &to, stages, &barriers, rank, warpgroup - 1);
    }
    // No block exits while the other may still write to its shared memory.
    cluster_sync();
}

// What a launch is about: the product of a and b, whose rows start at multiples of 16 bytes, to the call's first
// output.
template <typename Element> struct persistent_product {
    heddle_matmul_shape shape;
    factors<Element> factor;
    const char *rung;
    heddle_packed a, b;
};

template <typename Element, int TILE_N, int MMajorA, int MMajorB>
static heddle_status launch_tile(const heddle_call *call, const persistent_product<Element> *product)
{
    typedef typename operand<Element>::output Output;
    const int m = product->shape.m, n = product->shape.n, k = product->shape.k, size = sizeof(Element);
    const CUtensorMapDataType type = (CUtensorMapDataType)operand<Element>::MAP_TYPE;
    const bool direct = ((size_t)call->output[0] | n * sizeof(Output)) % 16 != 0;
    CUtensorMap a, b, output = {};
    heddle_status status = tma_map_rows(&a, type, size, product->a.from, MMajorA ? k : m, MMajorA ? m : k,
                                        product->a.pitch, MMajorA ? (int)operand<Element>::TILE_K : (int)TILE_M);
    if (status == HEDDLE_OK)
        status = tma_map_rows(&b, type, size, product->b.from, MMajorB ? k : n, MMajorB ? n : k, product->b.pitch,
                              MMajorB ? (int)tile<TILE_N>::B_ROWS : (int)tile<TILE_N>::HALF);
    if (status == HEDDLE_OK && !direct)
        status = tma_map(&output, (CUtensorMapDataType)operand<Element>::OUTPUT_MAP_TYPE, sizeof(Output),
                         call->output[0], m, n, BOX);
    if (status != HEDDLE_OK)
        return status;
    auto kernel = matmul_persistent<Element, TILE_N, MMajorA, MMajorB>;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    unsigned tiles = heddle_ceil_div(m, CLUSTER * TILE_M) * heddle_ceil_div(n, TILE_N);
    unsigned clusters = heddle_cuda_multiprocessors() / CLUSTER;
    kernel<<<(clusters < tiles ? clusters : tiles) * CLUSTER, THREADS, SHARED_BYTES, stream>>>(
        product->shape, a, b, output, (Output *)call->output[0], direct, product->factor);
    return heddle_cuda_launched(product->rung);
}

// Columns of a tile: the width for which the rounds of clusters take least time. A consumer reads 64 rows of a and all
// columns of b for each product, which for narrow tiles takes longer than the product itself.
static int choose_columns(const heddle_matmul_shape *shape, int most)
{
    const long long rows = heddle_ceil_div(shape->m, CLUSTER * TILE_M),
                    clusters = heddle_cuda_multiprocessors() / CLUSTER;
    int best = 0;
    long long least = 0;
    for (int columns = most; columns >= 64; columns /= 2) {
        long long rounds = heddle_ceil_div(rows * heddle_ceil_div(shape->n, columns), clusters);
        if (best == 0 || rounds * (64 + columns) < least) {
            least = rounds * (64 + columns);
            best = columns;
        }
    }
    return best;
}

template <typename Element, int MMajorA, int MMajorB>
static heddle_status persistent_launch(const heddle_call *call, const persistent_product<Element> *product)
{
    const int columns = choose_columns(&product->shape, operand<Element>::MOST_COLUMNS);
    if constexpr ((int)operand<Element>::MOST_COLUMNS > 128)
        if (columns == 256)
            return launch_tile<Element, 256, MMajorA, MMajorB>(call, product);
    return columns == 128 ? launch_tile<Element, 128, MMajorA, MMajorB>(call, product)
                          : launch_tile<Element, 64, MMajorA, MMajorB>(call, product);
}

// The product of the call's first two inputs, a (m, k) and b (n, k), of one byte per element, for any shape.
// workspace: room for a copy of each
template <typename Element>
static heddle_status persistent_launch_bytes(const heddle_call *call, persistent_product<Element> *product)
{
    const heddle_matmul_shape *shape = &product->shape;
    const size_t elements = (size_t)shape->m * shape->n;
    char *room = (char *)call->workspace;
    if (elements == 0)
        return HEDDLE_OK;
    if (shape->k == 0)
        return HEDDLE_CUDA_CHECK(cudaMemsetAsync(
            call->output[0], 0, elements * sizeof(typename operand<Element>::output), heddle_cuda_stream_of(call)));
    HEDDLE_TRY(heddle_pack<1>(call, call->input[0], shape->m, shape->k, &room, &product->a));
    HEDDLE_TRY(heddle_pack<1>(call, call->input[1], shape->n, shape->k, &room, &product->b));
    return persistent_launch<Element, 0, 0>(call, product);
}

// The kernel of matmul's rung 17_tf32_wgmma_split_k, matmul_bf16's 07_wgmma_split_k and linear's 05_tf32_wgmma_split_k:
// products whose output has too few tiles for all SMs. `Element` is the type of the operands and the output:
// __nv_bfloat16, or float, rounded to tf32 by TMA.
//
// A cluster computes `share` neighbouring tiles of one row of tiles, each by `parts` blocks: part p of a tile sums over
// the p-th piece of k. At the end every block leaves its sums in shared memory, and adds up its share of the tile from
// the shared memory of all parts, in their order: no second kernel, the same bits every time. Blocks that differ only
// in their tile need the same rows of a: each loads a `share`-th of them, which TMA delivers to all.
//
// Operands whose rows do not start at multiples of 16 bytes, and floats that do not lie along k, are copied first, to
// the workspace (pack_cuda.h). hopper.h describes the layout of tile and swizzle.
#pragma once

#include <cooperative_groups.h>
#include <cuda_bf16.h>

#include "heddle/ops.h"
#include "ops/cuda/dependent.h"
#include "ops/cuda/hopper.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/wgmma16.h"
#include "ops/matmul/element.h"
#include "ops/matmul/pack_cuda.h"

enum {
    SPLIT_CLUSTER = 8,             // blocks: the most that every Hopper GPU takes
    SPLIT_SHARE = 2,               // of them that share rows of a, at most
    SPLIT_BLOCKS = 2,              // per SM: one multiplies while the other starts or ends
    SPLIT_STAGES_BYTES = 96 << 10, // per block: what two leave of an SM's shared memory
    SPLIT_BOX = 64,                // columns of an M-major box
    SPLIT_BOX_BYTES = SPLIT_BOX * HOPPER_ROW_BYTES,
    SPLIT_STEP_BYTES = 32,                             // of k per wgmma
    SPLIT_STEPS = HOPPER_ROW_BYTES / SPLIT_STEP_BYTES, // wgmmas per stage
    SPLIT_FOUR = 4,                                    // columns of the output that a thread adds up at a time
    SPLIT_SHARED_BYTES = SPLIT_STAGES_BYTES + HOPPER_ROWS_BYTES,
};

// The sizes of a tile of 64 * Consumers rows and Columns columns.
template <typename Element, int Consumers, int Columns> struct split_tile {
    enum {
        ROWS = 64 * Consumers,                       // a warpgroup multiplies 64 of them
        K = HOPPER_ROW_BYTES / (int)sizeof(Element), // per stage: a row of a K-major box
        A_BYTES = ROWS * HOPPER_ROW_BYTES,
        STAGE_BYTES = A_BYTES + Columns * HOPPER_ROW_BYTES,
        STAGES = SPLIT_STAGES_BYTES / STAGE_BYTES,
        THREADS = Consumers * HOPPER_WARPGROUP + 32, // the last warp loads
        SUMS = Columns / 2,                          // per thread that multiplies
        PITCH = Columns + 8,                         // floats from row to row of the sums: no bank conflicts
    };
    static_assert(ROWS * PITCH * (int)sizeof(float) <= SPLIT_STAGES_BYTES, "the sums replace the stages");
};

// What a launch is about: output = alpha * a * b + beta * output + bias; the bias may be NULL.
template <typename Element> struct split_product {
    heddle_matmul_shape shape;
    const Element *a, *b, *bias;
    Element *output;
    bool ragged; // set by split_launch: rows of the output do not start at multiples of 16 bytes
};

// Where a block works: its tile, its part of k in stages, and the cluster's division.
struct split_place {
    int row, column, first, end, share, parts, member, part;
};

template <typename Tile, int Columns>
__device__ static split_place split_place_of(const heddle_matmul_shape *shape, int share, int parts)
{
    const int rank = (int)cluster_rank(), cluster = (int)blockIdx.x / (share * parts);
    const int down = (shape->m - 1) / Tile::ROWS + 1; // tiles per column of tiles
    const int stages = (shape->k - 1) / Tile::K + 1;
    split_place at;
    at.share = share, at.parts = parts;
    at.member = rank % share, at.part = rank / share;
    at.row = cluster % down * Tile::ROWS;
    at.column = (cluster / down * share + at.member) * Columns;
    at.first = (int)((long long)stages * at.part / parts);
    at.end = (int)((long long)stages * (at.part + 1) / parts);
    return at;
}

// One thread fills stages as they become free: a `share`-th of a's tile for all that share it, and b's.
template <typename Tile, int Consumers, int Columns, int MMajorA, int MMajorB>
__device__ static void split_load(const split_place *at, const CUtensorMap *map_a, const CUtensorMap *map_b,
                                  unsigned char *stages, uint64_t *full, uint64_t *empty)
{
    const int rows = (MMajorA ? (int)Tile::K : (int)Tile::ROWS) / at->share; // of a box of a
    const int offset = at->member * rows, first_of_part = at->part * at->share;
    const uint16_t sharing = (uint16_t)(((1 << at->share) - 1) << first_of_part);
    int index = 0;
    unsigned phase = 0;
    for (int step = at->first; step < at->end; step++) {
        unsigned char *a = stages + index * Tile::STAGE_BYTES, *b = a + Tile::A_BYTES;
        const int p = step * Tile::K;
        mbarrier_wait(&empty[index], phase ^ 1);
        mbarrier_arrive_expect(&full[index], Tile::STAGE_BYTES);
        for (int box = 0; box < (MMajorA ? Consumers : 1); box++) {
            unsigned char *to = a + box * SPLIT_BOX_BYTES + offset * HOPPER_ROW_BYTES;
            const int x = MMajorA ? at->row + box * SPLIT_BOX : p, y = (MMajorA ? p : at->row) + offset;
            if (at->share > 1)
                tma_load_multicast(to, map_a, x, y, &full[index], sharing);
            else
                tma_load(to, map_a, x, y, &full[index]);
        }
        if (!MMajorB)
            tma_load(b, map_b, p, at->column, &full[index]);
        for (int box = 0; MMajorB && box < Columns / SPLIT_BOX; box++)
            tma_load(b + box * SPLIT_BOX_BYTES, map_b, at->column + box * SPLIT_BOX, p, &full[index]);
        if (++index == Tile::STAGES) {
            index = 0;
            phase ^= 1;
        }
    }
}

// Tells the loading threads of all blocks that share rows of a that this warpgroup has read a stage. One thread speaks
// for four warps: only wgmma reads a stage, and its group completes for the whole warpgroup at once.
__device__ static __forceinline__ void split_release(const split_place *at, uint64_t *empty)
{
    if ((int)threadIdx.x % HOPPER_WARPGROUP < at->share)
        mbarrier_arrive_at(empty, at->part * at->share + threadIdx.x % HOPPER_WARPGROUP);
}

// sums (64, Columns) of a warpgroup over the block's part of k. A stage is released as soon as it has been read: loads
// in flight matter more than the pause, in which the other warpgroups of the SM multiply.
template <typename Element, typename Tile, int Columns, int MMajorA, int MMajorB>
__device__ static __forceinline__ void split_sum(float (&sums)[Tile::SUMS], const split_place *at,
                                                 const unsigned char *stages, uint64_t *full, uint64_t *empty,
                                                 int consumer)
{
    const int m_major = SPLIT_STEP_BYTES / (int)sizeof(Element) * HOPPER_ROW_BYTES;
    const int next_a = MMajorA ? m_major : (int)SPLIT_STEP_BYTES, next_b = MMajorB ? m_major : (int)SPLIT_STEP_BYTES;
    int index = 0;
    unsigned phase = 0;
    for (int step = at->first; step < at->end; step++) {
        const unsigned char *tile = stages + index * Tile::STAGE_BYTES;
        const uint64_t a = wgmma_descriptor(tile + consumer * SPLIT_BOX_BYTES, SPLIT_BOX_BYTES);
        const uint64_t b = wgmma_descriptor(tile + Tile::A_BYTES, SPLIT_BOX_BYTES);
        mbarrier_wait(&full[index], phase);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < SPLIT_STEPS; i++)
            wgmma16<Columns, Element>::template multiply<MMajorA, MMajorB>(sums, wgmma_descriptor_at(a, i * next_a),
                                                                           wgmma_descriptor_at(b, i * next_b),
                                                                           step > at->first || i > 0);
        wgmma_commit();
        wgmma_wait<0>();
        split_release(at, &empty[index]);
        if (++index == Tile::STAGES) {
            index = 0;
            phase ^= 1;
        }
    }
    wgmma_settle(sums);
}

// A warpgroup's sums to shared memory, row by row.
template <typename Tile>
__device__ static __forceinline__ void split_leave(const float (&sums)[Tile::SUMS], float *shared_sums, int consumer)
{
    const int thread = threadIdx.x % HOPPER_WARPGROUP, lane = thread % 32;
    float *place = shared_sums + (consumer * 64 + thread / 32 * 16 + lane / 4) * Tile::PITCH + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < Tile::SUMS; i += 2)
        *(float2 *)(place + i / 2 % 2 * 8 * Tile::PITCH + i / 4 * 8) = make_float2(sums[i], sums[i + 1]);
}

__device__ static __forceinline__ float4 split_four(const float *from)
{
    return *(const float4 *)from;
}
__device__ static __forceinline__ float4 split_four(const __nv_bfloat16 *from)
{
    const uint2 both = *(const uint2 *)from;
    const float2 low = __bfloat1622float2(*(const __nv_bfloat162 *)&both.x);
    const float2 high = __bfloat1622float2(*(const __nv_bfloat162 *)&both.y);
    return make_float4(low.x, low.y, high.x, high.y);
}

__device__ static __forceinline__ void split_store(float *to, float4 four)
{
    *(float4 *)to = four;
}
__device__ static __forceinline__ void split_store(__nv_bfloat16 *to, float4 four)
{
    const __nv_bfloat162 low = __floats2bfloat162_rn(four.x, four.y), high = __floats2bfloat162_rn(four.z, four.w);
    *(uint2 *)to = make_uint2(*(const uint32_t *)&low, *(const uint32_t *)&high);
}

__device__ static __forceinline__ void split_add(float4 *to, float factor, float4 four)
{
    to->x += factor * four.x, to->y += factor * four.y, to->z += factor * four.z, to->w += factor * four.w;
}

// Up to four columns of the output from (row, column) on, of which each may begin anywhere.
template <typename Element>
__device__ static __forceinline__ void split_store_ragged(const split_product<Element> *product, int row, int column,
                                                          float4 sum)
{
    const heddle_matmul_shape *shape = &product->shape;
    const float four[SPLIT_FOUR] = {sum.x, sum.y, sum.z, sum.w};
    Element *place = &product->output[(size_t)row * shape->n + column];
#pragma unroll
    for (int i = 0; i < SPLIT_FOUR; i++)
        if (column + i < shape->n)
            place[i] = matmul_element<Element>(shape->alpha * four[i] +
                                               (shape->beta != 0.0f ? shape->beta * matmul_float(place[i]) : 0) +
                                               (product->bias ? matmul_float(product->bias[column + i]) : 0));
}

// The block's share of the tile: adds up all parts and stores. Rows beyond the output are the last, and are left out.
template <typename Element, typename Tile, int Columns>
__device__ static __forceinline__ void split_combine(const split_place *at, const split_product<Element> *product,
                                                     float *shared_sums)
{
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const heddle_matmul_shape *shape = &product->shape;
    const int in_row = Columns / SPLIT_FOUR, rows = min((int)Tile::ROWS, shape->m - at->row);
    for (int i = at->part * Tile::THREADS + (int)threadIdx.x; i < rows * in_row; i += at->parts * Tile::THREADS) {
        const int row = i / in_row, in_tile = i % in_row * SPLIT_FOUR, column = at->column + in_tile;
        if (column >= shape->n)
            continue;
        float4 parts[SPLIT_CLUSTER], sum = {};
#pragma unroll
        for (int part = 0; part < SPLIT_CLUSTER; part++) // all loads before the first addition
            if (part < at->parts)
                parts[part] = *(const float4 *)cluster.map_shared_rank(shared_sums + row * Tile::PITCH + in_tile,
                                                                       part * at->share + at->member);
#pragma unroll
        for (int part = 0; part < SPLIT_CLUSTER; part++)
            if (part < at->parts)
                split_add(&sum, 1, parts[part]);
        if (product->ragged) {
            split_store_ragged(product, at->row + row, column, sum);
            continue;
        }
        float4 value = {};
        split_add(&value, shape->alpha, sum);
        Element *place = &product->output[(size_t)(at->row + row) * shape->n + column];
        if (shape->beta != 0.0f)
            split_add(&value, shape->beta, split_four(place));
        if (product->bias) { // may lie at any address
            const Element *bias = product->bias + column;
            split_add(&value, 1,
                      make_float4(matmul_float(bias[0]), matmul_float(bias[1]), matmul_float(bias[2]),
                                  matmul_float(bias[3])));
        }
        split_store(place, value);
    }
    __syncwarp();
}

// a: (m, k) or M-major (k, m); b: (n, k) or M-major (k, n); output: (m, n)
template <typename Element, int Consumers, int Columns, int MMajorA, int MMajorB>
__global__ void __launch_bounds__(split_tile<Element, Consumers, Columns>::THREADS, SPLIT_BLOCKS)
    matmul_split_k(const split_product<Element> product, const __grid_constant__ CUtensorMap map_a,
                   const __grid_constant__ CUtensorMap map_b, int share, int parts)
{
    typedef split_tile<Element, Consumers, Columns> tile;
    extern __shared__ unsigned char shared[];
    __shared__ uint64_t full[tile::STAGES], empty[tile::STAGES];
    unsigned char *stages =
        shared + (HOPPER_ROWS_BYTES - hopper_shared(shared) % HOPPER_ROWS_BYTES) % HOPPER_ROWS_BYTES;
    float *shared_sums = (float *)stages;
    const split_place at = split_place_of<tile, Columns>(&product.shape, share, parts);
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0), consumer = warp / 4; // the same for the whole warp
    if (threadIdx.x == 0) {
        tma_prefetch_map(&map_a);
        tma_prefetch_map(&map_b);
        for (int i = 0; i < tile::STAGES; i++) {
            mbarrier_init(&full[i], 1);
            mbarrier_init(&empty[i], share * Consumers);
        }
        mbarrier_init_fence();
    }
    cluster_sync();
    heddle_wait_for_previous();
    heddle_release_next();
    if (consumer == Consumers) {
        if (threadIdx.x % 32 == 0)
            split_load<tile, Consumers, Columns, MMajorA, MMajorB>(&at, &map_a, &map_b, stages, full, empty);
        __syncwarp();
    } else {
        float sums[tile::SUMS];
        split_sum<Element, tile, Columns, MMajorA, MMajorB>(sums, &at, stages, full, empty, consumer);
        // All stages have been read by all consumers, and nothing is on its way to them any more.
        __barrier_sync_count(1, Consumers * HOPPER_WARPGROUP);
        split_leave<tile>(sums, shared_sums, consumer);
    }
    cluster_sync(); // the sums of all parts are there
    split_combine<Element, tile, Columns>(&at, &product, shared_sums);
    cluster_sync(); // no block exits while another reads its sums
}

// --- launching -------------------------------------------------------------------------------------------------------

// Tiles in each direction.
static inline long long split_count(int size, int tile)
{
    return heddle_ceil_div(size, tile);
}

// Rows and columns of a tile for this output. Columns are narrow where wide tiles could not occupy the SMs, and where
// narrow ones occupy nearly all of them without a division of k.
static inline int split_consumers(const heddle_matmul_shape *shape)
{
    return shape->m > 64 ? 2 : 1;
}
static inline int split_columns(const heddle_matmul_shape *shape)
{
    const long long down = split_count(shape->m, 64 * split_consumers(shape)), most = heddle_cuda_multiprocessors();
    const long long wide = down * split_count(shape->n, 128), narrow = down * split_count(shape->n, 64);
    return wide * SPLIT_CLUSTER < most || (narrow * 8 >= most * 7 && narrow <= most) ? 64 : 128;
}

// How a cluster divides its work: least work for the SM that has most; for equal work one that reaches most SMs, then
// one with few loads from L2, then one with few parts to add up. `most[c]` clusters of c blocks run at the same time.
template <typename Tile, int Columns>
static void split_divide(const heddle_matmul_shape *shape, const int *most, int *share, int *parts)
{
    const long long down = split_count(shape->m, Tile::ROWS), across = split_count(shape->n, Columns);
    const long long stages = split_count(shape->k, Tile::K), multiprocessors = heddle_cuda_multiprocessors();
    long long least = 0;
    *share = *parts = 1;
    for (int sharing = SPLIT_SHARE; sharing >= 1; sharing /= 2)
        for (int split = 1; split * sharing <= SPLIT_CLUSTER && split <= stages; split++) {
            const long long clusters = down * ((across + sharing - 1) / sharing), cluster = split * sharing;
            const long long blocks = clusters * cluster;
            if (sharing > across || (cluster > 1 && most[cluster] == 0) || (split > 1 && clusters > most[cluster]))
                continue; // nobody to share with, or a second wave that would undo the gain
            const long long deepest = (blocks + multiprocessors - 1) / multiprocessors * ((stages + split - 1) / split);
            const long long work = 2 * deepest + (blocks * 8 < multiprocessors * 7);
            if (least == 0 || work < least) {
                least = work;
                *share = sharing, *parts = split;
            }
        }
}

template <typename Element, int Consumers, int Columns, int MMajorA, int MMajorB>
static heddle_status split_launch_tile(const heddle_call *call, const split_product<Element> *product,
                                       const heddle_packed *a, const heddle_packed *b, const char *rung)
{
    typedef split_tile<Element, Consumers, Columns> tile;
    // With TFLOAT32, TMA rounds each float to the nearest during the copy; wgmma alone would truncate it.
    const CUtensorMapDataType type =
        sizeof(Element) == sizeof(float) ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    const int m = product->shape.m, n = product->shape.n, k = product->shape.k;
    auto kernel = matmul_split_k<Element, Consumers, Columns, MMajorA, MMajorB>;
    enum { GPUS = 16 };
    static int known[GPUS][SPLIT_CLUSTER + 1], asked_gpu[GPUS]; // once for each: the answer takes longer than a launch
    const int gpu = heddle_cuda_device_of(call) % GPUS;
    int *most = known[gpu], *asked = &asked_gpu[gpu];
    if (gpu != heddle_cuda_device_of(call) || !__atomic_load_n(asked, __ATOMIC_ACQUIRE)) {
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SPLIT_SHARED_BYTES);
        for (int cluster = 1; cluster <= SPLIT_CLUSTER; cluster++)
            most[cluster] = heddle_cuda_most_clusters(kernel, dim3(tile::THREADS), cluster, SPLIT_SHARED_BYTES);
        __atomic_store_n(asked, 1, __ATOMIC_RELEASE);
    }
    int share, parts;
    split_divide<tile, Columns>(&product->shape, most, &share, &parts);
    CUtensorMap map_a, map_b;
    heddle_status status = tma_map_rows(&map_a, type, sizeof(Element), a->from, MMajorA ? k : m, MMajorA ? m : k,
                                        a->pitch, (MMajorA ? (int)tile::K : (int)tile::ROWS) / share);
    if (status == HEDDLE_OK)
        status = tma_map_rows(&map_b, type, sizeof(Element), b->from, MMajorB ? k : n, MMajorB ? n : k, b->pitch,
                              MMajorB ? (int)tile::K : Columns);
    if (status != HEDDLE_OK)
        return status;
    const unsigned clusters = heddle_ceil_div(m, tile::ROWS) * heddle_ceil_div(heddle_ceil_div(n, Columns), share);
    heddle_cuda_launch_clusters(kernel, dim3(clusters * share * parts), dim3(tile::THREADS), share * parts,
                                SPLIT_SHARED_BYTES, heddle_cuda_stream_of(call), *product, map_a, map_b, share, parts);
    return heddle_cuda_launched(rung);
}

template <typename Element, int MMajorA, int MMajorB>
static heddle_status split_launch_packed(const heddle_call *call, const split_product<Element> *product,
                                         const heddle_packed *a, const heddle_packed *b, const char *rung)
{
    const int columns = split_columns(&product->shape);
    if (split_consumers(&product->shape) == 1)
        return columns == 64 ? split_launch_tile<Element, 1, 64, MMajorA, MMajorB>(call, product, a, b, rung)
                             : split_launch_tile<Element, 1, 128, MMajorA, MMajorB>(call, product, a, b, rung);
    return columns == 64 ? split_launch_tile<Element, 2, 64, MMajorA, MMajorB>(call, product, a, b, rung)
                         : split_launch_tile<Element, 2, 128, MMajorA, MMajorB>(call, product, a, b, rung);
}

// An operand with `rows` rows along k, or M-major: as TMA needs it. Floats are turned to lie along k.
template <typename Element>
static heddle_status split_pack(const heddle_call *call, const Element *matrix, int rows, int k, bool m_major,
                                char **room, heddle_packed *packed)
{
    if constexpr (sizeof(Element) == sizeof(float))
        if (m_major)
            return heddle_pack_transposed(call, matrix, k, rows, room, packed);
    return heddle_pack<sizeof(Element)>(call, matrix, m_major ? k : rows, m_major ? rows : k, room, packed);
}

// Whether the kernel takes a product: it is not empty, and its operands start at multiples of 16 bytes.
static inline bool split_takes(const heddle_call *call, const heddle_matmul_shape *shape)
{
    return shape->m > 0 && shape->n > 0 && shape->k > 0 &&
           ((size_t)call->input[0] | (size_t)call->input[1]) % HEDDLE_PACK_ALIGNMENT == 0;
}

// The call's workspace has the bytes of heddle_pack_product_bytes.
template <typename Element>
static heddle_status split_launch(const heddle_call *call, split_product<Element> product, const char *rung)
{
    const heddle_matmul_shape *shape = &product.shape;
    const int turn_a = shape->transpose_a, turn_b = !shape->transpose_b; // whether it is M-major
    char *room = (char *)call->workspace;
    heddle_packed a, b;
    heddle_cuda_stream_of(call); // makes its device the current one
    product.ragged = ((size_t)product.output | shape->n * sizeof(Element)) % HEDDLE_PACK_ALIGNMENT != 0;
    heddle_status status = split_pack(call, product.a, shape->m, shape->k, turn_a, &room, &a);
    if (status == HEDDLE_OK)
        status = split_pack(call, product.b, shape->n, shape->k, turn_b, &room, &b);
    if (status != HEDDLE_OK)
        return status;
    if constexpr (sizeof(Element) == sizeof(float)) {
        return split_launch_packed<Element, 0, 0>(call, &product, &a, &b, rung);
    } else {
        if (turn_a)
            return turn_b ? split_launch_packed<Element, 1, 1>(call, &product, &a, &b, rung)
                          : split_launch_packed<Element, 1, 0>(call, &product, &a, &b, rung);
        return turn_b ? split_launch_packed<Element, 0, 1>(call, &product, &a, &b, rung)
                      : split_launch_packed<Element, 0, 0>(call, &product, &a, &b, rung);
    }
}

// What the rungs of attention for Hopper share: tiles of rows in boxes of 64 columns, copied by TMA (hopper.h describes
// the layout), products of such tiles by wgmma, and the order of blocks.
#pragma once

#include "ops/attention/attention_16.h"
#include "ops/cuda/element16.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/wgmma16.h"

enum {
    CONSUMERS = 2, // warpgroups that multiply
    WARPGROUP_ROWS = 64,
    BOX = 64,  // columns of a box: 128 bytes
    STEP = 16, // k of one wgmma
    STEP_BYTES = STEP * 2,
    CONSUMER_WARPS = CONSUMERS * HOPPER_WARPGROUP / 32,
    THREADS = (1 + CONSUMERS) * HOPPER_WARPGROUP,
    PRODUCER_REGISTERS = 24,
    CONSUMER_REGISTERS = 240,
};

// A tile of Rows rows in boxes of 64 columns.
template <int Size, int Rows> struct hopper_tile {
    enum { BOXES = Size / BOX, BOX_BYTES = Rows * HOPPER_ROW_BYTES, BYTES = BOXES * BOX_BYTES };
};

// 2 to the power of x in one instruction; 0 for minus infinity.
__device__ static __forceinline__ float power_of_two(float x)
{
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// Copies a tile whose first row is `row` of head `head`, `more` bytes of which another copy brings. The map has three
// dimensions, so that rows behind the head's last are zero and not the next head's.
template <int Size, int Rows>
__device__ static void load_tile(unsigned char *tile, const CUtensorMap *map, int row, int head, uint64_t *full,
                                 unsigned more = 0)
{
    typedef hopper_tile<Size, Rows> type;
    mbarrier_arrive_expect(full, type::BYTES + more);
    for (int box = 0; box < type::BOXES; box++)
        tma_load3(tile + box * type::BOX_BYTES, map, box * BOX, row, head, full);
}

// This warp has read what the barrier guards, which counts the warps of all consumers.
__device__ static __forceinline__ void release(uint64_t *empty)
{
    if (threadIdx.x % 32 == 0)
        mbarrier_arrive(empty);
}

// Starts products (64, Columns) = rows (64, Size) of tile a * tile b (Columns, Size)ᵀ. `rows` points to them in the
// first box of a, which has RowsA rows.
template <typename Element, int Size, int RowsA, int Columns>
__device__ static __forceinline__ void start_products(float (&products)[Columns / 2], const unsigned char *rows,
                                                      const unsigned char *tile_b)
{
    const int bytes_a = hopper_tile<Size, RowsA>::BOX_BYTES, bytes_b = hopper_tile<Size, Columns>::BOX_BYTES;
    const uint64_t a = wgmma_descriptor(rows, bytes_a), b = wgmma_descriptor(tile_b, bytes_b);
#pragma unroll
    for (int step = 0; step < Size / STEP; step++) {
        const int box = step / (BOX / STEP), at = step % (BOX / STEP) * STEP_BYTES;
        wgmma16<Columns, Element>::template multiply<0, 0>(products, wgmma_descriptor_at(a, box * bytes_a + at),
                                                           wgmma_descriptor_at(b, box * bytes_b + at), step > 0);
    }
    wgmma_commit();
}

// Starts sums (64, Size) = weights (64, Rows) * tile (Rows, Size) + (add ? sums : 0).
template <typename Element, int Size, int Rows>
__device__ static __forceinline__ void start_sums(float (&sums)[Size / 2], const uint32_t (&weights)[Rows / STEP][4],
                                                  const unsigned char *tile, int add)
{
    const uint64_t b = wgmma_descriptor(tile, hopper_tile<Size, Rows>::BOX_BYTES);
#pragma unroll
    for (int step = 0; step < Rows / STEP; step++)
        wgmma16_rows<Size, Element>::template multiply<1>(
            sums, weights[step], wgmma_descriptor_at(b, step * STEP * HOPPER_ROW_BYTES), add || step > 0);
    wgmma_commit();
}

// Products in 16 bits as wgmma takes rows: of 16 columns, the two rows of the first 8, then those of the other 8.
template <typename Element, int Columns>
__device__ static __forceinline__ void pack(uint32_t (&weights)[Columns / STEP][4],
                                            const float (&products)[Columns / 2])
{
#pragma unroll
    for (int i = 0; i < Columns / 4; i++) {
        typename rows_element<Element>::pair both = rows_element<Element>::round(products[i * 2], products[i * 2 + 1]);
        weights[i / 4][i % 4] = *(const uint32_t *)&both;
    }
}

// --- the order of blocks ---------------------------------------------------------------------------------------------

// Number `index` of heads * tiles blocks. Blocks that run at one time are to read the same heads, so that these stay in
// the L2 cache: `group` heads are finished before the next begin, and of them all blocks with tile 0 come first.
struct hopper_place {
    int head, tile;
};

__device__ static __forceinline__ hopper_place place_block(int index, int heads, int tiles, int group)
{
    const int first = index / (group * tiles) * group, count = min(group, heads - first), rest = index - first * tiles;
    return {first + rest % count, rest / count};
}

// How many of the heads, of `bytes` each, fit into about half the L2 cache.
static inline int hopper_group(size_t bytes, long long heads)
{
    const long long cache = 24 << 20, fit = cache / (long long)bytes;
    return (int)(fit < 1 ? 1 : fit < heads ? fit : heads);
}

// --- tensor maps (host) ----------------------------------------------------------------------------------------------

template <typename Element> struct tensor_type;
template <> struct tensor_type<__nv_bfloat16> {
    enum { VALUE = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 };
};
template <> struct tensor_type<__half> {
    enum { VALUE = CU_TENSOR_MAP_DATA_TYPE_FLOAT16 };
};

// A map of (heads, rows, Size) in boxes of some rows and 64 columns of one head.
template <typename Element, int Size>
static heddle_status map_heads(CUtensorMap *map, const void *from, long long heads, int rows, int box_rows)
{
    const cuuint64_t size[3] = {Size, (cuuint64_t)rows, (cuuint64_t)heads};
    const cuuint64_t pitch[2] = {Size * sizeof(Element), (cuuint64_t)rows * Size * sizeof(Element)};
    const cuuint32_t box[3] = {BOX, (cuuint32_t)box_rows, 1};
    return tma_map_boxes(map, (CUtensorMapDataType)tensor_type<Element>::VALUE, from, 3, size, pitch, box,
                         CU_TENSOR_MAP_SWIZZLE_128B);
}

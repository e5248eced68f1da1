// The epilogue of a tile whose results are pooled: bias, function, then the largest or the mean of every window, and
// the zero rows between images. The results themselves are never stored.
//
// A tile is whole images or whole lines of windows, so that it has every window whole. Each warp has 16 channels of all
// rows. It writes them, rounded as they would be stored, to shared memory of its own, where a row is two chunks of 16
// bytes; then each thread reads a chunk of a window's rows and stores a chunk of the output. A warp needs no other one
// for that. A row's chunks are its two halves of the channels; of pairs, the upper and the lower halves of 8 channels,
// in two passes; of bytes there is one.
#pragma once

#include "ops/rows_conv/store_wgmma.h"

enum { ROWS_POOL_CHUNK = 16 }; // bytes

// Shared memory of a warp. First chunks of all rows, then, after room for one more, so that threads that read both
// chunks of every other row use all banks, the second ones.
__host__ __device__ static constexpr int rows_pool_bytes(int rows)
{
    return 2 * (rows + 1) * ROWS_POOL_CHUNK;
}

template <int Rows> HOPPER_DEVICE unsigned char *rows_pool_at(unsigned char *staged, int row, int chunk)
{
    return staged + (chunk * (Rows + 1) + row) * ROWS_POOL_CHUNK;
}

// --- to shared memory ------------------------------------------------------------------------------------------------

// Two chunks of every row. Pass: of pairs, which 8 of the channels.
template <typename Element, int Rows>
HOPPER_DEVICE void rows_stage_floats(const float (&sums)[Rows / 2], unsigned char *staged, int pass)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < Rows / 8; j += 2) { // 16 rows
        uint32_t packed[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int rows = 4 * (j + i / 2), half = 2 * (i % 2);
            if constexpr (rows_factor<Element>::PAIRS)
                packed[i] = pass == 0 ? rows_pack<Element>(i % 2, sums[rows], sums[rows + 1])
                                      : rows_pack<Element>(i % 2, sums[rows + 2], sums[rows + 3]);
            else
                packed[i] = rows_pack<Element>(0, sums[rows + half], sums[rows + half + 1]);
        }
        stmatrix_x4_transposed(rows_pool_at<Rows>(staged, j * 8 + lane / 16 * 8 + lane % 8, lane / 8 % 2), packed[0],
                               packed[1], packed[2], packed[3]);
    }
}

// One chunk of every row. `own`: the first of the thread's two channels.
template <int Rows>
HOPPER_DEVICE void rows_stage_bytes(const rows_product &job, const rows_epilogue &end, int (&sums)[Rows / 2],
                                    unsigned char *staged, int own)
{
    const rows_requantiser by = rows_requantiser_of(job, end, own);
    wgmma_settle(sums);
#pragma unroll
    for (int j = 0; j < Rows / 8; j += 4) { // 32 rows
        float values[16];
        uint32_t packed[4];
        rows_requantise_box(end.function, by, &sums[4 * j], values);
#pragma unroll
        for (int i = 0; i < 4; i++) // two rows of two channels
            packed[i] = rows_pack_bytes(values[4 * i], values[4 * i + 2], values[4 * i + 1], values[4 * i + 3]);
        stmatrix_x4_transposed(rows_pool_at<Rows>(staged, j * 8 + threadIdx.x % 32, 0), packed[0], packed[1], packed[2],
                               packed[3]);
    }
}

// --- from there to the output ----------------------------------------------------------------------------------------

// The elements of a chunk as numbers, and back.
template <typename Element> struct rows_chunk {
    enum { COUNT = 8 };
    typedef typename rows_element<Element>::pair pair;

    HOPPER_DEVICE void read(const uint4 &from, float (&values)[COUNT])
    {
        const uint32_t words[4] = {from.x, from.y, from.z, from.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float2 two = rows_element<Element>::floats(*(const pair *)&words[i]);
            values[2 * i] = two.x, values[2 * i + 1] = two.y;
        }
    }
    HOPPER_DEVICE uint4 round(const float (&values)[COUNT])
    {
        uint32_t words[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            words[i] = rows_pack<Element>(0, values[2 * i], values[2 * i + 1]);
        return make_uint4(words[0], words[1], words[2], words[3]);
    }
    // The larger of two words of elements; NaN is the largest.
    HOPPER_DEVICE uint32_t larger(uint32_t a, uint32_t b)
    {
        const pair most = __hmax2_nan(*(const pair *)&a, *(const pair *)&b);
        return *(const uint32_t *)&most;
    }
};

template <> struct rows_chunk<int8_t> {
    enum { COUNT = 16 };

    HOPPER_DEVICE void read(const uint4 &from, float (&values)[COUNT])
    {
        const uint32_t words[4] = {from.x, from.y, from.z, from.w};
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            values[i] = (float)(int8_t)(words[i / 4] >> i % 4 * 8);
    }
    HOPPER_DEVICE uint4 round(const float (&values)[COUNT])
    {
        uint32_t words[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            words[i] = rows_pack_bytes(values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3]);
        return make_uint4(words[0], words[1], words[2], words[3]);
    }
    HOPPER_DEVICE uint32_t larger(uint32_t a, uint32_t b)
    {
        return __vmaxs4(a, b);
    }
};

// One chunk of a window, whose first row is `first`. Window: 2, or 0 for one that is only known here.
template <typename Element, int Window>
HOPPER_DEVICE uint4 rows_pool_chunk(const rows_pooling &to, const unsigned char *first, int pitch)
{
    typedef rows_chunk<Element> chunk;
    const int window = Window ? Window : to.window, places = window * window;
    if (!to.average) {
        uint4 most = *(const uint4 *)first;
#pragma unroll
        for (int i = 1; i < places; i++) {
            const uint4 next = *(const uint4 *)(first + (i / window * pitch + i % window) * ROWS_POOL_CHUNK);
            most = make_uint4(chunk::larger(most.x, next.x), chunk::larger(most.y, next.y),
                              chunk::larger(most.z, next.z), chunk::larger(most.w, next.w));
        }
        return most;
    }
    float sums[chunk::COUNT] = {}, values[chunk::COUNT];
#pragma unroll
    for (int i = 0; i < places; i++) {
        chunk::read(*(const uint4 *)(first + (i / window * pitch + i % window) * ROWS_POOL_CHUNK), values);
#pragma unroll
        for (int j = 0; j < chunk::COUNT; j++)
            sums[j] += values[j];
    }
#pragma unroll
    for (int j = 0; j < chunk::COUNT; j++)
        sums[j] /= (float)places;
    return chunk::round(sums);
}

// The larger of two; NaN if one of them is.
HOPPER_DEVICE float rows_larger(float x, float y)
{
    float larger;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(x), "f"(y));
    return larger;
}

// Eight pairs of a window; `lower` bytes lie between a row's upper and lower halves.
HOPPER_DEVICE void rows_pool_pairs(const rows_pooling &to, const unsigned char *first, int pitch, int lower,
                                   uint4 (&halves)[2])
{
    const int window = to.window, places = window * window;
    float found[8];
    for (int i = 0; i < places; i++) {
        const unsigned char *at = first + (i / window * pitch + i % window) * ROWS_POOL_CHUNK;
        float hi[8], lo[8];
        rows_chunk<__half>::read(*(const uint4 *)at, hi);
        rows_chunk<__half>::read(*(const uint4 *)(at + lower), lo);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const float value = hi[j] + lo[j] * rows_pair_unscale;
            found[j] = i == 0 ? value : to.average ? found[j] + value : rows_larger(found[j], value);
        }
    }
    uint32_t words[2][4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float by = to.average ? 1.0f / (float)places : 1.0f;
        words[0][j] = rows_pack<rows_pair>(0, found[2 * j] * by, found[2 * j + 1] * by);
        words[1][j] = rows_pack<rows_pair>(1, found[2 * j] * by, found[2 * j + 1] * by);
    }
#pragma unroll
    for (int half = 0; half < 2; half++)
        halves[half] = make_uint4(words[half][0], words[half][1], words[half][2], words[half][3]);
}

// A row of the output, counted from the tile's first: the image of the tile it is of, and where in the tile its window
// begins; -1: it is a gap. `line`: the tile's first one in the image.
struct rows_pool_place {
    int image, row;
};

HOPPER_DEVICE rows_pool_place rows_pool_place_of(const rows_product &job, const rows_pooling &to, int line, int item)
{
    uint32_t in_image, x;
    rows_pool_place place;
    place.image = (int)heddle_divide((uint32_t)item, to.by_image, &in_image);
    const int y = (int)heddle_divide(in_image, to.by_line, &x);
    const bool inside = (int)x < to.w && line + y < to.h;
    place.row = inside ? place.image * job.image_rows + (y * job.pitch + (int)x) * to.window : -1;
    return place;
}

// Pools what a warp has staged of one pass, and stores it. `channel`: the warp's first.
template <typename Element, int Rows>
HOPPER_DEVICE void rows_store_pooled(const rows_product &job, const rows_pooling &to, const unsigned char *staged,
                                     int tile, int channel, int pass)
{
    enum { CHUNKS = rows_factor<Element>::PAIRS || rows_factor<Element>::BYTES ? 1 : 2 };
    const int part = tile % job.parts, image = tile / job.parts * to.images, line = part * to.lines;
    const int first = image * to.image_rows + line * to.pitch; // of the output
    const int items = min(part + 1 < job.parts ? to.lines * to.pitch
                                               : to.images * to.image_rows - line * to.pitch, // with the lines below
                          to.rows - first);
    for (int i = threadIdx.x % 32; i < items * CHUNKS; i += 32) {
        const int item = i / CHUNKS, chunk = i % CHUNKS;
        const rows_pool_place place = rows_pool_place_of(job, to, line, item);
        const unsigned char *from = staged + (chunk * (Rows + 1) + max(place.row, 0)) * ROWS_POOL_CHUNK;
        const int own = channel + (rows_factor<Element>::PAIRS ? pass : chunk) * 8;
        if (own >= job.k)
            continue;
        const size_t at = (size_t)(first + item) * job.k + own;
        if constexpr (rows_factor<Element>::PAIRS) {
            uint4 halves[2] = {};
            if (place.row >= 0)
                rows_pool_pairs(to, from, job.pitch, (Rows + 1) * ROWS_POOL_CHUNK, halves);
            const size_t columns = (size_t)job.k * (to.flat ? to.image_rows : 1);
            __half *hi = (__half *)to.output + at + (to.flat ? image + place.image : first + item) * columns;
            *(uint4 *)hi = halves[0];
            *(uint4 *)(hi + columns) = halves[1];
        } else {
            uint4 pooled = {};
            if (place.row >= 0)
                pooled = to.window == 2 ? rows_pool_chunk<Element, 2>(to, from, job.pitch)
                                        : rows_pool_chunk<Element, 0>(to, from, job.pitch);
            *(uint4 *)((Element *)to.output + at) = pooled;
        }
    }
}

// A tile: sums (64 channels, Rows). `staged` is the warp's own.
template <typename Element, int Rows>
HOPPER_DEVICE void rows_finish_pool(const rows_product &job, const rows_epilogue &end,
                                    typename rows_factor<Element>::sum (&sums)[Rows / 2], unsigned char *staged,
                                    int tile, int channel)
{
    const int lane = threadIdx.x % 32, first = channel + threadIdx.x % HOPPER_WARPGROUP / 32 * 16;
    if constexpr (!rows_factor<Element>::BYTES)
        rows_activate<rows_precision<Element, Rows, ROWS_END_POOL>()>(job, end, sums, first + lane / 4);
#pragma unroll
    for (int pass = 0; pass < rows_factor<Element>::PLANES; pass++) {
        __syncwarp(); // what was staged before has been read
        if constexpr (rows_factor<Element>::BYTES)
            rows_stage_bytes<Rows>(job, end, sums, staged, first + lane / 4 * 2);
        else
            rows_stage_floats<Element, Rows>(sums, staged, pass);
        __syncwarp();
        rows_store_pooled<Element, Rows>(job, end.pool, staged, tile, first, pass);
    }
}

// The epilogue of a tile: bias, activation, zero rows between images, the channels' sums for a batchnorm that follows,
// and the store to memory.
#pragma once

#include "ops/cuda/division.h"
#include "ops/rows_conv/functions.h"
#include "ops/rows_conv/product_wgmma.h"

enum rows_end { // what a kernel is compiled for
    ROWS_END_STORE,
    ROWS_END_SUMS,   // stores, and sums the channels
    ROWS_END_SLOPE,  // multiplies by the slope of a function, stores
    ROWS_END_FLOATS, // stores float32
    ROWS_END_POOL,   // pools, and stores that alone
};

// What pooling leaves of a tile (pool_wgmma.h).
struct rows_pooling {
    void *output;
    int window, average;
    int images, lines;                // of a tile: whole images, or lines of results of one
    int h, w, pitch, image_rows;      // results of an image, and its rows of the output
    int rows, flat;                   // of the output; 1: a row is a whole image
    heddle_divisor by_image, by_line; // image_rows, pitch
};

struct rows_epilogue {
    const float *bias;         // (k), or NULL
    const float *scale;        // (k), of bytes: factors of sums, or NULL
    int function;              // applied before the value is rounded
    int zero_gaps;             // rows without a result are zero: the output is a convolution's input
    const uint16_t *activated; // (rows, k): for ROWS_END_SLOPE, results of the function
    float *floats;             // (rows, k): the output of ROWS_END_FLOATS
    float *parts;              // (groups, 2, k): for ROWS_END_SUMS, the sums of each block
    float *sums;               // (2, k): their sum
    int *arrived;              // (k / 64): blocks that have stored theirs
    rows_pooling pool;         // for ROWS_END_POOL
};

enum { ROWS_BYTES_ROW = 64 }; // of a box of bytes that is stored

// Stores four 8 by 8 matrices of 16-bit elements to shared memory, transposed: lane i gives the address of column i % 8
// of matrix i / 8, and holds of each matrix two elements of row lane / 4, from column 2 (lane % 4) on.
HOPPER_DEVICE void stmatrix_x4_transposed(void *column, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(hopper_shared(column)),
                 "r"(r0), "r"(r1), "r"(r2), "r"(r3)
                 : "memory");
}

// Stores 64 of a tile's rows: through shared memory, where a row is 64 channels, by TMA. Boxes: the number of buffers
// used in turn.
template <int Boxes, int Pairs>
HOPPER_DEVICE void rows_store_box(const uint32_t (&packed)[16], const CUtensorMap *map, unsigned char *place, int row,
                                  int plane, int channel, int warpgroup)
{
    const int thread = threadIdx.x % HOPPER_WARPGROUP, lane = thread % 32, warp = thread / 32;
    if (thread == 0)
        tma_store_wait_read<Boxes - 1>();
    warpgroup_sync(1 + warpgroup);
#pragma unroll
    for (int j = 0; j < 8; j += 2) { // 16 channels of the warp by 16 rows
        const int in_box = j * 8 + lane / 16 * 8 + lane % 8, chunk = warp * 2 + lane / 8 % 2;
        stmatrix_x4_transposed(place + in_box * HOPPER_ROW_BYTES + (chunk ^ in_box % 8) * 16, packed[2 * j],
                               packed[2 * j + 1], packed[2 * j + 2], packed[2 * j + 3]);
    }
    tma_fence_written();
    warpgroup_sync(1 + warpgroup);
    if (thread == 0) {
        if (Pairs)
            tma_store3(map, place, channel, plane, row);
        else
            tma_store(map, place, channel, row);
        tma_store_commit();
    }
}

// The two warpgroups that multiply.
HOPPER_DEVICE void rows_consumers_sync()
{
    asm volatile("bar.sync 3, %0;" ::"n"(ROWS_WARPGROUPS * HOPPER_WARPGROUP) : "memory");
}

// Marks which of the tile's rows hold results, one bit each, in the warpgroup's own words of shared memory.
template <int Rows> HOPPER_DEVICE void rows_mark(const rows_product &job, int row, uint32_t *marks, int warpgroup)
{
    const int thread = threadIdx.x % HOPPER_WARPGROUP;
    warpgroup_sync(1 + warpgroup); // the marks of the tile before have been read
#pragma unroll
    for (int i = 0; i < Rows; i += HOPPER_WARPGROUP) {
        const uint32_t word = __ballot_sync(~0u, i + thread < Rows && rows_holds_result(job, row + i + thread));
        if (thread % 32 == 0 && i + thread < Rows)
            marks[(i + thread) / 32] = word;
    }
    warpgroup_sync(1 + warpgroup);
}

// To 11 bits, in one instruction: the stored type has fewer.
HOPPER_DEVICE float rows_tanh(float x)
{
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// To which precision a function is computed: that of the stored type, or relu alone.
enum { ROWS_TO_8_BITS, ROWS_TO_11_BITS, ROWS_TO_32_BITS, ROWS_RELU_ONLY };

template <int Count, typename Function> HOPPER_DEVICE void rows_for_each(float (&sums)[Count], Function function)
{
#pragma unroll
    for (int i = 0; i < Count; i++)
        sums[i] = function(sums[i]);
}

// Looks at the function once for all sums: with a branch for each of them, a product takes half as long again.
template <int Precision, int Count> HOPPER_DEVICE void rows_apply(int function, float (&sums)[Count])
{
    if (function == HEDDLE_ROWS_RELU)
        rows_for_each(sums, [](float x) { return relu_value(x); });
    else if (Precision != ROWS_RELU_ONLY && function == HEDDLE_ROWS_TANH)
        rows_for_each(sums, [](float x) {
            return Precision == ROWS_TO_32_BITS   ? tanh_value(x)
                   : Precision == ROWS_TO_11_BITS ? rows_function16(HEDDLE_ROWS_TANH, x)
                                                  : rows_tanh(x);
        });
    else if (Precision != ROWS_RELU_ONLY && function == HEDDLE_ROWS_SIGMOID)
        rows_for_each(sums, [](float x) { // to 8 bits as to 11: by tanh, no bits would be left far below 0
            return Precision == ROWS_TO_32_BITS ? sigmoid_value(x) : rows_function16(HEDDLE_ROWS_SIGMOID, x);
        });
}

template <int Precision, int Count>
HOPPER_DEVICE void rows_activate(const rows_product &job, const rows_epilogue &end, float (&sums)[Count], int own)
{
    if (end.bias) {
        const float bias[2] = {own < job.k ? end.bias[own] : 0, own + 8 < job.k ? end.bias[own + 8] : 0};
#pragma unroll
        for (int i = 0; i < Count; i++)
            sums[i] += bias[i / 2 % 2];
    }
    rows_apply<Precision>(end.function, sums);
}

// Multiplies by the slope at the function's result, which `activated` holds: all are read before the first is used.
template <typename Element, int Count>
HOPPER_DEVICE void rows_multiply_slope(const rows_product &job, const rows_epilogue &end, float (&sums)[Count], int row,
                                       int own)
{
    float slopes[Count];
#pragma unroll
    for (int i = 0; i < Count; i++) {
        const int at = row + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2, channel = own + i / 2 % 2 * 8;
        slopes[i] =
            at < job.rows && channel < job.k ? rows_read((const Element *)end.activated, at, job.k, channel) : 0;
    }
    if (end.function == HEDDLE_ROWS_RELU)
        rows_for_each(slopes, [](float y) { return rows_slope(HEDDLE_ROWS_RELU, y); });
    else if (end.function == HEDDLE_ROWS_TANH)
        rows_for_each(slopes, [](float y) { return rows_slope(HEDDLE_ROWS_TANH, y); });
    else if (end.function == HEDDLE_ROWS_SIGMOID)
        rows_for_each(slopes, [](float y) { return rows_slope(HEDDLE_ROWS_SIGMOID, y); });
    else
        return;
#pragma unroll
    for (int i = 0; i < Count; i++)
        sums[i] *= slopes[i];
}

// 64 of a tile's rows as float32, if the output has them.
HOPPER_DEVICE void rows_store_floats(const rows_product &job, float *output, const float *sums, int row, int own)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 32; i++) {
        const int at = row + i / 4 * 8 + lane % 4 * 2 + i % 2, channel = own + i / 2 % 2 * 8;
        if (at < job.rows && channel < job.k)
            output[(size_t)at * job.k + channel] = sums[i];
    }
}

// Two rows of a channel as they are stored in a plane.
template <typename Element> HOPPER_DEVICE uint32_t rows_pack(int plane, float x, float y)
{
    if constexpr (rows_factor<Element>::PAIRS) {
        __half2 halves[2];
        rows_pair_split(x, y, &halves[0], &halves[1]);
        return *(const uint32_t *)&halves[plane];
    } else {
        const typename rows_element<Element>::pair pair = rows_element<Element>::round(x, y);
        return *(const uint32_t *)&pair;
    }
}

// To which precision a function of a tile is computed. Registers do not hold 256 rows and an exact tanh.
template <typename Element, int Rows, int End> __host__ __device__ static constexpr int rows_precision()
{
    if constexpr (End == ROWS_END_FLOATS || rows_factor<Element>::PAIRS)
        return Rows > 128 ? ROWS_RELU_ONLY : ROWS_TO_32_BITS;
    else
        return rows_element<Element>::IS_HALF ? ROWS_TO_11_BITS : ROWS_TO_8_BITS;
}

// A tile: sums (64 channels, Rows). `totals` are the thread's sums and sums of squares of its two channels.
template <typename Element, int Rows, int End>
HOPPER_DEVICE void rows_finish_tile(const rows_product &job, const rows_epilogue &end, float (&sums)[Rows / 2],
                                    const CUtensorMap *map, unsigned char *boxes, uint32_t *marks, float (&totals)[4],
                                    int row, int channel, int warpgroup)
{
    enum { PAIRS = rows_factor<Element>::PAIRS, PLANES = rows_factor<Element>::PLANES };
    const int lane = threadIdx.x % 32, own = channel + threadIdx.x % HOPPER_WARPGROUP / 32 * 16 + lane / 4;
    if (End == ROWS_END_SLOPE)
        rows_multiply_slope<Element>(job, end, sums, row, own);
    else
        rows_activate<rows_precision<Element, Rows, End>()>(job, end, sums, own);
    const bool marked = End == ROWS_END_SUMS || (End != ROWS_END_FLOATS && end.zero_gaps);
    const uint32_t stored = end.zero_gaps ? 0 : 3; // whatever they hold
    if (marked)
        rows_mark<Rows>(job, row, marks, warpgroup);
    if constexpr (End == ROWS_END_FLOATS) {
#pragma unroll
        for (int box = 0; box < Rows / 64; box++)
            rows_store_floats(job, end.floats, sums + box * 32, row + box * 64, own);
    } else {
#pragma unroll
        for (int part = 0; part < PLANES * Rows / 64; part++) { // a plane of a box
            const int box = part / PLANES, plane = part % PLANES;
            uint32_t packed[16];
#pragma unroll
            for (int i = 0; i < 16; i++) { // two rows of a channel
                const uint32_t bits = marked ? marks[box * 2 + i / 8] >> (i / 2 % 4 * 8 + lane % 4 * 2) : 3;
                const float x = sums[box * 32 + 2 * i], y = sums[box * 32 + 2 * i + 1];
                packed[i] = rows_pack<Element>(plane, (bits | stored) & 1 ? x : 0, (bits | stored) & 2 ? y : 0);
                if (End == ROWS_END_SUMS && plane == 0) {
                    const float first = bits & 1 ? x : 0, second = bits & 2 ? y : 0;
                    totals[i % 2] += first + second;
                    totals[2 + i % 2] += first * first + second * second;
                }
            }
            rows_store_box<(PLANES * Rows > 64 ? (int)ROWS_OUT_BOXES : 1), PAIRS>(
                packed, map, boxes + part % ROWS_OUT_BOXES * ROWS_BOX_BYTES, row + box * 64, plane, channel, warpgroup);
        }
    }
}

// Four sums as bytes, the first lowest.
HOPPER_DEVICE uint32_t rows_pack_bytes(float a, float b, float c, float d)
{
    uint32_t word;
    asm("{\n\t"
        ".reg .b32 upper;\n\t"
        "cvt.pack.sat.s8.s32.b32 upper, %4, %3, 0;\n\t"
        "cvt.pack.sat.s8.s32.b32 %0, %2, %1, upper;\n\t"
        "}"
        : "=r"(word)
        : "r"(__float2int_rn(a)), "r"(__float2int_rn(b)), "r"(__float2int_rn(c)), "r"(__float2int_rn(d)));
    return word;
}

// Two neighbouring channels' scales and biases.
struct rows_requantiser {
    float scale[2], bias[2];
};

HOPPER_DEVICE rows_requantiser rows_requantiser_of(const rows_product &job, const rows_epilogue &end, int own)
{
    rows_requantiser by;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        by.scale[i] = end.scale && own < job.k ? end.scale[own + i] : 1;
        by.bias[i] = end.bias && own < job.k ? end.bias[own + i] : 0;
    }
    return by;
}

// Some whole sums in units of the output: one branch for all.
template <int Count>
HOPPER_DEVICE void rows_requantise_box(int function, const rows_requantiser &by, const int *sums,
                                       float (&values)[Count])
{
#pragma unroll
    for (int i = 0; i < Count; i++)
        values[i] = __fmaf_rn(__int2float_rn(sums[i]), by.scale[i / 2 % 2], by.bias[i / 2 % 2]);
    if (function == HEDDLE_ROWS_RELU)
#pragma unroll
        for (int i = 0; i < Count; i++)
            values[i] = relu_value(values[i]);
    else if (function == HEDDLE_ROWS_TANH)
#pragma unroll
        for (int i = 0; i < Count; i++)
            values[i] = rows_tanh(values[i]) * 127.0f;
    else if (function == HEDDLE_ROWS_SIGMOID)
#pragma unroll
        for (int i = 0; i < Count; i++)
            values[i] = rows_function16(HEDDLE_ROWS_SIGMOID, values[i]) * 127.0f;
}

// Stores 64 of a tile's rows of 64 bytes: packed has eight rows of two channels each.
template <int Boxes>
HOPPER_DEVICE void rows_store_bytes(const uint32_t (&packed)[8], const CUtensorMap *map, unsigned char *place, int row,
                                    int channel, int warpgroup)
{
    const int thread = threadIdx.x % HOPPER_WARPGROUP, lane = thread % 32, warp = thread / 32;
    if (thread == 0)
        tma_store_wait_read<Boxes - 1>();
    warpgroup_sync(1 + warpgroup);
#pragma unroll
    for (int j = 0; j < 8; j += 4) { // 16 channels of the warp by 32 rows; the swizzle of 64 bytes
        const int in_box = j * 8 + lane;
        stmatrix_x4_transposed(place + in_box * ROWS_BYTES_ROW + (warp ^ in_box / 2 % 4) * 16, packed[j], packed[j + 1],
                               packed[j + 2], packed[j + 3]);
    }
    tma_fence_written();
    warpgroup_sync(1 + warpgroup);
    if (thread == 0) {
        tma_store(map, place, channel / 2, row);
        tma_store_commit();
    }
}

// A tile of bytes: sums (64 channels, Rows), of every 16 channels the even ones first.
template <int Rows>
HOPPER_DEVICE void rows_finish_bytes(const rows_product &job, const rows_epilogue &end, int (&sums)[Rows / 2],
                                     const CUtensorMap *map, unsigned char *boxes, uint32_t *marks, int row,
                                     int channel, int warpgroup)
{
    const int lane = threadIdx.x % 32, own = channel + threadIdx.x % HOPPER_WARPGROUP / 32 * 16 + lane / 4 * 2;
    const rows_requantiser by = rows_requantiser_of(job, end, own);
    wgmma_settle(sums);
    if (end.zero_gaps)
        rows_mark<Rows>(job, row, marks, warpgroup);
#pragma unroll
    for (int box = 0; box < Rows / 64; box++) {
        uint32_t packed[8];
        float values[32]; // of a box at a time: registers do not hold those of all beside the sums
        rows_requantise_box(end.function, by, &sums[box * 32], values);
#pragma unroll
        for (int i = 0; i < 8; i++) { // two rows of two channels
            const uint32_t bits = end.zero_gaps ? marks[box * 2 + i / 4] >> (i % 4 * 8 + lane % 4 * 2) : 3;
            const float *four = &values[4 * i]; // of a channel, then of the next
            packed[i] = rows_pack_bytes(bits & 1 ? four[0] : 0, bits & 1 ? four[2] : 0, bits & 2 ? four[1] : 0,
                                        bits & 2 ? four[3] : 0);
        }
        rows_store_bytes<(Rows > 64 ? (int)ROWS_OUT_BOXES : 1)>(
            packed, map, boxes + box % ROWS_OUT_BOXES * ROWS_BOX_BYTES, row + box * 64, channel, warpgroup);
    }
}

// One block adds all blocks' parts of a channel's sums: teams of threads take every n-th part, four sums per thread,
// and then the teams' sums are added in order. kept: four doubles per thread
HOPPER_DEVICE void rows_add_parts(const rows_product &job, const rows_epilogue &end, const rows_block &block,
                                  int channels, double *kept)
{
    const int threads = ROWS_WARPGROUPS * HOPPER_WARPGROUP, fours = 2 * channels / 4, teams = threads / fours;
    const int four = threadIdx.x % fours, team = threadIdx.x / fours;
    const size_t at = (size_t)(four / (fours / 2)) * job.k + block.channel + four % (fours / 2) * 4;
    double sums[4] = {};
    if (team < teams)
#pragma unroll 8
        for (int group = team; group < block.groups; group += teams) {
            const float4 part = __ldcg((const float4 *)(end.parts + (size_t)group * 2 * job.k + at));
            sums[0] += part.x, sums[1] += part.y, sums[2] += part.z, sums[3] += part.w;
        }
#pragma unroll
    for (int i = 0; i < 4; i++)
        kept[threadIdx.x * 4 + i] = sums[i];
    rows_consumers_sync();
    for (int i = threadIdx.x; i < 2 * channels; i += threads) {
        double sum = 0;
        for (int from = 0; from < teams; from++)
            sum += kept[from * fours * 4 + i];
        end.sums[(size_t)(i / channels) * job.k + block.channel + i % channels] = (float)sum;
    }
}

// Stores the sums of a block's channels, sum_of(which, channel), to its own part; the last block to arrive adds all
// parts.
template <typename Sum>
HOPPER_DEVICE void rows_publish_sums(const rows_product &job, const rows_epilogue &end, bool *last, double *kept,
                                     const rows_block &block, int channels, Sum sum_of)
{
    rows_consumers_sync();
    for (int i = threadIdx.x; i < 2 * channels; i += ROWS_WARPGROUPS * HOPPER_WARPGROUP)
        end.parts[((size_t)block.group * 2 + i / channels) * job.k + block.channel + i % channels] =
            sum_of(i / channels, i % channels);
    __threadfence();
    rows_consumers_sync();
    if (threadIdx.x == 0)
        *last = atomicAdd(&end.arrived[block.channel / 64], 1) == block.groups - 1;
    rows_consumers_sync();
    if (!*last)
        return;
    __threadfence();
    rows_add_parts(job, end, block, channels, kept);
    if (threadIdx.x == 0)
        end.arrived[block.channel / 64] = 0; // as the next call needs it
}

template <int Share>
HOPPER_DEVICE void rows_store_sums(const rows_product &job, const rows_epilogue &end, float (&totals)[4],
                                   float (*shared)[2][64], bool *last, double *kept, const rows_block &block,
                                   int warpgroup)
{
    const int thread = threadIdx.x % HOPPER_WARPGROUP, own = thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        totals[i] += __shfl_xor_sync(~0u, totals[i], 1);
        totals[i] += __shfl_xor_sync(~0u, totals[i], 2);
        if (thread % 4 == 0)
            shared[warpgroup][i / 2][own + i % 2 * 8] = totals[i];
    }
    rows_publish_sums(job, end, last, kept, block, min(job.k - block.channel, Share ? 128 : 64),
                      [&](int which, int channel) {
                          return Share ? shared[channel / 64][which][channel % 64]
                                       : shared[0][which][channel] + shared[1][which][channel];
                      });
}

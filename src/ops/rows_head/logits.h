// The logits of a network of few classes and their softmax, for 16 samples per block: shared by rows_head and
// rows_classify.
//
// Each warp has every eighth group of 32 features and multiplies them by mma.sync. A sum does not depend on the order
// of its features: a lane takes eight neighbours of a sample and of a class, one access of 16 bytes each, and gives
// them to the tensor cores in the order in which it has them. The warps' sums are added in shared memory, in order.
// Then a thread has one class of one sample.
//
// Pairs are multiplied in three products: upper by upper halves, and upper by lower in sums of their own. Of bytes, two
// neighbours are one element: all that differs is the product, twice as deep, and its sums, which are whole numbers.
#pragma once

#include "ops/cuda/mma16.h"
#include "ops/cuda/rows8.h"

enum {
    LOGITS_SAMPLES = 16,
    LOGITS_WARPS = 8,
    LOGITS_THREADS = LOGITS_WARPS * 32,
    LOGITS_GROUP = 32, // features that a warp has at a time, eight per lane
    LOGITS_STEPS = 2,  // products for them
};

// A block's sums and what is made of them. Columns: of the logits, 16 or 32
template <int Columns> struct logits_room {
    float parts[LOGITS_WARPS][LOGITS_SAMPLES][Columns];
};

// What a thread needs besides the sums, for its class of its sample: loaded before them, so that nothing waits for it.
struct logits_given {
    int row, column, label; // row: of the batch
    float bias;
};

struct logits_one {
    float probability;
    double loss; // of the sample; the same in all its threads
    bool right;
};

// Eight neighbours of a row, of one of its planes, as four words; zeros if they are not there.
template <bool Aligned, typename Element>
__device__ static void logits_load(const Element *matrix, int row, int columns, int column, int plane, bool there,
                                   uint32_t (&words)[4])
{
    const uint16_t *from =
        (const uint16_t *)matrix + ((size_t)row * rows_layout<Element>::ELEMENTS + plane) * columns + column;
    uint4 bits = {};
    if (there && Aligned)
        bits = *(const uint4 *)from;
    else if (there && sizeof(Element) == 1)
        for (int i = 0; i < (int)sizeof bits; i++)
            ((uint8_t *)&bits)[i] = ((const uint8_t *)matrix)[2 * ((size_t)row * columns + column) + i];
    else if (there)
        bits = make_uint4(from[0] | from[1] << 16, from[2] | from[3] << 16, from[4] | from[5] << 16,
                          from[6] | from[7] << 16);
    words[0] = bits.x, words[1] = bits.y, words[2] = bits.z, words[3] = bits.w;
}

// The products of a group of features: rows of 16 samples by those of Columns classes.
template <typename Type, int Tiles, typename Sum>
__device__ static void logits_multiply(const uint32_t (&x)[2][4], const uint32_t (&w)[Tiles][4], Sum (&sums)[Tiles][4])
{
#pragma unroll
    for (int step = 0; step < LOGITS_STEPS; step++) {
        const uint32_t a[4] = {x[0][2 * step], x[1][2 * step], x[0][2 * step + 1], x[1][2 * step + 1]};
#pragma unroll
        for (int tile = 0; tile < Tiles; tile++) {
            const uint32_t b[2] = {w[tile][2 * step], w[tile][2 * step + 1]};
            mma16(sums[tile], a, b, Type());
        }
    }
}

// A thread's class and sample; `pass` counts the rounds that a block's samples need.
template <int Columns>
__device__ static logits_given logits_give(const float *bias, const int32_t *labels, int n, int k, int first, int pass)
{
    const int place = pass * LOGITS_THREADS + (int)threadIdx.x;
    logits_given given;
    given.row = first + place / Columns;
    given.column = place % Columns;
    given.label = given.row < n ? labels[given.row] : 0;
    given.bias = bias && given.column < k ? bias[given.column] : 0.0f;
    return given;
}

// Some groups of a warp's features: all loads are under way before the first is used.
template <bool Aligned, typename Element, int Columns, int Groups> struct logits_groups {
    enum { TILES = Columns / 8, PLANES = rows_layout<Element>::ELEMENTS, SPAN = LOGITS_WARPS * LOGITS_GROUP };
    typedef typename mma16_sum<typename rows_layout<Element>::type>::type sum;
    uint32_t x[Groups][PLANES][2][4], w[Groups][PLANES][TILES][4];

    // The first of a lane's eight features.
    static __device__ int column_of(int begin, int group)
    {
        return begin + group * SPAN + (int)threadIdx.x / 32 * LOGITS_GROUP + (int)threadIdx.x % 4 * ROWS8;
    }
    __device__ void load_input(const Element *input, int n, int c, int first, int begin)
    {
        const int row = threadIdx.x % 32 / 4;
#pragma unroll
        for (int group = 0; group < Groups; group++) {
            const int column = column_of(begin, group);
#pragma unroll
            for (int plane = 0; plane < PLANES; plane++)
#pragma unroll
                for (int half = 0; half < 2; half++)
                    logits_load<Aligned>(input, first + half * 8 + row, c, column, plane,
                                         column < c && first + half * 8 + row < n, x[group][plane][half]);
        }
    }
    __device__ void load_weight(const Element *weight, int c, int k, int begin)
    {
        const int row = threadIdx.x % 32 / 4;
#pragma unroll
        for (int group = 0; group < Groups; group++) {
            const int column = column_of(begin, group);
#pragma unroll
            for (int plane = 0; plane < PLANES; plane++)
#pragma unroll
                for (int tile = 0; tile < TILES; tile++)
                    logits_load<Aligned>(weight, tile * 8 + row, c, column, plane, column < c && tile * 8 + row < k,
                                         w[group][plane][tile]);
        }
    }
    __device__ void multiply(sum (&sums)[TILES][4], float (&lower)[TILES][4]) const
    {
        typedef typename rows_layout<Element>::type type;
#pragma unroll
        for (int group = 0; group < Groups; group++) {
            logits_multiply<type>(x[group][0], w[group][0], sums);
            if constexpr (PLANES == 2) {
                logits_multiply<type>(x[group][0], w[group][PLANES - 1], lower);
                logits_multiply<type>(x[group][PLANES - 1], w[group][0], lower);
            }
        }
    }
};

// Stores a warp's sums to its part of the room.
template <int Columns>
__device__ static void logits_keep(const float (&sums)[Columns / 8][4], const float (&lower)[Columns / 8][4],
                                   logits_room<Columns> &room)
{
    const int warp = threadIdx.x / 32, row = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int tile = 0; tile < Columns / 8; tile++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            *(float2 *)&room.parts[warp][half * 8 + row][tile * 8 + column] =
                make_float2(sums[tile][2 * half] + lower[tile][2 * half] * rows_pair_unscale,
                            sums[tile][2 * half + 1] + lower[tile][2 * half + 1] * rows_pair_unscale);
}

// The softmax of one sample's logits by Columns neighbouring threads.
template <int Columns>
__device__ static logits_one logits_softmax(const logits_room<Columns> &room, const logits_given &given, int n,
                                            int classes, int first)
{
    const bool counts = given.column < classes, there = given.row < n;
    logits_one one;
    float logit = given.bias;
#pragma unroll
    for (int warp = 0; warp < LOGITS_WARPS; warp++)
        logit += room.parts[warp][given.row - first][given.column];
    float most = counts ? logit : -INFINITY;
    int best = given.column;
#pragma unroll
    for (int distance = Columns / 2; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(~0u, most, distance);
        const int other_best = __shfl_xor_sync(~0u, best, distance);
        if (other > most || (other == most && other_best < best)) {
            most = other;
            best = other_best;
        }
    }
    const float power = counts ? expf(logit - most) : 0.0f;
    float sum = power;
#pragma unroll
    for (int distance = Columns / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(~0u, sum, distance);
    const float own = __shfl_sync(~0u, logit, given.label & (Columns - 1), Columns);
    one.probability = power / sum;
    one.right = best == given.label && there;
    // A kernel cannot report a label that is not a class: the loss becomes NaN.
    one.loss = !there ? 0 : given.label >= 0 && given.label < classes ? logf(sum) + most - own : NAN;
    return one;
}

// Adds a sample's loss, and whether it is right, to the sums of a warp, which its first lane has.
template <int Columns> __device__ static void logits_count(const logits_one &one, double *loss, double *correct)
{
    double found = one.loss, right = one.right;
    if (Columns == 16) { // two samples per warp
        found += __shfl_xor_sync(~0u, found, 16);
        right += __shfl_xor_sync(~0u, right, 16);
    }
    *loss += found;
    *correct += right;
}

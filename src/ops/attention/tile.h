// Products of tiles in shared memory with sums in registers, for attention's rung 4 in float32. 256 threads are a grid
// of 16 by 16: thread (down, across) has rows down, down + 16, ... of a product, and columns likewise. A row's 16
// threads are half a warp, so that a row of weights needs no barrier of the block.
#pragma once

#include "ops/attention/attention_cuda.h"

enum {
    TILE_GRID = 16,
    TILE_THREADS = TILE_GRID * TILE_GRID,
    // Floats behind each row of a tile of numbers, so that eight rows of one column touch all banks, 16 bytes each; and
    // of a tile of weights, so that two neighbouring rows touch different banks.
    TILE_PAD = 4,
    TILE_WEIGHT_PAD = 16,
};

__device__ static inline int tile_down()
{
    return threadIdx.x / TILE_GRID;
}
__device__ static inline int tile_across()
{
    return threadIdx.x % TILE_GRID;
}

// Over the 16 threads of a row; all of them get the result.
template <bool largest> __device__ static inline float tile_combine(float value)
{
#pragma unroll
    for (int distance = TILE_GRID / 2; distance > 0; distance /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, value, distance);
        value = largest ? fmaxf(value, other) : value + other;
    }
    return value;
}

// products (16 Rows, 16 Columns) = a (16 Rows, Size) * b (16 Columns, Size)ᵀ
template <int Rows, int Columns, int Size>
__device__ static inline void tile_multiply(float (&products)[Rows][Columns], const float *a, const float *b)
{
    const int stride = Size + TILE_PAD;
#pragma unroll
    for (int r = 0; r < Rows; r++)
#pragma unroll
        for (int c = 0; c < Columns; c++)
            products[r][c] = 0;
#pragma unroll 4
    for (int d = 0; d < Size; d += HEDDLE_VECTOR) {
        float4 right[Columns];
#pragma unroll
        for (int c = 0; c < Columns; c++)
            right[c] = *(const float4 *)(b + (tile_across() + c * TILE_GRID) * stride + d);
#pragma unroll
        for (int r = 0; r < Rows; r++) {
            const float4 left = *(const float4 *)(a + (tile_down() + r * TILE_GRID) * stride + d);
#pragma unroll
            for (int c = 0; c < Columns; c++)
                products[r][c] += left.x * right[c].x + left.y * right[c].y + left.z * right[c].z + left.w * right[c].w;
        }
    }
}

// Where a thread's sum [r][e] of a tile (16 Rows, Size) is: its vectors of four columns are 64 columns apart.
__device__ static inline int tile_column(int e)
{
    return e / HEDDLE_VECTOR * TILE_GRID * HEDDLE_VECTOR + tile_across() * HEDDLE_VECTOR + e % HEDDLE_VECTOR;
}

// Writes a thread's weights to their tile (16 Rows, 16 Columns), for the other threads of their rows.
template <int Rows, int Columns>
__device__ static inline void tile_share(float *weights, const float (&own)[Rows][Columns])
{
    const int stride = Columns * TILE_GRID + TILE_WEIGHT_PAD;
    __syncwarp(); // all have read what was there
#pragma unroll
    for (int r = 0; r < Rows; r++)
#pragma unroll
        for (int c = 0; c < Columns; c++)
            weights[(tile_down() + r * TILE_GRID) * stride + tile_across() + c * TILE_GRID] = own[r][c];
    __syncwarp();
}

// sums (16 Rows, Size) += weights (16 Rows, 16 Columns) * b (16 Columns, Size)
template <int Rows, int Columns, int Size>
__device__ static inline void tile_add(float (&sums)[Rows][Size / TILE_GRID], const float *weights, const float *b)
{
    const int stride = Size + TILE_PAD, weight_stride = Columns * TILE_GRID + TILE_WEIGHT_PAD;
#pragma unroll 1
    for (int j = 0; j < Columns * TILE_GRID; j += HEDDLE_VECTOR) {
        float weight[Rows][HEDDLE_VECTOR];
#pragma unroll
        for (int r = 0; r < Rows; r++) {
            const float4 four = *(const float4 *)(weights + (tile_down() + r * TILE_GRID) * weight_stride + j);
            weight[r][0] = four.x, weight[r][1] = four.y, weight[r][2] = four.z, weight[r][3] = four.w;
        }
#pragma unroll
        for (int i = 0; i < HEDDLE_VECTOR; i++)
#pragma unroll
            for (int e = 0; e < Size / TILE_GRID; e += HEDDLE_VECTOR) {
                const float4 value = *(const float4 *)(b + (j + i) * stride + tile_column(e));
#pragma unroll
                for (int r = 0; r < Rows; r++) {
                    sums[r][e] += weight[r][i] * value.x;
                    sums[r][e + 1] += weight[r][i] * value.y;
                    sums[r][e + 2] += weight[r][i] * value.z;
                    sums[r][e + 3] += weight[r][i] * value.w;
                }
            }
    }
}

// Stores one row of sums, times a factor, to a row (size) in global memory.
template <int Count>
__device__ static inline void tile_store(float *row, const float (&sums)[Count], float factor, int size, bool vectors)
{
#pragma unroll
    for (int e = 0; e < Count; e += HEDDLE_VECTOR) {
        const int column = tile_column(e);
        if (vectors && column < size)
            *(float4 *)(row + column) =
                make_float4(factor * sums[e], factor * sums[e + 1], factor * sums[e + 2], factor * sums[e + 3]);
#pragma unroll
        for (int i = 0; i < HEDDLE_VECTOR; i++)
            if (!vectors && column + i < size)
                row[column + i] = factor * sums[e + i];
    }
}

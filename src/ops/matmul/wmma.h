// The kernel of matmul's rung 11_tf32_wmma and matmul_bf16's rung 02_wmma: tensor cores through the wmma interface. A
// block keeps a tile of each operand in shared memory, shared by 64 rows and columns. `Element` is the type of the
// operands: float, rounded to tf32 when stored in the tile, or __nv_bfloat16.
#pragma once

#include <mma.h>

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/matmul/element.h"

using namespace nvcuda;

enum {
    TILE = 64, // rows and columns of the output per block
    TILE_K = 32,
    FRAGMENT = 16, // rows and columns of one product
    WARPS_M = 2,
    WARPS_N = 2,
    PER_WARP = TILE / FRAGMENT / 2, // fragments per warp in either direction
    THREADS = WARPS_M * WARPS_N * 32,
    PADDING = 8,     // elements: fragments must start at multiples of 16 bytes or, for floats, 32
    SUM_PADDING = 4, // floats, likewise
};

// The type a fragment is declared with, and how much of k one product takes.
template <typename Element> struct wmma_operand;
template <> struct wmma_operand<float> {
    typedef wmma::precision::tf32 type;
    enum { FRAGMENT_K = 8 };
};
template <> struct wmma_operand<__nv_bfloat16> {
    typedef __nv_bfloat16 type;
    enum { FRAGMENT_K = 16 };
};

__device__ static inline float rounded(float value)
{
    return wmma::__float_to_tf32(value);
}
__device__ static inline __nv_bfloat16 rounded(__nv_bfloat16 value)
{
    return value;
}

// Tile (Rows, Columns) of matrix (rows, columns) at (row, column); zeros beyond it.
template <int Rows, int Columns, typename Element>
__device__ static void load_tile(Element *tile, const Element *matrix, int rows, int columns, int row, int column)
{
    for (int i = threadIdx.x; i < Rows * Columns; i += THREADS) {
        int at_row = row + i / Columns, at_column = column + i % Columns;
        tile[i / Columns * (Columns + PADDING) + i % Columns] =
            at_row < rows && at_column < columns ? rounded(matrix[(size_t)at_row * columns + at_column])
                                                 : matmul_element<Element>(0.0f);
    }
}

template <int Transposed> struct wmma_layout {
    typedef wmma::row_major type;
};
template <> struct wmma_layout<1> {
    typedef wmma::col_major type;
};

// A fragment's first element in a tile (rows, columns), or, if Transposed, one stored (columns, rows).
template <int Transposed, int Rows, int Columns, typename Element>
__device__ static const Element *at(const Element *tile, int row, int column)
{
    return Transposed ? &tile[column * (Rows + PADDING) + row] : &tile[row * (Columns + PADDING) + column];
}

// a: (m, k) or (k, m), b: (k, n) or (n, k), output: (m, n)
template <typename Element, int TransposeA, int TransposeB>
__global__ void __launch_bounds__(THREADS)
    matmul_wmma(heddle_matmul_shape shape, const Element *a, const Element *b, Element *output)
{
    const int K = wmma_operand<Element>::FRAGMENT_K;
    typedef typename wmma_operand<Element>::type type;
    __shared__ __align__(128) Element tile_a[TILE * (TILE_K + PADDING)], tile_b[TILE * (TILE_K + PADDING)];
    __shared__ __align__(128) float sums[TILE * (TILE + SUM_PADDING)];
    const int across = (shape.n - 1) / TILE + 1, warp = threadIdx.x / 32; // tiles per row of tiles
    const int row = blockIdx.x / across * TILE, column = blockIdx.x % across * TILE;
    const int warp_row = warp / WARPS_N * PER_WARP * FRAGMENT, warp_column = warp % WARPS_N * PER_WARP * FRAGMENT;
    const int pitch_a = TransposeA ? TILE + PADDING : TILE_K + PADDING;
    const int pitch_b = TransposeB ? TILE_K + PADDING : TILE + PADDING;
    wmma::fragment<wmma::accumulator, FRAGMENT, FRAGMENT, K, float> sum[PER_WARP][PER_WARP];
    for (int i = 0; i < PER_WARP; i++)
        for (int j = 0; j < PER_WARP; j++)
            wmma::fill_fragment(sum[i][j], 0.0f);

    for (int p = 0; p < shape.k; p += TILE_K) {
        if (TransposeA)
            load_tile<TILE_K, TILE>(tile_a, a, shape.k, shape.m, p, row);
        else
            load_tile<TILE, TILE_K>(tile_a, a, shape.m, shape.k, row, p);
        if (TransposeB)
            load_tile<TILE, TILE_K>(tile_b, b, shape.n, shape.k, column, p);
        else
            load_tile<TILE_K, TILE>(tile_b, b, shape.k, shape.n, p, column);
        __syncthreads();
        for (int k = 0; k < TILE_K; k += K) {
            wmma::fragment<wmma::matrix_a, FRAGMENT, FRAGMENT, K, type, typename wmma_layout<TransposeA>::type>
                rows[PER_WARP];
            wmma::fragment<wmma::matrix_b, FRAGMENT, FRAGMENT, K, type, typename wmma_layout<TransposeB>::type>
                columns[PER_WARP];
            for (int i = 0; i < PER_WARP; i++)
                wmma::load_matrix_sync(rows[i], at<TransposeA, TILE, TILE_K>(tile_a, warp_row + i * FRAGMENT, k),
                                       pitch_a);
            for (int j = 0; j < PER_WARP; j++)
                wmma::load_matrix_sync(columns[j], at<TransposeB, TILE_K, TILE>(tile_b, k, warp_column + j * FRAGMENT),
                                       pitch_b);
            for (int i = 0; i < PER_WARP; i++)
                for (int j = 0; j < PER_WARP; j++)
                    wmma::mma_sync(sum[i][j], rows[i], columns[j], sum[i][j]);
        }
        __syncthreads();
    }

    for (int i = 0; i < PER_WARP; i++)
        for (int j = 0; j < PER_WARP; j++)
            wmma::store_matrix_sync(
                &sums[(warp_row + i * FRAGMENT) * (TILE + SUM_PADDING) + warp_column + j * FRAGMENT], sum[i][j],
                TILE + SUM_PADDING, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * TILE; i += THREADS) {
        int at_row = row + i / TILE, at_column = column + i % TILE;
        if (at_row >= shape.m || at_column >= shape.n)
            continue;
        Element *place = &output[(size_t)at_row * shape.n + at_column];
        float value = shape.alpha * sums[i / TILE * (TILE + SUM_PADDING) + i % TILE];
        *place = matmul_element<Element>(shape.beta == 0.0f ? value : value + shape.beta * matmul_float(*place));
    }
}

template <typename Element> static heddle_status matmul_wmma_launch(const heddle_call *call, const char *rung)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    const Element *a = (const Element *)call->input[0], *b = (const Element *)call->input[1];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    unsigned blocks = heddle_ceil_div(shape->m, TILE) * heddle_ceil_div(shape->n, TILE);
    auto kernel = shape->transpose_a ? (shape->transpose_b ? matmul_wmma<Element, 1, 1> : matmul_wmma<Element, 1, 0>)
                                     : (shape->transpose_b ? matmul_wmma<Element, 0, 1> : matmul_wmma<Element, 0, 0>);
    if (blocks > 0)
        kernel<<<blocks, THREADS, 0, stream>>>(*shape, a, b, (Element *)call->output[0]);
    return heddle_cuda_launched(rung);
}

// The kernel of rungs 2 and 3: a warp has Rows rows of weights, and its lanes take chunks of 32 weights in turn. The
// input, M rows of it, is in shared memory as float32. `Unpack::word(word, zero, weights)` makes eight numbers of a
// word of weights: that, and Rows, is what the rungs differ in.
#pragma once

#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"
#include "ops/matmul_int4/chunk.h"

enum {
    WARP = HEDDLE_WARP,
    WARPS = 8,                                   // of a block
    STAGED = 8192,                               // numbers of the input in shared memory: 32 KiB
    TOGETHER = 4,                                // rows of the input per pass, but for a single row
    VECTORS = HEDDLE_INT4_CHUNK / HEDDLE_VECTOR, // that a lane reads for a chunk
};

// Where a vector of four numbers lies. Lanes read vectors that are a chunk apart: each of eight neighbours finds its
// own in other banks.
__device__ static inline int place_of(int vector)
{
    return vector ^ vector / VECTORS % VECTORS;
}

// Four numbers of a row of the input; zeros beyond its end, and beyond the last row. vectors: rows begin at multiples
// of 8 bytes, and so end with a whole vector.
__device__ static inline float4 four_of(const int4_operands &of, int row, int column, bool vectors)
{
    float number[HEDDLE_VECTOR] = {};
    const __half *from = of.input + (size_t)row * of.shape.k + column;
    if (row < of.shape.m && column < of.shape.k && vectors) {
        const uint2 four = *(const uint2 *)from;
        const float2 low = __half22float2(*(const __half2 *)&four.x), high = __half22float2(*(const __half2 *)&four.y);
        return make_float4(low.x, low.y, high.x, high.y);
    }
    for (int e = 0; e < HEDDLE_VECTOR && row < of.shape.m && column + e < of.shape.k; e++)
        number[e] = __half2float(from[e]);
    return make_float4(number[0], number[1], number[2], number[3]);
}

// sum (Rows, M) += the lane's chunk of each of its rows times the input at vector `first` of the staged part.
template <typename Unpack, int Rows, int M>
__device__ static inline void add_products(float (&sum)[Rows][M], const int4_chunk (&chunk)[Rows],
                                           const float4 (&staged)[M][STAGED / HEDDLE_VECTOR / M], int first)
{
    float part[Rows][M] = {};
#pragma unroll
    for (int word = 0; word < HEDDLE_INT4_WORDS; word++) {
        float4 input[M][2];
#pragma unroll
        for (int i = 0; i < M; i++)
#pragma unroll
            for (int half = 0; half < 2; half++)
                input[i][half] = staged[i][place_of(first + 2 * word + half)];
#pragma unroll
        for (int r = 0; r < Rows; r++) {
            float w[HEDDLE_INT4_WORD];
            Unpack::word(chunk[r].words[word], chunk[r].zero, w);
#pragma unroll
            for (int i = 0; i < M; i++) {
                const float4 low = input[i][0], high = input[i][1];
                part[r][i] += w[0] * low.x + w[1] * low.y + w[2] * low.z + w[3] * low.w;
                part[r][i] += w[4] * high.x + w[5] * high.y + w[6] * high.z + w[7] * high.w;
            }
        }
    }
#pragma unroll
    for (int r = 0; r < Rows; r++)
#pragma unroll
        for (int i = 0; i < M; i++)
            sum[r][i] += __half2float(chunk[r].scale) * part[r][i];
}

// Blocks next to each other have the same weights and another of the `passes` over the input: the L2 cache brings the
// weights to all but the first. A chunk is loaded while the one before is multiplied.
template <typename Unpack, int Rows, int M, bool aligned>
__global__ void __launch_bounds__(WARP *WARPS) matmul_int4_warp_rows(int4_operands of, int passes, bool vectors)
{
    enum { COLUMNS = STAGED / M };
    __shared__ float4 staged[M][COLUMNS / HEDDLE_VECTOR];
    const int lane = threadIdx.x, chunks = heddle_int4_chunks(of.shape.k);
    const int first_i = blockIdx.x % passes * M, first_j = (blockIdx.x / passes * WARPS + threadIdx.y) * Rows;
    float sum[Rows][M] = {};
    int4_chunk next[Rows];
#pragma unroll
    for (int r = 0; r < Rows; r++)
        next[r] = int4_load<aligned>(of, first_j + r, lane);
    for (int begin = 0; begin < chunks; begin += COLUMNS / HEDDLE_INT4_CHUNK) {
        const int end = min(chunks, begin + COLUMNS / HEDDLE_INT4_CHUNK);
        __syncthreads(); // all warps have used what is there
        for (int v = threadIdx.y * WARP + lane; v < (end - begin) * VECTORS; v += WARPS * WARP)
#pragma unroll
            for (int i = 0; i < M; i++)
                staged[i][place_of(v)] =
                    four_of(of, first_i + i, begin * HEDDLE_INT4_CHUNK + v * HEDDLE_VECTOR, vectors);
        __syncthreads();
        for (int chunk = begin + lane; chunk < end; chunk += WARP) {
            int4_chunk now[Rows];
#pragma unroll
            for (int r = 0; r < Rows; r++) {
                now[r] = next[r];
                next[r] = int4_load<aligned>(of, first_j + r, chunk + WARP);
            }
            add_products<Unpack>(sum, now, staged, (chunk - begin) * VECTORS);
        }
    }
#pragma unroll
    for (int r = 0; r < Rows; r++)
#pragma unroll
        for (int i = 0; i < M; i++) {
            const float total = heddle_lanes_combine<WARP, false>(sum[r][i]);
            if (lane == 0 && first_i + i < of.shape.m && first_j + r < of.shape.n)
                of.output[(size_t)(first_i + i) * of.shape.n + first_j + r] = total;
        }
}

template <typename Unpack, int Rows, int M> static void launch_rows(const heddle_call *call, const int4_operands &of)
{
    const unsigned passes = heddle_ceil_div(of.shape.m, M), blocks = heddle_ceil_div(of.shape.n, WARPS * Rows);
    const bool vectors = of.shape.k % HEDDLE_VECTOR == 0 && (uintptr_t)of.input % sizeof(uint2) == 0;
    auto kernel = heddle_aligned16(of.weight) ? matmul_int4_warp_rows<Unpack, Rows, M, true>
                                              : matmul_int4_warp_rows<Unpack, Rows, M, false>;
    if (passes * blocks > 0)
        kernel<<<passes * blocks, dim3(WARP, WARPS), 0, heddle_cuda_stream_of(call)>>>(of, (int)passes, vectors);
}

template <typename Unpack, int Rows>
static heddle_status matmul_int4_warp_rows_launch(const heddle_call *call, const char *rung)
{
    const int4_operands of = int4_operands_of(call);
    if (of.shape.m == 1)
        launch_rows<Unpack, Rows, 1>(call, of);
    else
        launch_rows<Unpack, Rows, TOGETHER>(call, of);
    return heddle_cuda_launched(rung);
}

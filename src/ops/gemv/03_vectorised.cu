// gemv, rung 3: 16-byte loads, several rows per warp, long sums split over the GPU.
//
// Rung 2 loaded 4 bytes at a time and read x again for every row. Here a lane loads four neighbours at once and uses
// its part of x for four rows, so that eight loads are in flight. Transposed, a lane has four columns instead of one.
// Where few outputs would leave the GPU idle, a sum is split into parts (gemv.h says how many), each a warp's or a
// block's; the parts go to the workspace, and a second kernel adds them in a fixed order: the same bits every time.
//
// Rows that do not begin at a multiple of 16 bytes have a head and a tail of up to three elements, which go one by one;
// x is then loaded 4 bytes at a time, from the cache. Transposed such matrices are loaded 4 bytes at a time, coalesced.
//
// Limited by: memory bandwidth. The matrix is read once.

#include "heddle/ops.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"
#include "ops/gemv/gemv.h"

enum {
    WARP = HEDDLE_WARP,
    WARPS = 8, // per block
    ROWS = HEDDLE_GEMV_ROWS,
    STEP = WARP * HEDDLE_VECTOR, // columns that a warp loads at once
    DEEP = 4,                    // transposed: rows in flight per thread
};

// Part `index` of `count` of [0, length), in multiples of `unit` but for the last one's end.
__device__ static inline int2 part_of(int length, int index, int count, int unit)
{
    long long units = (length - 1) / unit + 1;
    int begin = (int)(units * index / count) * unit, end = (int)(units * (index + 1) / count) * unit;
    return make_int2(begin, end < length ? end : length);
}

__device__ static inline float dot4(float4 a, float4 b)
{
    return (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w);
}

// Every row begins at a multiple of 16 bytes. A warp has ROWS rows and one part of the columns.
// a: (m, n), x: (n), sums: (m, parts)
__global__ void __launch_bounds__(WARP *WARPS)
    gemv_rows_aligned(int m, int n, int parts, const float *a, const float *x, float *sums)
{
    const int lane = threadIdx.x;
    const size_t first = ((size_t)blockIdx.x * WARPS + threadIdx.y) * ROWS, rows = (size_t)m;
    if (first >= rows) // a whole warp
        return;
    const int2 cols = part_of(n, blockIdx.y, parts, STEP);
    const float *row[ROWS];
    float sum[ROWS] = {0};
#pragma unroll
    for (int r = 0; r < ROWS; r++) // beyond the last row the last one again, whose sum is not stored
        row[r] = a + (first + r < rows ? first + r : rows - 1) * n;
#pragma unroll 2
    for (int col = cols.x + HEDDLE_VECTOR * lane; col < cols.y; col += STEP) {
        float4 of_x = heddle_load4<true>(x + col);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            sum[r] += dot4(heddle_load4<true>(row[r] + col), of_x);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        sum[r] = heddle_lanes_combine<WARP, false>(sum[r]);
        if (lane == 0 && first + r < rows)
            sums[(first + r) * parts + blockIdx.y] = sum[r];
    }
}

// Rows begin anywhere: one row per warp, its vectors from the first multiple of 16 bytes on.
__global__ void __launch_bounds__(WARP *WARPS)
    gemv_rows_ragged(int m, int n, int parts, const float *a, const float *x, float *sums)
{
    const int lane = threadIdx.x;
    const size_t index = (size_t)blockIdx.x * WARPS + threadIdx.y;
    if (index >= (size_t)m)
        return;
    const float *row = a + index * n;
    int before = (int)(-((uintptr_t)row / sizeof(float)) % HEDDLE_VECTOR), head = before < n ? before : n;
    int vectors = (n - head) / HEDDLE_VECTOR, tail = head + vectors * HEDDLE_VECTOR;
    const int2 own = vectors > 0 ? part_of(vectors, blockIdx.y, parts, WARP) : make_int2(0, 0);
    float sum = 0;
#pragma unroll 4
    for (int v = own.x + lane; v < own.y; v += WARP) {
        int col = head + HEDDLE_VECTOR * v;
        sum += dot4(heddle_load4<true>(row + col), heddle_load4<false>(x + col));
    }
    if (blockIdx.y == 0 && lane < head)
        sum += row[lane] * x[lane];
    if (blockIdx.y == 0 && tail + lane < n)
        sum += row[tail + lane] * x[tail + lane];
    sum = heddle_lanes_combine<WARP, false>(sum);
    if (lane == 0)
        sums[index * parts + blockIdx.y] = sum;
}

// A lane's columns are four neighbours if aligned, and else 32 apart; a block has COLS of them and one part of the
// rows, which its warps take in turn. a: (m, n), x: (m), sums: (n, parts)
template <bool aligned>
__global__ void __launch_bounds__(WARP *WARPS)
    gemv_transposed(int m, int n, int parts, const float *a, const float *x, float *sums)
{
    __shared__ float of_warp[WARPS][HEDDLE_GEMV_COLS];
    const int first = (int)blockIdx.x * HEDDLE_GEMV_COLS, cols = n - first, warp = threadIdx.y;
    const int2 rows = part_of(m, blockIdx.y, parts, 1);
    float sum[HEDDLE_VECTOR] = {0};
    for (int row = rows.x + warp; row < rows.y; row += DEEP * WARPS) {
        float value[DEEP][1][HEDDLE_VECTOR];
#pragma unroll
        for (int d = 0; d < DEEP; d++) {
            int from = row + d * WARPS;
            heddle_row_load<WARP, 1, aligned>(a + (size_t)from * n + first, from < rows.y ? cols : 0, 0, value[d]);
        }
#pragma unroll
        for (int d = 0; d < DEEP; d++) {
            float factor = row + d * WARPS < rows.y ? x[row + d * WARPS] : 0;
#pragma unroll
            for (int k = 0; k < HEDDLE_VECTOR; k++)
                sum[k] += value[d][0][k] * factor;
        }
    }
#pragma unroll
    for (int k = 0; k < HEDDLE_VECTOR; k++)
        of_warp[warp][heddle_row_col<WARP, aligned>(0, k)] = sum[k];
    __syncthreads();
    int col = warp * WARP + threadIdx.x; // the first threads have one column each
    if (col >= HEDDLE_GEMV_COLS || col >= cols)
        return;
    float total = 0;
    for (int w = 0; w < WARPS; w++)
        total += of_warp[w][col];
    sums[(size_t)(first + col) * parts + blockIdx.y] = total;
}

// One warp per output. sums: (outputs, parts), y: (outputs)
__global__ void gemv_add_parts(int outputs, int parts, const float *sums, float *y)
{
    const size_t output = (size_t)blockIdx.x * WARPS + threadIdx.y;
    if (output >= (size_t)outputs)
        return;
    float sum = 0;
    for (int part = threadIdx.x; part < parts; part += WARP)
        sum += sums[output * parts + part];
    sum = heddle_lanes_combine<WARP, false>(sum);
    if (threadIdx.x == 0)
        y[output] = sum;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_gemv_shape *shape = (const heddle_gemv_shape *)call->shape;
    const float *a = (const float *)call->input[0], *x = (const float *)call->input[1];
    const int m = shape->m, n = shape->n, outputs = heddle_gemv_outputs(shape), parts = heddle_gemv_parts(shape);
    float *y = (float *)call->output[0], *sums = parts > 1 ? (float *)call->workspace : y;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    const bool aligned = n % HEDDLE_VECTOR == 0 && heddle_aligned16(a);
    const dim3 threads(WARP, WARPS);
    if (outputs == 0)
        return HEDDLE_OK;
    if (shape->transpose)
        (aligned ? gemv_transposed<true>
                 : gemv_transposed<false>)<<<dim3(heddle_ceil_div(n, HEDDLE_GEMV_COLS), parts), threads, 0, stream>>>(
            m, n, parts, a, x, sums);
    else if (aligned && heddle_aligned16(x) && n > 0)
        gemv_rows_aligned<<<dim3(heddle_ceil_div(m, ROWS * WARPS), parts), threads, 0, stream>>>(m, n, parts, a, x,
                                                                                                 sums);
    else
        gemv_rows_ragged<<<dim3(heddle_ceil_div(m, WARPS), parts), threads, 0, stream>>>(m, n, parts, a, x, sums);
    if (parts > 1)
        gemv_add_parts<<<heddle_ceil_div(outputs, WARPS), threads, 0, stream>>>(outputs, parts, sums, y);
    return heddle_cuda_launched("03_vectorised");
}

HEDDLE_CUDA_RUNG("gemv", "03_vectorised", launch)

// The epilogue of a product of fp32 class (parts.h) on the device: finite sums are stored, others are computed again.
#pragma once

#include "ops/matmul/parts.h"
#include "ops/matmul/tile.h"

// The operands of the product, and where its sums go.
struct parts_task {
    heddle_matmul_shape shape;
    matmul_operand a, b;
    float *output;  // (m, n)
    float *partial; // (splits, m, n) if k is split, else NULL
    int splits;
};

static inline parts_task parts_task_of(const heddle_call *call, int splits, void *partial)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    return {*shape,
            matmul_operand_a(shape, call->input[0]),
            matmul_operand_b(shape, call->input[1]),
            (float *)call->output[0],
            splits > 1 ? (float *)partial : NULL,
            splits};
}

// The work of a block at one time: a tile of the output, and the steps [begin, end) of k.
struct parts_work {
    int row, column; // in tiles
    int split, begin, end;
};

// Tiles are numbered in bands of this many rows, down first. Blocks that run at the same time then form roughly a
// square, and the L2 cache holds its rows of a and columns of b for all of them.
enum { PARTS_BAND = 8 };

// Number `index` of the product's work items, all tiles of one part of k first; `steps` covers all of k.
__device__ static inline parts_work parts_work_of(const parts_task &task, int tile_m, int tile_n, int steps, int index)
{
    const int down = (task.shape.m - 1) / tile_m + 1, across = (task.shape.n - 1) / tile_n + 1;
    const int tile = index % (down * across), split = index / (down * across);
    const int band = tile / (PARTS_BAND * across) * PARTS_BAND, rest = tile % (PARTS_BAND * across);
    const int height = min((int)PARTS_BAND, down - band);
    return {band + rest % height, rest / height, split, (int)((long long)steps * split / task.splits),
            (int)((long long)steps * (split + 1) / task.splits)};
}

// Where the sums of a part of k go: the output if there is one part, else a place of its own.
__device__ static inline float *parts_output(const parts_task &task, int split)
{
    return task.partial ? task.partial + (size_t)split * task.shape.m * task.shape.n : task.output;
}

// Two neighbouring sums of a row: one 8-byte store if the rows are aligned.
__device__ static inline void parts_store(const parts_task &task, float *output, int row, int column, float first,
                                          float second)
{
    const heddle_matmul_shape &shape = task.shape;
    if (row >= shape.m || column >= shape.n)
        return;
    const float alpha = task.partial ? 1.0f : shape.alpha, beta = task.partial ? 0.0f : shape.beta;
    float *to = output + (size_t)row * shape.n + column;
    const bool both = column + 1 < shape.n;
    float2 value = {alpha * first, alpha * second};
    if (beta != 0.0f) {
        value.x += beta * to[0];
        value.y += both ? beta * to[1] : 0.0f;
    }
    if (shape.n % 2 == 0 && (size_t)output % sizeof(float2) == 0) {
        *(float2 *)to = value;
    } else {
        to[0] = value.x;
        if (both)
            to[1] = value.y;
    }
}

// mma and wgmma give a warp 16 rows by 8 columns of sums at a time: lane l has columns 2 (l % 4) and the next of row l
// / 4, then the same of row l / 4 + 8. Four of these side by side are a block.
enum {
    PARTS_BLOCK_ROWS = 16,
    PARTS_BLOCK_COLUMNS = 32,
    PARTS_BLOCK_SUMS = PARTS_BLOCK_ROWS * PARTS_BLOCK_COLUMNS / 32, // per lane
    PARTS_BLOCK_PITCH = PARTS_BLOCK_COLUMNS + 8,                    // floats: four rows of pairs then touch all banks
    PARTS_BLOCK_FLOATS = PARTS_BLOCK_ROWS * PARTS_BLOCK_PITCH,      // of shared memory, per warp
};

// Where sum `i` lies in a block.
__device__ static inline void parts_place(int i, int *row, int *column)
{
    const int lane = threadIdx.x % 32;
    *row = i / 2 % 2 * 8 + lane / 4;
    *column = i / 4 * 8 + lane % 4 * 2 + i % 2;
}

// Whether pairs are stored directly: four lanes then fill a sector of memory, and no other block writes to it.
__device__ static inline bool parts_whole_sectors(const parts_task &task, const float *output)
{
    const int sector = 32;
    return task.shape.n % (sector / (int)sizeof(float)) == 0 && (size_t)output % sector == 0;
}

// A block of a warp's sums; the first is (row, column) of the output.
__device__ static inline void parts_store_block(const parts_task &task, float *output, int row, int column,
                                                const float *sums)
{
#pragma unroll
    for (int i = 0; i < PARTS_BLOCK_SUMS; i += 2) {
        int r, c;
        parts_place(i, &r, &c);
        parts_store(task, output, row + r, column + c, sums[i], sums[i + 1]);
    }
}

// The same if sectors are not whole: through `buffer`, of PARTS_BLOCK_FLOATS, so that a warp stores 32 neighbours.
// `meet` is called before and after it is written, and synchronises at least the warp.
template <typename Meet>
__device__ static inline void parts_store_block_turned(const parts_task &task, float *output, int row, int column,
                                                       const float *sums, float *buffer, Meet meet)
{
    const int lane = threadIdx.x % 32;
    const float alpha = task.partial ? 1.0f : task.shape.alpha, beta = task.partial ? 0.0f : task.shape.beta;
    meet();
#pragma unroll
    for (int i = 0; i < PARTS_BLOCK_SUMS; i += 2) {
        int r, c;
        parts_place(i, &r, &c);
        *(float2 *)(buffer + r * PARTS_BLOCK_PITCH + c) = make_float2(sums[i], sums[i + 1]);
    }
    meet();
    if (column + lane >= task.shape.n)
        return;
    float *to = output + (size_t)row * task.shape.n + column + lane;
#pragma unroll 4
    for (int r = 0; r < min((int)PARTS_BLOCK_ROWS, task.shape.m - row); r++) {
        const float sum = alpha * buffer[r * PARTS_BLOCK_PITCH + lane];
        *to = beta == 0.0f ? sum : sum + beta * *to;
        to += task.shape.n;
    }
}

// One element in plain float32.
__device__ static inline float parts_again(const parts_task &task, int row, int column)
{
    float sum = 0;
#pragma unroll 1
    for (int p = 0; p < task.shape.k; p++)
        sum = fmaf(matmul_at(task.a, row, p), matmul_at(task.b, column, p), sum);
    return sum;
}

// This thread's elements of a block, in plain float32.
__device__ static inline void parts_store_again(const parts_task &task, int row, int column)
{
#pragma unroll 1
    for (int i = 0; i < PARTS_BLOCK_SUMS; i++) {
        int r, c;
        parts_place(i, &r, &c);
        if (row + r < task.shape.m && column + c < task.shape.n)
            matmul_write(task.shape, task.output, row + r, column + c, parts_again(task, row + r, column + c));
    }
}

// Zero times a number is zero, except for infinity and NaN.
template <int Count> __device__ static inline bool parts_finite(const float *sums)
{
    float zero = 0;
#pragma unroll
    for (int i = 0; i < Count; i++)
        zero = fmaf(sums[i], 0.0f, zero);
    return zero == 0.0f;
}

// output = alpha * sum of the parts, in order, + beta * output
__global__ static void matmul_add_split_parts(parts_task task, size_t elements)
{
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= elements)
        return;
    float sum = 0;
#pragma unroll 8
    for (int s = 0; s < task.splits; s++)
        sum += task.partial[s * elements + at];
    const int row = (int)(at / task.shape.n), column = (int)(at % task.shape.n);
    if (!parts_finite<1>(&sum))
        sum = parts_again(task, row, column);
    matmul_write(task.shape, task.output, row, column, sum);
}

static inline void parts_add_splits(const parts_task &task, cudaStream_t stream)
{
    const size_t elements = (size_t)task.shape.m * task.shape.n;
    if (task.splits > 1)
        matmul_add_split_parts<<<heddle_cuda_blocks(elements), HEDDLE_CUDA_BLOCK, 0, stream>>>(task, elements);
}

// What matmul's rungs 2 to 9 share and their lessons are not about: an element of op(a) or op(b) in either storage
// order, zero past the edges, and the epilogue of a finished sum.
//
// Both operands are seen as (rows, k): rows are the output's rows for a, its columns for b.
#pragma once

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

struct matmul_operand {
    const float *data;
    int rows, k;
    size_t row_stride, k_stride; // in floats; one of them is 1
};

static inline matmul_operand matmul_operand_a(const heddle_matmul_shape *shape, const void *data)
{
    size_t m = (size_t)shape->m, k = (size_t)shape->k;
    bool turned = shape->transpose_a != 0;
    return {(const float *)data, shape->m, shape->k, turned ? 1 : k, turned ? m : 1};
}

static inline matmul_operand matmul_operand_b(const heddle_matmul_shape *shape, const void *data)
{
    size_t n = (size_t)shape->n, k = (size_t)shape->k;
    bool turned = shape->transpose_b != 0;
    return {(const float *)data, shape->n, shape->k, turned ? k : 1, turned ? 1 : n};
}

__device__ static inline float matmul_at(const matmul_operand &operand, int row, int k)
{
    if (row >= operand.rows || k >= operand.k)
        return 0;
    return operand.data[row * operand.row_stride + k * operand.k_stride];
}

// Whether neighbours in memory are neighbours in k.
__device__ static inline bool matmul_along_k(const matmul_operand &operand)
{
    return operand.k_stride == 1;
}

// Whether the four elements from here on, in storage order, can be read as one float4.
__device__ static inline bool matmul_is_vector(const matmul_operand &operand, int row, int k)
{
    int last_row = matmul_along_k(operand) ? row : row + 3, last_k = matmul_along_k(operand) ? k + 3 : k;
    const float *first = operand.data + row * operand.row_stride + k * operand.k_stride;
    return last_row < operand.rows && last_k < operand.k && (size_t)first % sizeof(float4) == 0;
}

// Those four: one load, or four at an edge or if they are not aligned.
__device__ static inline float4 matmul_four(const matmul_operand &operand, int row, int k)
{
    if (matmul_is_vector(operand, row, k))
        return *(const float4 *)(operand.data + row * operand.row_stride + k * operand.k_stride);
    int to_k = matmul_along_k(operand) ? 1 : 0, to_row = 1 - to_k;
    return make_float4(matmul_at(operand, row, k), matmul_at(operand, row + to_row, k + to_k),
                       matmul_at(operand, row + 2 * to_row, k + 2 * to_k),
                       matmul_at(operand, row + 3 * to_row, k + 3 * to_k));
}

// output[row][column] = alpha * sum + beta * output[row][column], if there is such an element.
__device__ static inline void matmul_write(const heddle_matmul_shape &shape, float *output, int row, int column,
                                           float sum)
{
    if (row >= shape.m || column >= shape.n)
        return;
    float *to = output + (size_t)row * shape.n + column;
    *to = shape.beta == 0.0f ? shape.alpha * sum : shape.alpha * sum + shape.beta * *to;
}

// The end of every launcher: blocks of block_m by block_n elements, numbered along the rows of the output.
#define MATMUL_LAUNCH(kernel, rung, block_m, block_n, threads)                                                         \
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;                                       \
    unsigned blocks = heddle_ceil_div(shape->m, block_m) * heddle_ceil_div(shape->n, block_n);                         \
    if (blocks > 0)                                                                                                    \
        kernel<<<blocks, threads, 0, heddle_cuda_stream_of(call)>>>(*shape, matmul_operand_a(shape, call->input[0]),   \
                                                                    matmul_operand_b(shape, call->input[1]),           \
                                                                    (float *)call->output[0]);                         \
    return heddle_cuda_launched(rung)

// Where a block's tile of the output begins.
struct matmul_corner {
    int row, column;
};

__device__ static inline matmul_corner matmul_tile_of(const heddle_matmul_shape &shape, int block_m, int block_n)
{
    int across = (shape.n + block_n - 1) / block_n;
    return {(int)blockIdx.x / across * block_m, (int)blockIdx.x % across * block_n};
}

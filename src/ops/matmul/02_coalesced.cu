// matmul, rung 2: neighbouring threads compute neighbouring columns.
//
// Rung 1 gave neighbouring threads neighbouring rows: a warp loaded from 32 rows of a and stored to 32 rows of the
// output, 32 sectors of 32 bytes for 4 bytes each. Only the line that computes row and column changes. A warp now reads
// one element of a, which is broadcast, and 32 neighbours of b, and stores 32 neighbours: 1, 4 and 4 sectors. (From
// here on operands come with their strides, so that one kernel serves all layouts, and b is accessed by columns.)
//
// Limited by: two loads from global memory per multiplication, though most hit a cache. Each row of a is read n times,
// each column of b m times.

#include "ops/matmul/tile.h"

// a: (m, k), b: (n, k), output: (m, n)
__global__ void matmul_coalesced(heddle_matmul_shape shape, matmul_operand a, matmul_operand b, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)shape.m * shape.n)
        return;
    int row = (int)(at / shape.n), column = (int)(at % shape.n);
    float sum = 0;
    for (int p = 0; p < shape.k; p++)
        sum += a.data[row * a.row_stride + p * a.k_stride] * b.data[column * b.row_stride + p * b.k_stride];
    matmul_write(shape, output, row, column, sum);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_matmul_shape *shape = (const heddle_matmul_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks((size_t)shape->m * shape->n);
    if (blocks > 0)
        matmul_coalesced<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, matmul_operand_a(shape, call->input[0]), matmul_operand_b(shape, call->input[1]),
            (float *)call->output[0]);
    return heddle_cuda_launched("02_coalesced");
}

HEDDLE_CUDA_RUNG("matmul_forward", "02_coalesced", launch)

// transpose, rung 1: one thread per element.
//
// A warp reads 32 neighbouring elements of a row in one request of four sectors. It writes them down a column, to 32
// places: each 4-byte store touches a sector of 32 bytes.
//
// Limited by: the stores. The L2 cache handles eight times the bytes that are needed.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// input: (rows, cols), output: (cols, rows)
__global__ void transpose_naive(int rows, int cols, const float *input, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)rows * cols)
        return;
    int row = (int)(at / cols), col = (int)(at % cols);
    output[(size_t)col * rows + row] = input[at];
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    unsigned blocks = heddle_cuda_blocks((size_t)shape->rows * shape->cols);
    if (blocks > 0)
        transpose_naive<<<blocks, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->rows, shape->cols, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("transpose", "01_naive", launch)

// softmax and log_softmax, rung 3: a warp a row; largest value and sum found together, in one pass, by shuffles.
//
// Rung 2 read a row for its largest value, again for the sum and again for the output, and its trees went through
// shared memory and barriers. Here each lane keeps the largest value it has seen and the sum of exp of the distances to
// it; a larger value scales the sum down (the online softmax). Lanes are merged the same way, by shuffles: no shared
// memory, no barrier, and eight rows a block, so that short rows fill it too.
//
// Limited by: the second reading of the row, for the output, and 4 bytes a load. A lane's steps wait for each other, so
// rows of many thousands leave the memory waiting for the warp.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

enum {
    WARP = 32,
    ROWS = HEDDLE_CUDA_BLOCK / WARP, // of a block
};
static const unsigned ALL_LANES = 0xffffffffu;

// Part of a row: its largest value, and the sum of exp(x - most).
typedef struct row_part {
    float most, sum;
} row_part;

__device__ static row_part merge(row_part a, row_part b)
{
    float most = fmaxf(a.most, b.most);
    // Nothing but -inf so far (or nothing at all): no distance to it is a number, and neither is the row's output if
    // it stays at that.
    float from = most == -INFINITY ? 0 : most;
    return row_part{most, a.sum * expf(a.most - from) + b.sum * expf(b.most - from)};
}

__device__ static row_part part_of_lane(const float *x, int cols)
{
    row_part part = {-INFINITY, 0};
    for (int j = threadIdx.x % WARP; j < cols; j += WARP)
        part = merge(part, row_part{x[j], 1});
    return part;
}

// input and output: (rows, cols)
template <bool logarithm> __global__ void softmax_warp_a_row(heddle_rows_shape shape, const float *input, float *output)
{
    size_t row = (size_t)blockIdx.x * ROWS + threadIdx.x / WARP;
    if (row >= (size_t)shape.rows) // the whole warp
        return;
    const float *x = input + row * shape.cols;
    float *y = output + row * shape.cols;

    row_part part = part_of_lane(x, shape.cols);
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        part = merge(part, row_part{__shfl_xor_sync(ALL_LANES, part.most, distance),
                                    __shfl_xor_sync(ALL_LANES, part.sum, distance)});

    float log_sum = logf(part.sum);
    for (int j = threadIdx.x % WARP; j < shape.cols; j += WARP)
        y[j] = logarithm ? x[j] - part.most - log_sum : expf(x[j] - part.most) / part.sum;
}

template <bool logarithm> static heddle_status launch(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    if (shape->rows > 0 && shape->cols > 0)
        softmax_warp_a_row<logarithm>
            <<<heddle_ceil_div(shape->rows, ROWS), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
                *shape, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("03_warp_a_row");
}

HEDDLE_CUDA_RUNG("softmax_forward", "03_warp_a_row", launch<false>)
HEDDLE_CUDA_RUNG("log_softmax_forward", "03_warp_a_row", launch<true>)

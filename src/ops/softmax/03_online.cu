// softmax and log_softmax, rung 3: largest value and sum found together, in one pass, and merged by shuffles.
//
// Rung 2 read a row for its largest value, again for the sum and again for the output, and its trees went through
// shared memory and barriers. Here each thread keeps the largest value it has seen and the sum of exp of the distances
// to it; a larger value scales the sum down (the online softmax). Then the threads of a row agree on its largest value,
// lanes by shuffles and warps by one barrier, each scales its sum to that, and the sums are added up the same way
// (row_group.h). A row of up to 1024 has a warp, eight rows a block, so that short rows fill it too; a longer one has
// the block, so that the rows under way still lie in the L2 cache when they are read again.
//
// Limited by: the second reading of the row, for the output, and 4 bytes per load.

#include "heddle/ops.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"

enum {
    WARP = HEDDLE_WARP,
    BLOCK = 256,
    WARP_COLS = 1024, // longest row of a warp
    LOADS = 4,        // under way at once, of a thread; the sum is scaled once for all of them
};

// Part of a row: its largest value, and the sum of exp(x - most).
typedef struct row_part {
    float most, sum;
} row_part;

// Where distances are taken from. As long as there is nothing but -inf (or nothing at all) no distance to that is a
// number; and neither is the row's output if it stays at that.
__device__ static float origin(float most)
{
    return most == -INFINITY ? 0 : most;
}

template <int threads> __device__ static row_part part_of_thread(const float *x, int cols)
{
    row_part part = {-INFINITY, 0};
    for (int first = threadIdx.x % threads; first < cols; first += LOADS * threads) {
        float value[LOADS], most = part.most, sum = 0;
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            value[i] = first + i * threads < cols ? x[first + i * threads] : -INFINITY;
            most = fmaxf(most, value[i]);
        }
        float from = origin(most);
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            sum += expf(value[i] - from);
        part = row_part{most, part.sum * expf(part.most - from) + sum};
    }
    return part;
}

// Over all threads of a row, the same in each of them.
template <int threads> __device__ static row_part part_of_row(row_part part)
{
    __shared__ float of_warp[2][HEDDLE_WARPS];
    float most = heddle_group_max<threads>(part.most, of_warp[0]);
    return row_part{most, heddle_group_sum<threads>(part.sum * expf(part.most - origin(most)), of_warp[1])};
}

// input and output: (rows, cols)
template <int threads, bool logarithm>
__global__ void __launch_bounds__(BLOCK) softmax_online(heddle_rows_shape shape, const float *input, float *output)
{
    size_t row = (size_t)blockIdx.x * (BLOCK / threads) + threadIdx.x / threads;
    if (row >= (size_t)shape.rows) // a whole warp
        return;
    const float *x = input + row * shape.cols;
    float *y = output + row * shape.cols;
    row_part part = part_of_row<threads>(part_of_thread<threads>(x, shape.cols));
    float log_sum = logf(part.sum), scale = 1 / part.sum;
    for (int j = threadIdx.x % threads; j < shape.cols; j += threads)
        y[j] = logarithm ? x[j] - part.most - log_sum : expf(x[j] - part.most) * scale;
}

template <bool logarithm> static heddle_status launch(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    bool short_rows = shape->cols <= WARP_COLS;
    unsigned blocks = short_rows ? heddle_ceil_div(shape->rows, BLOCK / WARP) : shape->rows;
    if (shape->rows > 0 && shape->cols > 0)
        (short_rows ? softmax_online<WARP, logarithm>
                    : softmax_online<BLOCK, logarithm>)<<<blocks, BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("03_online");
}

HEDDLE_CUDA_RUNG("softmax_forward", "03_online", launch<false>)
HEDDLE_CUDA_RUNG("log_softmax_forward", "03_online", launch<true>)

// softmax and log_softmax, rung 3: the largest value and the sum in one pass, merged by shuffles.
//
// Rung 2 read a row for its largest value, again for the sum and again for the output, and its trees used shared memory
// and barriers. Here each thread keeps the largest value seen so far and the sum of exp(x - largest); a larger value
// scales the sum down (the online softmax). Then the threads of a row agree on its largest value, lanes by shuffles and
// warps through one barrier. Each thread rescales its sum, and the sums are added the same way (row_group.h). A row of
// up to 1024 elements gets one warp, eight rows per block, so that short rows fill the block too. A longer row gets a
// block, so that rows in flight are still in the L2 cache when they are read again.
//
// Limited by: the second read of the row, for the output, and 4 bytes per load.

#include "heddle/ops.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"

enum {
    WARP = HEDDLE_WARP,
    BLOCK = 256,
    WARP_COLS = 1024, // longest row for one warp
    LOADS = 4,        // in flight at once, per thread; the sum is rescaled once for all of them
};

// Part of a row: its largest value, and the sum of exp(x - most).
typedef struct row_part {
    float most, sum;
} row_part;

// The value that is subtracted. As long as there is only -inf (or nothing), the difference from it is NaN; if that
// stays so, the row's output is NaN too.
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

// Over all threads of a row, with the same result in each of them.
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

// layernorm, rung 3: mean and variance in one pass, by Welford's algorithm, merged by shuffles.
//
// Rung 2 read a row for its mean, again for the squares around it and again for the output, and its trees used shared
// memory and barriers. Here each thread keeps the mean of the elements seen so far and the squares around it; new
// elements update both. Then the threads of a row agree on its mean, lanes by shuffles and warps through one barrier.
// Each thread moves its squares to that mean, and they are added the same way (row_group.h). A row of up to 1024
// elements gets one warp, eight rows per block, so that short rows fill the block too. A longer row gets a block, so
// that rows in flight are still in the L2 cache when they are read again.
//
// Limited by: the second read of the row, for the output, and 4 bytes per load.

#include "heddle/ops.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"

enum {
    WARP = HEDDLE_WARP,
    BLOCK = 256,
    WARP_COLS = 1024, // longest row for one warp
    LOADS = 4,        // in flight at once, per thread; the mean is updated once for all of them
};

// Part of a row: how many elements, their mean, and the sum of their squared distances to it.
typedef struct moments {
    float count, mean, squares;
} moments;

__device__ static moments merge(moments a, moments b)
{
    float count = a.count + b.count, distance = b.mean - a.mean, share = b.count / count;
    return moments{count, a.mean + distance * share, a.squares + b.squares + distance * distance * a.count * share};
}

// LOADS elements, all at once.
__device__ static moments moments_of(const float (&value)[LOADS])
{
    moments part = {LOADS, 0, 0};
#pragma unroll
    for (int i = 0; i < LOADS; i++)
        part.mean += value[i] / LOADS;
#pragma unroll
    for (int i = 0; i < LOADS; i++)
        part.squares += (value[i] - part.mean) * (value[i] - part.mean);
    return part;
}

template <int threads> __device__ static moments moments_of_thread(const float *x, int cols)
{
    moments seen = {0, 0, 0};
    int j = threadIdx.x % threads;
    for (; j + (LOADS - 1) * threads < cols; j += LOADS * threads) {
        float value[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            value[i] = x[j + i * threads];
        seen = merge(seen, moments_of(value));
    }
    for (; j < cols; j += threads)
        seen = merge(seen, moments{1, x[j], 0});
    return seen;
}

// Over all threads of a row, with the same result in each of them.
template <int threads> __device__ static moments moments_of_row(moments part, int cols)
{
    __shared__ float of_warp[2][HEDDLE_WARPS];
    float mean = heddle_group_sum<threads>(part.mean * part.count, of_warp[0]) / cols;
    float distance = part.mean - mean, squares = part.squares + part.count * distance * distance;
    return moments{(float)cols, mean, heddle_group_sum<threads>(squares, of_warp[1])};
}

// input and output: (rows, cols), gamma and beta: (cols), saved_mean and saved_inverse_std: (rows)
template <int threads>
__global__ void __launch_bounds__(BLOCK)
    layernorm_welford(heddle_layernorm_shape shape, const float *input, const float *gamma, const float *beta,
                      float *output, float *saved_mean, float *saved_inverse_std)
{
    size_t row = (size_t)blockIdx.x * (BLOCK / threads) + threadIdx.x / threads;
    if (row >= (size_t)shape.rows) // a whole warp
        return;
    const float *x = input + row * shape.cols;
    float *y = output + row * shape.cols;
    moments all = moments_of_row<threads>(moments_of_thread<threads>(x, shape.cols), shape.cols);
    float inverse_std = 1 / sqrtf(all.squares / shape.cols + shape.epsilon);
    for (int j = threadIdx.x % threads; j < shape.cols; j += threads)
        y[j] = (x[j] - all.mean) * inverse_std * gamma[j] + beta[j];
    if (threadIdx.x % threads == 0) {
        saved_mean[row] = all.mean;
        saved_inverse_std[row] = inverse_std;
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = (const heddle_layernorm_shape *)call->shape;
    bool short_rows = shape->cols <= WARP_COLS;
    unsigned blocks = short_rows ? heddle_ceil_div(shape->rows, BLOCK / WARP) : shape->rows;
    if (shape->rows > 0)
        (short_rows ? layernorm_welford<WARP>
                    : layernorm_welford<BLOCK>)<<<blocks, BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
            (float *)call->output[0], (float *)call->output[1], (float *)call->output[2]);
    return heddle_cuda_launched("03_welford");
}

HEDDLE_CUDA_RUNG("layernorm_forward", "03_welford", launch)

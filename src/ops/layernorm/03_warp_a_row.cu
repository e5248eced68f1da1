// layernorm, rung 3: a warp a row; mean and variance found together, in one pass, by Welford's way and shuffles.
//
// Rung 2 read a row for its mean, again for the squares around it and again for the output, and its trees went through
// shared memory and barriers. Here each lane keeps the mean of what it has seen and the squares around that; a new
// element moves both. Lanes are merged likewise, by shuffles: no shared memory, no barrier, and eight rows a block, so
// that short rows fill it too.
//
// Limited by: the second reading of the row, for the output, 4 bytes a load, and a division an element for the moving
// mean. A lane's steps wait for each other, so long rows leave the memory waiting for the warp.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

enum {
    WARP = 32,
    ROWS = HEDDLE_CUDA_BLOCK / WARP, // of a block
};
static const unsigned ALL_LANES = 0xffffffffu;

// Part of a row: how many elements, their mean, and the sum of their squared distances to it.
typedef struct moments {
    float count, mean, squares;
} moments;

__device__ static moments merge(moments a, moments b)
{
    float count = a.count + b.count, distance = b.mean - a.mean;
    float share = count > 0 ? b.count / count : 0;
    return moments{count, a.mean + distance * share, a.squares + b.squares + distance * distance * a.count * share};
}

__device__ static moments moments_of_lane(const float *x, int cols)
{
    moments seen = {0, 0, 0};
    for (int j = threadIdx.x % WARP; j < cols; j += WARP) {
        float distance = x[j] - seen.mean;
        seen.count += 1;
        seen.mean += distance / seen.count;
        seen.squares += distance * (x[j] - seen.mean);
    }
    return seen;
}

// input and output: (rows, cols), gamma and beta: (cols), saved_mean and saved_inverse_std: (rows)
__global__ void layernorm_warp_a_row(heddle_layernorm_shape shape, const float *input, const float *gamma,
                                     const float *beta, float *output, float *saved_mean, float *saved_inverse_std)
{
    size_t row = (size_t)blockIdx.x * ROWS + threadIdx.x / WARP;
    if (row >= (size_t)shape.rows) // the whole warp
        return;
    const float *x = input + row * shape.cols;
    float *y = output + row * shape.cols;

    moments all = moments_of_lane(x, shape.cols);
    for (int distance = 1; distance < WARP; distance *= 2) { // down, so that lane 0 sees all; then to everyone
        moments other = {__shfl_down_sync(ALL_LANES, all.count, distance),
                         __shfl_down_sync(ALL_LANES, all.mean, distance),
                         __shfl_down_sync(ALL_LANES, all.squares, distance)};
        all = merge(all, other);
    }
    float mean = __shfl_sync(ALL_LANES, all.mean, 0), squares = __shfl_sync(ALL_LANES, all.squares, 0);
    float inverse_std = 1 / sqrtf(squares / shape.cols + shape.epsilon);

    for (int j = threadIdx.x % WARP; j < shape.cols; j += WARP)
        y[j] = (x[j] - mean) * inverse_std * gamma[j] + beta[j];
    if (threadIdx.x % WARP == 0) {
        saved_mean[row] = mean;
        saved_inverse_std[row] = inverse_std;
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = (const heddle_layernorm_shape *)call->shape;
    if (shape->rows > 0)
        layernorm_warp_a_row<<<heddle_ceil_div(shape->rows, ROWS), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
            (float *)call->output[0], (float *)call->output[1], (float *)call->output[2]);
    return heddle_cuda_launched("03_warp_a_row");
}

HEDDLE_CUDA_RUNG("layernorm_forward", "03_warp_a_row", launch)

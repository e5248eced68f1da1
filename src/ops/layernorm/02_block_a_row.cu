// layernorm, rung 2: one block per row; trees in shared memory find mean and variance.
//
// Rung 1 gave a row to one thread: a warp's loads were a row apart, and a row was processed serially. Here neighbouring
// threads read neighbouring elements, and the 256 threads of a block share a row. Their sums are short enough for
// float.
//
// Limited by: three passes over the row, each reading it from memory or cache again, and two trees of eight levels with
// a barrier each, in which fewer threads work at every level. A row shorter than the block leaves threads idle.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

enum { THREADS = HEDDLE_CUDA_BLOCK };

// Sum over the block: thread i adds the value of thread i + distance, if the block has that thread.
__device__ static float tree_sum(float *tree, float value)
{
    int i = threadIdx.x;
    tree[i] = value;
    __syncthreads();
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (i < distance)
            tree[i] += tree[i + distance];
        __syncthreads();
    }
    float sum = tree[0];
    __syncthreads(); // all threads have read it before the next tree starts
    return sum;
}

// input and output: (rows, cols), gamma and beta: (cols), saved_mean and saved_inverse_std: (rows)
__global__ void layernorm_block_a_row(heddle_layernorm_shape shape, const float *input, const float *gamma,
                                      const float *beta, float *output, float *saved_mean, float *saved_inverse_std)
{
    __shared__ float tree[THREADS];
    const float *x = input + (size_t)blockIdx.x * shape.cols;
    float *y = output + (size_t)blockIdx.x * shape.cols;

    float sum = 0, squares = 0;
    for (int j = threadIdx.x; j < shape.cols; j += THREADS)
        sum += x[j];
    float mean = tree_sum(tree, sum) / shape.cols;

    for (int j = threadIdx.x; j < shape.cols; j += THREADS)
        squares += (x[j] - mean) * (x[j] - mean);
    float inverse_std = 1 / sqrtf(tree_sum(tree, squares) / shape.cols + shape.epsilon);

    for (int j = threadIdx.x; j < shape.cols; j += THREADS)
        y[j] = (x[j] - mean) * inverse_std * gamma[j] + beta[j];
    if (threadIdx.x == 0) {
        saved_mean[blockIdx.x] = mean;
        saved_inverse_std[blockIdx.x] = inverse_std;
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_layernorm_shape *shape = (const heddle_layernorm_shape *)call->shape;
    if (shape->rows > 0)
        layernorm_block_a_row<<<shape->rows, THREADS, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
            (float *)call->output[0], (float *)call->output[1], (float *)call->output[2]);
    return heddle_cuda_launched("02_block_a_row");
}

HEDDLE_CUDA_RUNG("layernorm_forward", "02_block_a_row", launch)

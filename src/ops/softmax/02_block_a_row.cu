// softmax and log_softmax, rung 2: one block per row; trees in shared memory find its largest value and its sum.
//
// Rung 1 gave a row to one thread: a warp's loads were a row apart, and a row was processed serially. Here neighbouring
// threads read neighbouring elements, and the 256 threads of a block share a row.
//
// Limited by: three passes over the row, each reading it from memory or cache again; two calls of exp per element; and
// two trees of eight levels with a barrier each, in which fewer threads work at every level. A row shorter than the
// block leaves threads idle.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

enum { THREADS = HEDDLE_CUDA_BLOCK };

// The tree: thread i combines its value with that of thread i + distance, if the block has that thread. `tree`:
// (THREADS).
template <bool largest> __device__ static float tree_of(float *tree, float value)
{
    int i = threadIdx.x;
    tree[i] = value;
    __syncthreads();
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (i < distance)
            tree[i] = largest ? fmaxf(tree[i], tree[i + distance]) : tree[i] + tree[i + distance];
        __syncthreads();
    }
    float result = tree[0];
    __syncthreads(); // all threads have read it before the next tree starts
    return result;
}

// input and output: (rows, cols)
template <bool logarithm>
__global__ void softmax_block_a_row(heddle_rows_shape shape, const float *input, float *output)
{
    __shared__ float tree[THREADS];
    const float *x = input + (size_t)blockIdx.x * shape.cols;
    float *y = output + (size_t)blockIdx.x * shape.cols;

    float most = -INFINITY;
    for (int j = threadIdx.x; j < shape.cols; j += THREADS)
        most = fmaxf(most, x[j]);
    most = tree_of<true>(tree, most);

    float sum = 0;
    for (int j = threadIdx.x; j < shape.cols; j += THREADS)
        sum += expf(x[j] - most);
    sum = tree_of<false>(tree, sum);

    float log_sum = logf(sum);
    for (int j = threadIdx.x; j < shape.cols; j += THREADS)
        y[j] = logarithm ? x[j] - most - log_sum : expf(x[j] - most) / sum;
}

template <bool logarithm> static heddle_status launch(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    if (shape->rows > 0 && shape->cols > 0)
        softmax_block_a_row<logarithm><<<shape->rows, THREADS, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("02_block_a_row");
}

HEDDLE_CUDA_RUNG("softmax_forward", "02_block_a_row", launch<false>)
HEDDLE_CUDA_RUNG("log_softmax_forward", "02_block_a_row", launch<true>)

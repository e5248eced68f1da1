// topk, rung 1: one block per row, k passes. Each pass finds the best of those after the last one found.
//
// An element is compared by a key of value and index (key.h), so that equal values have an order. A thread finds the
// best of its elements, a tree in shared memory that of the block.
//
// Limited by: k passes over the row, with a tree of eight barriers in each.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/topk/key.h"

enum { THREADS = HEDDLE_CUDA_BLOCK };

// input: (rows, cols), values and indices: (rows, k)
__global__ void topk_naive(heddle_topk_shape shape, const float *input, float *values, int32_t *indices)
{
    __shared__ topk_key tree[THREADS];
    const float *row = input + (size_t)blockIdx.x * shape.cols;
    topk_key last = ~0ull; // above every key
    for (int place = 0; place < shape.k; place++) {
        topk_key best = 0;
        for (int j = threadIdx.x; j < shape.cols; j += THREADS) {
            topk_key key = topk_key_of(row[j], j);
            best = key < last && key > best ? key : best;
        }
        tree[threadIdx.x] = best;
        __syncthreads();
        for (int half = THREADS / 2; half > 0; half /= 2) {
            if (threadIdx.x < half && tree[threadIdx.x + half] > tree[threadIdx.x])
                tree[threadIdx.x] = tree[threadIdx.x + half];
            __syncthreads();
        }
        last = tree[0];
        __syncthreads(); // all threads have read it before the next pass
        if (threadIdx.x == 0) {
            int index = topk_index_of(last);
            values[(size_t)blockIdx.x * shape.k + place] = row[index];
            indices[(size_t)blockIdx.x * shape.k + place] = index;
        }
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_topk_shape *shape = (const heddle_topk_shape *)call->shape;
    if (shape->rows > 0)
        topk_naive<<<shape->rows, THREADS, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (float *)call->output[0], (int32_t *)call->output[1]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("topk", "01_naive", launch)

// hello_index: every thread writes its own position.
//
// A kernel is written for one thread and run by all of them. blockIdx says which block this is, threadIdx which thread
// of the block; blockDim is the number of threads per block. The grid has whole blocks, so the last one may reach
// beyond n: hence the `if`.
//
// Limited by: memory bandwidth. There is nothing to compute.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// index, block, thread: (n)
__global__ void hello_index(int n, int *index, int *block, int *thread)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x; // the last block may reach beyond what an int holds
    if (i < (unsigned)n) {
        index[i] = (int)i;
        block[i] = (int)blockIdx.x;
        thread[i] = (int)threadIdx.x;
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_hello_index_shape *shape = (const heddle_hello_index_shape *)call->shape;
    unsigned blocks = heddle_ceil_div(shape->n, shape->threads);
    if (blocks > 0)
        hello_index<<<blocks, shape->threads, 0, heddle_cuda_stream_of(call)>>>(
            shape->n, (int *)call->output[0], (int *)call->output[1], (int *)call->output[2]);
    return heddle_cuda_launched("01_hello_index");
}

HEDDLE_CUDA_RUNG("hello_index", "01_hello_index", launch)

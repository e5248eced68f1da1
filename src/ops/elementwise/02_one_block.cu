// add, rung 2: one block, whose threads stride over the elements.
//
// Rung 1 had one element in flight. Here 1024 threads have one each. Neighbouring threads handle neighbouring elements,
// so a warp's 32 loads are one request of 128 bytes.
//
// Limited by: a single SM. A block runs on one SM; all others are idle.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

enum { THREADS = 1024 }; // the most a block can have

// a, b, output: (n)
__global__ void add_one_block(int n, const float *a, const float *b, float *output)
{
    for (size_t i = threadIdx.x; i < (size_t)n; i += THREADS)
        output[i] = a[i] + b[i];
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_elements_shape *shape = (const heddle_elements_shape *)call->shape;
    add_one_block<<<1, THREADS, 0, heddle_cuda_stream_of(call)>>>(
        shape->n, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("02_one_block");
}

HEDDLE_CUDA_RUNG("add_forward", "02_one_block", launch)

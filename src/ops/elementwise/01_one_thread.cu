// add, rung 1: one thread adds all elements.
//
// It is the loop of a C program, moved to the GPU unchanged: correct, and the slowest way to use a GPU.
//
// Limited by: latency. A single thread has one element in flight and waits for memory at each.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// a, b, output: (n)
__global__ void add_one_thread(int n, const float *a, const float *b, float *output)
{
    for (int i = 0; i < n; i++)
        output[i] = a[i] + b[i];
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_elements_shape *shape = (const heddle_elements_shape *)call->shape;
    add_one_thread<<<1, 1, 0, heddle_cuda_stream_of(call)>>>(shape->n, (const float *)call->input[0],
                                                             (const float *)call->input[1], (float *)call->output[0]);
    return heddle_cuda_launched("01_one_thread");
}

HEDDLE_CUDA_RUNG("add_forward", "01_one_thread", launch)

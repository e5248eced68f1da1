// rope, rung 1: one thread per pair, which computes its own angle, sine and cosine.
//
// Limited by: pow, sine and cosine in double, which are the same for every head and every sequence.

#include "ops/cuda/rung.h"
#include "ops/rope/rope.h"

// input, output: (batch, sequence, heads, size)
__global__ void rope_naive(heddle_rope_shape shape, size_t pairs, const float *input, float *output)
{
    size_t pair = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs)
        return;
    const int half = shape.size / 2, i = (int)(pair % half);
    const size_t head = pair / half, token = head / shape.heads, at = head * shape.size + i;
    double angle = heddle_rope_angle(&shape, (int)(token % shape.sequence), i), sine, cosine;
    sincos(angle, &sine, &cosine);
    float x = input[at], y = input[at + half];
    output[at] = (float)(x * cosine - y * sine);
    output[at + half] = (float)(y * cosine + x * sine);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_rope_shape *shape = (const heddle_rope_shape *)call->shape;
    size_t pairs = (size_t)shape->batch * shape->sequence * shape->heads * (shape->size / 2);
    if (pairs > 0)
        rope_naive<<<heddle_cuda_blocks(pairs), HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            *shape, pairs, (const float *)call->input[0], (float *)call->output[0]);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("rope", "01_naive", launch)

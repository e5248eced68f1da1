// rope, rung 3: one table for all sequences, and four pairs per thread by 16-byte loads and stores.
//
// Rung 2 computed the table anew for every sequence, and its blocks waited for it. Here a first kernel writes it to the
// workspace once, as much as one head of one sequence. The second kernel reads it from the L2 cache and only multiplies
// and adds. Heads whose halves are not a multiple of 16 bytes are moved 4 bytes at a time.
//
// Limited by: memory bandwidth. The input is read once and the output written once.

#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/rope/rope.h"

// table: (sequence, 2, size / 2), cosines, then sines
__global__ void rope_table(heddle_rope_shape shape, float *table)
{
    const int half = shape.size / 2;
    size_t entry = (size_t)blockIdx.x * blockDim.x + threadIdx.x, position = entry / half;
    if (position >= (size_t)shape.sequence)
        return;
    const int i = (int)(entry % half);
    double sine, cosine;
    sincos(heddle_rope_angle(&shape, (int)position, i), &sine, &cosine);
    table[position * shape.size + i] = (float)cosine;
    table[position * shape.size + half + i] = (float)sine;
}

// A thread has `width` neighbouring pairs: four, or one. input, output: (batch, sequence, heads, size)
template <int width>
__global__ void rope_vectorised(heddle_rope_shape shape, size_t threads, const float *input, const float *table,
                                float *output)
{
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= threads)
        return;
    const int half = shape.size / 2, groups = half / width, i = (int)(thread % groups) * width;
    const size_t head = thread / groups, position = head / shape.heads % shape.sequence;
    const float *from = input + head * shape.size + i, *turn = table + position * shape.size + i;
    float *to = output + head * shape.size + i;
    if (width == 1) {
        float x = from[0], y = from[half], cosine = turn[0], sine = turn[half];
        to[0] = x * cosine - y * sine;
        to[half] = y * cosine + x * sine;
        return;
    }
    float4 x = heddle_load4<true>(from), y = heddle_load4<true>(from + half);
    float4 cosine = heddle_load4<true>(turn), sine = heddle_load4<true>(turn + half);
    heddle_store4<true>(to, make_float4(x.x * cosine.x - y.x * sine.x, x.y * cosine.y - y.y * sine.y,
                                        x.z * cosine.z - y.z * sine.z, x.w * cosine.w - y.w * sine.w));
    heddle_store4<true>(to + half, make_float4(y.x * cosine.x + x.x * sine.x, y.y * cosine.y + x.y * sine.y,
                                               y.z * cosine.z + x.z * sine.z, y.w * cosine.w + x.w * sine.w));
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_rope_shape *shape = (const heddle_rope_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0], *table = (float *)call->workspace;
    const size_t half = (size_t)shape->size / 2, heads = (size_t)shape->batch * shape->sequence * shape->heads;
    const bool aligned = half % HEDDLE_VECTOR == 0 && heddle_aligned16(input) && heddle_aligned16(output);
    const size_t threads = heads * (aligned ? half / HEDDLE_VECTOR : half);
    if (heads == 0)
        return HEDDLE_OK;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    rope_table<<<heddle_cuda_blocks(shape->sequence * half), HEDDLE_CUDA_BLOCK, 0, stream>>>(*shape, table);
    (aligned ? rope_vectorised<HEDDLE_VECTOR>
             : rope_vectorised<1>)<<<heddle_cuda_blocks(threads), HEDDLE_CUDA_BLOCK, 0, stream>>>(*shape, threads,
                                                                                                  input, table, output);
    return heddle_cuda_launched("03_vectorised");
}

HEDDLE_CUDA_RUNG("rope", "03_vectorised", launch)

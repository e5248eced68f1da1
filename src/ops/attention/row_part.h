// What rungs 2 and 3 of attention share: a few threads have one query, each of them 32 numbers of it and of its output.
#pragma once

#include "ops/attention/attention_cuda.h"

enum {
    PART_THREADS = 128,                       // of a block
    PART_VECTORS = 8,                         // vectors of four numbers that one thread has of a row
    PART_KEYS = 32,                           // rows of a tile of k or v
    PART_SIZE = PART_VECTORS * HEDDLE_VECTOR, // numbers
};

// Thread `lane` of the `Lanes` that have a row has every Lanes-th vector of it. Then neighbours read neighbouring
// vectors of a tile's row, and no two of them the same bank.
template <int Size> struct attention_part {
    enum { LANES = Size / PART_SIZE, ROWS = PART_THREADS / LANES };

    static __device__ inline int lane()
    {
        return threadIdx.x % LANES;
    }

    // The numbers of a row (size) that are this thread's; none: zeros.
    static __device__ inline void load(float4 (&part)[PART_VECTORS], const float *row, int size, bool there)
    {
        for (int i = 0; i < PART_VECTORS; i++) {
            const int at = (i * LANES + lane()) * HEDDLE_VECTOR;
            part[i].x = there && at < size ? row[at] : 0;
            part[i].y = there && at + 1 < size ? row[at + 1] : 0;
            part[i].z = there && at + 2 < size ? row[at + 2] : 0;
            part[i].w = there && at + 3 < size ? row[at + 3] : 0;
        }
    }

    static __device__ inline void store(float *row, const float4 (&part)[PART_VECTORS], float factor, int size)
    {
        for (int i = 0; i < PART_VECTORS; i++) {
            const int at = (i * LANES + lane()) * HEDDLE_VECTOR;
            const float value[HEDDLE_VECTOR] = {part[i].x, part[i].y, part[i].z, part[i].w};
            for (int e = 0; e < HEDDLE_VECTOR; e++)
                if (at + e < size)
                    row[at + e] = factor * value[e];
        }
    }

    // The row times a tile's row (Size): all threads of the row get the sum.
    static __device__ inline float multiply(const float4 (&part)[PART_VECTORS], const float *tile_row)
    {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < PART_VECTORS; i++) {
            const float4 other = ((const float4 *)tile_row)[i * LANES + lane()];
            sum += part[i].x * other.x + part[i].y * other.y + part[i].z * other.z + part[i].w * other.w;
        }
        for (int distance = 1; distance < LANES; distance *= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        return sum;
    }

    // part += weight * a tile's row
    static __device__ inline void add(float4 (&part)[PART_VECTORS], float weight, const float *tile_row)
    {
#pragma unroll
        for (int i = 0; i < PART_VECTORS; i++) {
            const float4 other = ((const float4 *)tile_row)[i * LANES + lane()];
            part[i].x += weight * other.x;
            part[i].y += weight * other.y;
            part[i].z += weight * other.z;
            part[i].w += weight * other.w;
        }
    }
};

typedef void attention_part_kernel(heddle_attention_shape shape, const float *q, const float *k, const float *v,
                                   float *output, float *log_sums, bool vectors);

// One block per head and ROWS queries of it.
template <int Size>
static heddle_status attention_part_launch(const heddle_call *call, attention_part_kernel *kernel, const char *rung)
{
    const heddle_attention_shape *shape = (const heddle_attention_shape *)call->shape;
    const unsigned tiles = heddle_ceil_div(shape->queries, attention_part<Size>::ROWS);
    const unsigned blocks = tiles * (unsigned)shape->batch * (unsigned)shape->heads;
    const float *k = (const float *)call->input[1], *v = (const float *)call->input[2];
    if (blocks > 0)
        kernel<<<blocks, PART_THREADS, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], k, v, (float *)call->output[0], (float *)call->output[1],
            attention_vectors(k, shape->size) && attention_vectors(v, shape->size));
    return heddle_cuda_launched(rung);
}

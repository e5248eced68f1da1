// Chunks of 32 weights with their scale and zero point, and how two weights at a time become fp16. For the rungs whose
// threads read whole chunks.
#pragma once

#include <cuda_fp16.h>

#include "ops/matmul_int4/weights.h"

// The operands of a call. input: (m, k), weight: (n, chunks of 16 bytes), scale and zero: (n, groups), output: (m, n)
typedef struct int4_operands {
    heddle_matmul_int4_shape shape;
    const __half *input;
    const unsigned char *weight;
    const __half *scale;
    const unsigned char *zero;
    float *output;
} int4_operands;

static inline int4_operands int4_operands_of(const heddle_call *call)
{
    return {*(const heddle_matmul_int4_shape *)call->shape, (const __half *)call->input[0],
            (const unsigned char *)call->input[1],          (const __half *)call->input[2],
            (const unsigned char *)call->input[3],          (float *)call->output[0]};
}

typedef struct int4_chunk {
    uint32_t words[HEDDLE_INT4_WORDS];
    __half scale; // not converted before it is used: that would wait for the load
    int zero;
} int4_chunk;

// Chunk `index` of a row. Behind its last one zeros, with the scale of the last: its neighbours of a warp may have sums
// of that group. Beyond the last row everything is zero. aligned: the weights begin at a multiple of 16 bytes, and so
// does every row.
template <bool aligned> __device__ static inline int4_chunk int4_load(const int4_operands &of, int row, int index)
{
    const int chunks = heddle_int4_chunks(of.shape.k), in_group = of.shape.group / HEDDLE_INT4_CHUNK;
    int4_chunk chunk = {};
    if (row >= of.shape.n || chunks == 0)
        return chunk;
    const unsigned char *from = of.weight + ((size_t)row * chunks + index) * HEDDLE_INT4_CHUNK_BYTES;
    if (aligned && index < chunks) {
        const uint4 words = *(const uint4 *)from;
        chunk.words[0] = words.x, chunk.words[1] = words.y, chunk.words[2] = words.z, chunk.words[3] = words.w;
    }
    for (int word = 0; !aligned && index < chunks && word < HEDDLE_INT4_WORDS; word++, from += 4)
        chunk.words[word] = from[0] | from[1] << 8 | from[2] << 16 | (uint32_t)from[3] << 24;
    const size_t group = (size_t)row * heddle_int4_groups(&of.shape) + min(index, chunks - 1) / in_group;
    chunk.scale = of.scale[group];
    chunk.zero = of.zero[group];
    return chunk;
}

// Weights 2 * pair and 2 * pair + 1 of a word, less `zero`. The fp16 number with the bits 0x6400 is 1024, and its last
// bit counts 1: what is put into its low bits is added. So 0x6400 | weight is 1024 + weight, without a conversion, and
// subtracting 1024 + zero, made in the same way, leaves weight - zero. All of it is exact.
__device__ static inline __half2 int4_pair(uint32_t word, int pair, int zero)
{
    const uint32_t weights = (word >> 4 * pair & 0x000f000fu) | 0x64006400u, zeros = 0x64006400u | zero * 0x00010001u;
    return __hsub2(*(const __half2 *)&weights, *(const __half2 *)&zeros);
}

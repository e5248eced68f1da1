// rope, rung 2: one block per token, which computes sines and cosines once for all of its heads.
//
// Rung 1 computed pow, sine and cosine for every pair of every head. Here a block puts those of its position into
// shared memory, 256 pairs of a head at a time, and every head uses them: the work is divided by the number of heads.
//
// Limited by: what is left of it, once per sequence and position, with a barrier before the first load; and 4 bytes per
// access.

#include "ops/cuda/rung.h"
#include "ops/rope/rope.h"

enum { THREADS = 256 };

// input, output: (batch, sequence, heads, size)
__global__ void rope_shared_table(heddle_rope_shape shape, const float *input, float *output)
{
    __shared__ float2 table[THREADS]; // cosine, sine
    const int half = shape.size / 2, position = (int)(blockIdx.x % shape.sequence);
    const size_t token = (size_t)blockIdx.x * shape.heads * shape.size;
    for (int first = 0; first < half; first += THREADS) {
        const int pairs = half - first < THREADS ? half - first : THREADS;
        __syncthreads(); // nobody reads the table of the pairs before
        if (threadIdx.x < pairs) {
            double sine, cosine;
            sincos(heddle_rope_angle(&shape, position, first + (int)threadIdx.x), &sine, &cosine);
            table[threadIdx.x] = make_float2((float)cosine, (float)sine);
        }
        __syncthreads();
        for (int each = threadIdx.x; each < pairs * shape.heads; each += THREADS) {
            const int i = each % pairs;
            const size_t at = token + (size_t)(each / pairs) * shape.size + first + i;
            float2 turn = table[i];
            float x = input[at], y = input[at + half];
            output[at] = x * turn.x - y * turn.y;
            output[at + half] = y * turn.x + x * turn.y;
        }
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_rope_shape *shape = (const heddle_rope_shape *)call->shape;
    unsigned tokens = (unsigned)shape->batch * (unsigned)shape->sequence;
    if (tokens > 0 && shape->heads > 0)
        rope_shared_table<<<tokens, THREADS, 0, heddle_cuda_stream_of(call)>>>(*shape, (const float *)call->input[0],
                                                                               (float *)call->output[0]);
    return heddle_cuda_launched("02_shared_table");
}

HEDDLE_CUDA_RUNG("rope", "02_shared_table", launch)

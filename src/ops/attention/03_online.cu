// attention, rung 3: softmax in one pass over the keys.
//
// Rung 2 went over the keys twice, because a weight needs the largest score of the whole row. Here the largest so far
// is used (the online softmax): where a tile has a larger one, everything that was added up before is multiplied by
// exp(largest before - largest now), as if it had been known from the start. Scores are computed once, and k is read
// once; the price is one multiplication of the sums per tile.
//
//     heddle bench attention_forward/03_online
//
// Limited by: loads from shared memory. A thread reads 16 bytes of a tile for four multiplications.

#include "ops/attention/row_part.h"

// q, output: (batch, heads, queries, size); k, v: (batch, heads, keys, size); log_sums: (batch, heads, queries)
template <int Size>
__global__ void __launch_bounds__(PART_THREADS)
    attention_forward_online(heddle_attention_shape shape, const float *q, const float *k, const float *v,
                             float *output, float *log_sums, bool vectors)
{
    typedef attention_part<Size> part;
    __shared__ float4 tile_k[PART_KEYS * Size / HEDDLE_VECTOR], tile_v[PART_KEYS * Size / HEDDLE_VECTOR];
    const float *rows_k = (const float *)tile_k, *rows_v = (const float *)tile_v;
    const int tiles = (shape.queries - 1) / part::ROWS + 1, head = blockIdx.x / tiles;
    const int first = blockIdx.x % tiles * part::ROWS, query = first + threadIdx.x / part::LANES;
    const int seen = attention_seen(shape, first + part::ROWS - 1);
    const size_t row = (size_t)head * shape.queries + query;
    const float scale = rsqrtf((float)shape.size);
    k += (size_t)head * shape.keys * shape.size;
    v += (size_t)head * shape.keys * shape.size;

    float4 own[PART_VECTORS], sums[PART_VECTORS] = {};
    part::load(own, q + row * shape.size, shape.size, query < shape.queries);
    float most = -INFINITY, sum = 0;
    for (int key = 0; key < seen; key += PART_KEYS) {
        attention_load<PART_KEYS, Size, Size, PART_THREADS>((float *)tile_k, k, shape.keys, shape.size, key, vectors);
        attention_load<PART_KEYS, Size, Size, PART_THREADS>((float *)tile_v, v, shape.keys, shape.size, key, vectors);
        __syncthreads();
        float score[PART_KEYS], before = most;
#pragma unroll
        for (int j = 0; j < PART_KEYS; j++) {
            const float product = scale * part::multiply(own, rows_k + j * Size);
            score[j] = attention_sees(shape, query, key + j) ? product : -INFINITY;
            most = fmaxf(most, score[j]);
        }
        const float correction = expf(before - most); // every query sees key 0, so that `most` is a number; first: 0
        sum *= correction;
#pragma unroll
        for (int i = 0; i < PART_VECTORS; i++) {
            sums[i].x *= correction;
            sums[i].y *= correction;
            sums[i].z *= correction;
            sums[i].w *= correction;
        }
#pragma unroll
        for (int j = 0; j < PART_KEYS; j++) {
            const float weight = expf(score[j] - most);
            sum += weight;
            part::add(sums, weight, rows_v + j * Size);
        }
        __syncthreads(); // all have read the tiles
    }
    if (query >= shape.queries)
        return;
    part::store(output + row * shape.size, sums, 1 / sum, shape.size);
    if (part::lane() == 0)
        log_sums[row] = most + logf(sum);
}

template <int Size> static heddle_status launch_size(const heddle_call *call)
{
    return attention_part_launch<Size>(call, attention_forward_online<Size>, "03_online");
}

static heddle_status launch(const heddle_call *call)
{
    return ATTENTION_WITH_SIZE(launch_size, call);
}

HEDDLE_CUDA_RUNG("attention_forward", "03_online", launch)

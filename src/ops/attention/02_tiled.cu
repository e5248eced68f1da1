// attention, rung 2: tiles of k and v in shared memory.
//
// Rung 1 read each row of k and v from global memory for every query. Here a block has 32 or 64 queries of one head: it
// copies 32 rows to shared memory, and all its queries use them. Two or four threads have a query, so that its numbers
// and its sums fit into their registers. There are two passes: the first finds the largest score, the second computes
// the scores again, weighs v by exp(score - largest), and adds up the weights, by which the sums are divided last.
//
//     heddle bench attention_forward/02_tiled
//
// Limited by: scores that are computed twice, and k that is read twice for them.

#include "ops/attention/row_part.h"

// q, output: (batch, heads, queries, size); k, v: (batch, heads, keys, size); log_sums: (batch, heads, queries)
template <int Size>
__global__ void __launch_bounds__(PART_THREADS)
    attention_forward_tiled(heddle_attention_shape shape, const float *q, const float *k, const float *v, float *output,
                            float *log_sums, bool vectors)
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
        __syncthreads();
        for (int j = 0; j < PART_KEYS; j++) {
            const float score = scale * part::multiply(own, rows_k + j * Size);
            if (attention_sees(shape, query, key + j))
                most = fmaxf(most, score);
        }
        __syncthreads(); // all have read the tile
    }
    for (int key = 0; key < seen; key += PART_KEYS) {
        attention_load<PART_KEYS, Size, Size, PART_THREADS>((float *)tile_k, k, shape.keys, shape.size, key, vectors);
        attention_load<PART_KEYS, Size, Size, PART_THREADS>((float *)tile_v, v, shape.keys, shape.size, key, vectors);
        __syncthreads();
        for (int j = 0; j < PART_KEYS; j++) {
            const float score = scale * part::multiply(own, rows_k + j * Size);
            const float weight = attention_sees(shape, query, key + j) ? expf(score - most) : 0;
            sum += weight;
            part::add(sums, weight, rows_v + j * Size);
        }
        __syncthreads();
    }
    if (query >= shape.queries)
        return;
    part::store(output + row * shape.size, sums, 1 / sum, shape.size);
    if (part::lane() == 0)
        log_sums[row] = most + logf(sum);
}

template <int Size> static heddle_status launch_size(const heddle_call *call)
{
    return attention_part_launch<Size>(call, attention_forward_tiled<Size>, "02_tiled");
}

static heddle_status launch(const heddle_call *call)
{
    return ATTENTION_WITH_SIZE(launch_size, call);
}

HEDDLE_CUDA_RUNG("attention_forward", "02_tiled", launch)

// embedding backward, rung 2: the tokens are sorted, and one block per row of the table adds the gradients of its own.
//
// Rung 1 added by atomics and wrote the table twice. Here a radix sort brings equal tokens together: byte after byte, a
// first kernel counts each byte per tile of 256 tokens, a second one adds the counts up to places, and a third one
// moves the tokens there. It keeps the order of equal tokens, so every sum has a fixed order: the same bits every time.
// A block then finds its row's tokens by binary search, adds their gradients in registers and writes the row once, or
// zeros. A token that is no row of the table is sorted behind all others.
//
// Limited by: memory bandwidth, and by the most frequent token, whose gradients one block adds alone.

#include "heddle/ops.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"
#include "ops/embedding/embedding.h"

enum {
    TILE = HEDDLE_EMBEDDING_TILE,     // tokens per block of the sort, one per thread
    DIGITS = HEDDLE_EMBEDDING_DIGITS, // values of a byte
    BITS = 8,
    WARP = HEDDLE_WARP,
    WARPS = TILE / WARP,
    SCAN = 1024, // threads of the one block that adds the counts up
    ADD = 128,   // threads per row of the table
    DEEP = 4,    // gradients in flight per thread
    PIECE = ADD * HEDDLE_VECTOR,
};

// Tokens and their places, in some order.
typedef struct sorted {
    int *keys, *places; // (n)
} sorted;

__global__ void embedding_keys(heddle_embedding_shape shape, const int64_t *tokens, sorted to)
{
    int i = (int)(blockIdx.x * TILE + threadIdx.x);
    if (i >= shape.n)
        return;
    int64_t token = tokens[i];
    to.keys[i] = token >= 0 && token < shape.vocabulary ? (int)token : shape.vocabulary;
    to.places[i] = i;
}

// counts: (DIGITS, tiles)
__global__ void __launch_bounds__(TILE) embedding_count(int n, int shift, const int *keys, int *counts)
{
    __shared__ int count[DIGITS];
    count[threadIdx.x] = 0;
    __syncthreads();
    int i = (int)(blockIdx.x * TILE + threadIdx.x);
    if (i < n)
        atomicAdd(&count[keys[i] >> shift & (DIGITS - 1)], 1);
    __syncthreads();
    counts[threadIdx.x * gridDim.x + blockIdx.x] = count[threadIdx.x];
}

// Each count becomes the sum of those before it: where the first token of that byte and tile goes. counts: (total)
__global__ void __launch_bounds__(SCAN) embedding_places(int total, int *counts)
{
    __shared__ int sums[SCAN];
    const int each = (total - 1) / SCAN + 1, begin = threadIdx.x * each;
    const int end = begin + each < total ? begin + each : total;
    int sum = 0;
    for (int i = begin; i < end; i++)
        sum += counts[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int distance = 1; distance < SCAN; distance *= 2) {
        int before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
        __syncthreads();
        sums[threadIdx.x] += before;
        __syncthreads();
    }
    sum = sums[threadIdx.x] - sum;
    for (int i = begin; i < end; i++) {
        int count = counts[i];
        counts[i] = sum;
        sum += count;
    }
}

// A token goes behind those of its byte in earlier tiles, in earlier warps of its tile and in earlier lanes of its
// warp.
__global__ void __launch_bounds__(TILE) embedding_move(int n, int shift, const int *counts, sorted from, sorted to)
{
    __shared__ int before[WARPS][DIGITS]; // of a byte, by warp: how many; then how many in the warps before
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, i = (int)(blockIdx.x * TILE + threadIdx.x);
    for (int w = 0; w < WARPS; w++)
        before[w][threadIdx.x] = 0;
    __syncthreads();
    const int key = i < n ? from.keys[i] : 0, digit = i < n ? key >> shift & (DIGITS - 1) : DIGITS;
    const unsigned same = __match_any_sync(0xffffffffu, digit), earlier = same & ((1u << lane) - 1);
    if (i < n && earlier == 0)
        before[warp][digit] = __popc(same);
    __syncthreads();
    int sum = counts[threadIdx.x * gridDim.x + blockIdx.x];
    for (int w = 0; w < WARPS; w++) {
        int count = before[w][threadIdx.x];
        before[w][threadIdx.x] = sum;
        sum += count;
    }
    __syncthreads();
    if (i >= n)
        return;
    const int place = before[warp][digit] + __popc(earlier);
    to.keys[place] = key;
    to.places[place] = from.places[i];
}

// The first of the sorted keys that is at least `key`.
__device__ static int first_of(int n, const int *keys, int key)
{
    int begin = 0, end = n;
    while (begin < end) {
        int middle = begin + (end - begin) / 2;
        if (keys[middle] < key)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

// grad_output: (n, cols), grad_table: (vocabulary, cols)
template <bool aligned>
__global__ void __launch_bounds__(ADD)
    embedding_add(heddle_embedding_shape shape, sorted tokens, const float *grad_output, float *grad_table)
{
    const int begin = first_of(shape.n, tokens.keys, blockIdx.x), end = first_of(shape.n, tokens.keys, blockIdx.x + 1);
    float *row = grad_table + (size_t)blockIdx.x * shape.cols;
    for (int first = 0; first < shape.cols; first += PIECE) {
        float sum[1][HEDDLE_VECTOR] = {{0, 0, 0, 0}};
        for (int i = begin; i < end; i += DEEP) {
            float value[DEEP][1][HEDDLE_VECTOR];
#pragma unroll
            for (int d = 0; d < DEEP; d++) {
                size_t place = i + d < end ? tokens.places[i + d] : 0;
                heddle_row_load<ADD, 1, aligned>(grad_output + place * shape.cols + first,
                                                 i + d < end ? shape.cols - first : 0, 0, value[d]);
            }
#pragma unroll
            for (int d = 0; d < DEEP; d++)
#pragma unroll
                for (int k = 0; k < HEDDLE_VECTOR; k++)
                    sum[0][k] += value[d][0][k];
        }
        heddle_row_store<ADD, 1, aligned>(row + first, shape.cols - first, sum);
    }
}

// Leaves the sorted tokens in the first of the two, and uses the other in between.
static void sort(const heddle_embedding_shape *shape, const int64_t *tokens, sorted *first, sorted *second, int *counts,
                 cudaStream_t stream)
{
    const int tiles = heddle_embedding_tiles(shape);
    embedding_keys<<<tiles, TILE, 0, stream>>>(*shape, tokens, *first);
    for (int shift = 0; shift < 31 && shape->vocabulary >> shift > 0; shift += BITS) {
        embedding_count<<<tiles, TILE, 0, stream>>>(shape->n, shift, first->keys, counts);
        embedding_places<<<1, SCAN, 0, stream>>>(DIGITS * tiles, counts);
        embedding_move<<<tiles, TILE, 0, stream>>>(shape->n, shift, counts, *first, *second);
        sorted moved = *second;
        *second = *first;
        *first = moved;
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_embedding_shape *shape = (const heddle_embedding_shape *)call->shape;
    const float *grad_output = (const float *)call->input[1];
    float *grad_table = (float *)call->output[0];
    const size_t n = (size_t)shape->n;
    int *memory = (int *)call->workspace;
    sorted tokens = {memory, memory + n}, other = {memory + 2 * n, memory + 3 * n};
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (shape->cols == 0)
        return HEDDLE_OK;
    if (n > 0)
        sort(shape, (const int64_t *)call->input[0], &tokens, &other, memory + 4 * n, stream);
    const bool aligned =
        shape->cols % HEDDLE_VECTOR == 0 && heddle_aligned16(grad_output) && heddle_aligned16(grad_table);
    (aligned ? embedding_add<true>
             : embedding_add<false>)<<<shape->vocabulary, ADD, 0, stream>>>(*shape, tokens, grad_output, grad_table);
    return heddle_cuda_launched("02_sorted");
}

HEDDLE_CUDA_RUNG("embedding_backward", "02_sorted", launch)

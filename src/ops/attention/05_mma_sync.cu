// attention in 16 bits, rung 5: flash attention on tensor cores. Products of 16-bit numbers by mma.sync, summed in
// float32; tiles of k and v come by cp.async while the ones before are multiplied.
//
// A warp has 16 queries and all columns of their scores. Its four threads of a row find the largest score with two
// shuffles, and the weights never leave their registers: what one mma.sync gives as sums, rounded to 16 bits, is what
// the next takes as rows. So nothing but k and v passes through shared memory, where rung 4 wrote and read the weights.
// exp is 2 to the power of a multiple, which the GPU computes in one instruction.
//
// Backward is rung 4's: the same kernel with queries as rows and with keys as rows.
//
//     heddle bench attention_bf16_forward/05_mma_sync
//
// Limited by: loads from shared memory, four times, once by each warp, and exponentials: the tensor cores wait for
// both.

#include "ops/attention/attention_16.h"
#include "ops/attention/mma_tile.h"

typedef heddle_attention_shape attention_shape;

static const float log2_e = 1.44269504f;

// --- forward ---------------------------------------------------------------------------------------------------------

enum { KEYS = 64, STAGES = 2 }; // rows of a tile of k or v; tiles in shared memory

template <int Size> struct mma_forward {
    enum {
        ROW_BYTES = MMA_BLOCK_ROWS * Size * MMA_BYTES,
        TILE_BYTES = KEYS * Size * MMA_BYTES,
        SHARED_BYTES = ROW_BYTES + STAGES * 2 * TILE_BYTES,
    };
};

// Scores of a tile become weights: exp(scale * (score - largest)). `factor`: scale / ln 2. sums and sum, over the tiles
// before, are multiplied by what the largest has grown by.
template <int Count>
__device__ static void soften(float (&score)[KEYS / 8][4], float (&sums)[Count][4], float (&most)[2], float (&sum)[2],
                              float factor)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float largest = most[half], added = 0;
#pragma unroll
        for (int n = 0; n < KEYS / 8; n++)
            largest = fmaxf(largest, fmaxf(score[n][half * 2], score[n][half * 2 + 1]));
        largest = mma_combine<true>(largest); // a number: every query sees key 0
#pragma unroll
        for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
            for (int e = half * 2; e < half * 2 + 2; e++)
                added += score[n][e] = exp2f(factor * score[n][e] - factor * largest);
        const float correction = exp2f(factor * most[half] - factor * largest);
        most[half] = largest;
        sum[half] = sum[half] * correction + added; // this thread's columns alone
#pragma unroll
        for (int n = 0; n < Count; n++)
#pragma unroll
            for (int e = half * 2; e < half * 2 + 2; e++)
                sums[n][e] *= correction;
    }
}

// q, output: (batch, heads, queries, size); k, v: (batch, heads, keys, size); log_sums: (batch, heads, queries)
template <typename Element, int Size>
__global__ void __launch_bounds__(MMA_THREADS)
    attention_forward_mma(attention_shape shape, const Element *q, const Element *k, const Element *v, Element *output,
                          float *log_sums, bool vectors, bool pairs)
{
    typedef mma_forward<Size> tile;
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned char *tile_q = shared, *tiles_k = shared + tile::ROW_BYTES, *tiles_v = tiles_k + STAGES * tile::TILE_BYTES;
    const int heads = shape.batch * shape.heads, head = blockIdx.x % heads;
    const int first = (gridDim.x / heads - 1 - blockIdx.x / heads) * MMA_BLOCK_ROWS; // the last queries see most keys
    const int tiles = (mma_seen(shape, first + MMA_BLOCK_ROWS - 1) - 1) / KEYS + 1;
    const int warp_row = first + threadIdx.x / 32 * MMA_ROWS, lane = threadIdx.x % 32;
    const float scale = rsqrtf((float)shape.size);
    q += (size_t)head * shape.queries * shape.size;
    k += (size_t)head * shape.keys * shape.size;
    v += (size_t)head * shape.keys * shape.size;
    auto load = [&](int number) {
        const int at = number % STAGES * tile::TILE_BYTES;
        mma_load<KEYS, Size>(tiles_k + at, k, shape.keys, shape.size, number * KEYS, vectors);
        mma_load<KEYS, Size>(tiles_v + at, v, shape.keys, shape.size, number * KEYS, vectors);
        cp_async_commit();
    };
    mma_load<MMA_BLOCK_ROWS, Size>(tile_q, q, shape.queries, shape.size, first, vectors);
    load(0);
    float sums[Size / 8][4] = {}, most[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
    for (int number = 0; number < tiles; number++) {
        cp_async_wait_all();
        __syncthreads(); // the tile has arrived for all, and none reads the one before: its place can be filled
        if (number + 1 < tiles)
            load(number + 1);
        const int at = number % STAGES * tile::TILE_BYTES, key = number * KEYS;
        float score[KEYS / 8][4];
        mma_multiply<Element, KEYS, Size>(score, tile_q, tiles_k + at);
        if (key + KEYS > shape.keys || (shape.causal && key + KEYS - 1 > warp_row))
#pragma unroll
            for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    const int query = warp_row + lane / 4 + e / 2 * 8, column = key + n * 8 + lane % 4 * 2 + e % 2;
                    if (column >= shape.keys || (shape.causal && column > query))
                        score[n][e] = -INFINITY;
                }
        soften(score, sums, most, sum, scale * log2_e);
        mma_add<Element, KEYS, Size>(sums, score, tiles_v + at);
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int query = warp_row + lane / 4 + half * 8;
        const size_t row = (size_t)head * shape.queries + query;
        const float total = mma_combine<false>(sum[half]);
        if (query >= shape.queries)
            continue;
        mma_store(output + row * shape.size, sums, half, 1 / total, shape.size, pairs);
        if (lane % 4 == 0)
            log_sums[row] = scale * most[half] + logf(total);
    }
}

template <typename Element, int Size> static heddle_status launch_forward_size(const heddle_call *call)
{
    const attention_shape *shape = (const attention_shape *)call->shape;
    const size_t row_bytes = (size_t)shape->size * MMA_BYTES;
    bool vectors = true;
    for (int i = 0; i < 3; i++)
        vectors = vectors && swizzled_vectors(call->input[i], row_bytes);
    const unsigned blocks =
        heddle_ceil_div(shape->queries, MMA_BLOCK_ROWS) * (unsigned)shape->batch * (unsigned)shape->heads;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    auto kernel = attention_forward_mma<Element, Size>;
    const int bytes = mma_forward<Size>::SHARED_BYTES;
    HEDDLE_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    if (blocks > 0)
        kernel<<<blocks, MMA_THREADS, bytes, stream>>>(
            *shape, (const Element *)call->input[0], (const Element *)call->input[1], (const Element *)call->input[2],
            (Element *)call->output[0], (float *)call->output[1], vectors, mma_pairs(call->output[0], shape->size));
    return heddle_cuda_launched("05_mma_sync");
}

template <typename Element> static heddle_status launch_forward(const heddle_call *call)
{
    const attention_shape *shape = (const attention_shape *)call->shape;
    return shape->size <= 64 ? launch_forward_size<Element, 64>(call) : launch_forward_size<Element, 128>(call);
}

// --- backward --------------------------------------------------------------------------------------------------------

enum { COLUMNS = 32 }; // rows of a tile of what the block goes over

template <int Size> struct mma_backward {
    enum {
        ROW_BYTES = MMA_BLOCK_ROWS * Size * MMA_BYTES,
        TILE_BYTES = COLUMNS * Size * MMA_BYTES,
        SHARED_BYTES = 2 * ROW_BYTES + STAGES * 2 * TILE_BYTES,
    };
};

// means[row] = output · grad_output, one warp per row: what softmax's gradient subtracts from each product.
template <typename Element>
__global__ void attention_means_16(size_t rows, int size, const Element *output, const Element *grad_output,
                                   float *means)
{
    typedef rows_element<Element> element;
    const int warp = 32;
    const size_t row = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / warp;
    if (row >= rows)
        return;
    float sum = 0;
    for (int d = threadIdx.x % warp; d < size; d += warp)
        sum += element::number(output[row * size + d]) * element::number(grad_output[row * size + d]);
    for (int distance = warp / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (threadIdx.x % warp == 0)
        means[row] = sum;
}

// As rung 4's: with p = exp(score - log_sum) and s = p (v · grad_output - mean) of each pair of a row and a column,
//   of_keys: rows are keys, columns queries; first = grad_k = scale Σ s q, second = grad_v = Σ p grad_output
//   else:    rows are queries, columns keys; first = grad_q = scale Σ s k
// row_a (rows, size), column_a (columns, size): their products are the scores; row_b, column_b: v and grad_output
template <typename Element, int Size, bool of_keys>
__global__ void __launch_bounds__(MMA_THREADS)
    attention_backward_mma(attention_shape shape, const Element *row_a, const Element *row_b, const Element *column_a,
                           const Element *column_b, const float *log_sums, const float *means, Element *first,
                           Element *second, bool vectors, bool pairs)
{
    typedef mma_backward<Size> tile;
    extern __shared__ __align__(128) unsigned char shared[];
    unsigned char *tile_row_a = shared, *tile_row_b = tile_row_a + tile::ROW_BYTES;
    unsigned char *tiles_a = tile_row_b + tile::ROW_BYTES, *tiles_b = tiles_a + STAGES * tile::TILE_BYTES;
    const int rows = of_keys ? shape.keys : shape.queries, columns = of_keys ? shape.queries : shape.keys;
    const int heads = shape.batch * shape.heads, head = blockIdx.x % heads, blocks = gridDim.x / heads;
    // The first keys are seen by the most queries, the last queries see the most keys: they start first.
    const int top = (of_keys ? blockIdx.x / heads : blocks - 1 - blockIdx.x / heads) * MMA_BLOCK_ROWS;
    const int begin = of_keys && shape.causal ? top / COLUMNS : 0; // tiles
    const int last = of_keys ? columns : mma_seen(shape, top + MMA_BLOCK_ROWS - 1),
              end = (last + COLUMNS - 1) / COLUMNS;
    const int warp_row = top + threadIdx.x / 32 * MMA_ROWS, lane = threadIdx.x % 32;
    const float scale = rsqrtf((float)shape.size);
    row_a += (size_t)head * rows * shape.size, row_b += (size_t)head * rows * shape.size;
    column_a += (size_t)head * columns * shape.size, column_b += (size_t)head * columns * shape.size;
    log_sums += (size_t)head * shape.queries, means += (size_t)head * shape.queries;
    auto load = [&](int number) {
        const int at = number % STAGES * tile::TILE_BYTES;
        mma_load<COLUMNS, Size>(tiles_a + at, column_a, columns, shape.size, number * COLUMNS, vectors);
        mma_load<COLUMNS, Size>(tiles_b + at, column_b, columns, shape.size, number * COLUMNS, vectors);
        cp_async_commit();
    };
    mma_load<MMA_BLOCK_ROWS, Size>(tile_row_a, row_a, rows, shape.size, top, vectors);
    mma_load<MMA_BLOCK_ROWS, Size>(tile_row_b, row_b, rows, shape.size, top, vectors);
    if (begin < end)
        load(begin);
    float sums_s[Size / 8][4] = {}, sums_p[Size / 8][4] = {};
    for (int number = begin; number < end; number++) {
        cp_async_wait_all();
        __syncthreads(); // the tile has arrived for all, and none reads the one before: its place can be filled
        if (number + 1 < end)
            load(number + 1);
        const int at = number % STAGES * tile::TILE_BYTES;
        float p[COLUMNS / 8][4], s[COLUMNS / 8][4];
        mma_multiply<Element, COLUMNS, Size>(p, tile_row_a, tiles_a + at);
        mma_multiply<Element, COLUMNS, Size>(s, tile_row_b, tiles_b + at);
#pragma unroll
        for (int n = 0; n < COLUMNS / 8; n++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int at_row = warp_row + lane / 4 + e / 2 * 8;
                const int at_column = number * COLUMNS + n * 8 + lane % 4 * 2 + e % 2;
                const int query = of_keys ? at_column : at_row, key = of_keys ? at_row : at_column;
                const bool seen = query < shape.queries && key < shape.keys && (!shape.causal || key <= query);
                p[n][e] = seen ? exp2f(log2_e * (scale * p[n][e] - log_sums[query])) : 0;
                s[n][e] = seen ? p[n][e] * (s[n][e] - means[query]) : 0;
            }
        if (of_keys)
            mma_add<Element, COLUMNS, Size>(sums_p, p, tiles_b + at);
        mma_add<Element, COLUMNS, Size>(sums_s, s, tiles_a + at);
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int row = warp_row + lane / 4 + half * 8;
        const size_t place = ((size_t)head * rows + row) * shape.size;
        if (row < rows)
            mma_store(first + place, sums_s, half, scale, shape.size, pairs);
        if (of_keys && row < rows)
            mma_store(second + place, sums_p, half, 1, shape.size, pairs);
    }
}

template <typename Element, int Size> static heddle_status launch_backward_size(const heddle_call *call)
{
    const attention_shape *shape = (const attention_shape *)call->shape;
    const Element *q = (const Element *)call->input[0], *k = (const Element *)call->input[1];
    const Element *v = (const Element *)call->input[2], *output = (const Element *)call->input[3];
    const float *log_sums = (const float *)call->input[4];
    const Element *grad_output = (const Element *)call->input[5];
    float *means = (float *)call->workspace;
    const size_t row_bytes = (size_t)shape->size * MMA_BYTES;
    bool vectors = swizzled_vectors(grad_output, row_bytes), pairs = true;
    for (int i = 0; i < 3; i++) {
        vectors = vectors && swizzled_vectors(call->input[i], row_bytes);
        pairs = pairs && mma_pairs(call->output[i], shape->size);
    }
    const unsigned heads = (unsigned)shape->batch * (unsigned)shape->heads;
    const unsigned query_blocks = heads * heddle_ceil_div(shape->queries, MMA_BLOCK_ROWS);
    const unsigned key_blocks = heads * heddle_ceil_div(shape->keys, MMA_BLOCK_ROWS);
    const size_t rows = (size_t)heads * shape->queries;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    auto of_queries = attention_backward_mma<Element, Size, false>;
    auto of_keys = attention_backward_mma<Element, Size, true>;
    const int bytes = mma_backward<Size>::SHARED_BYTES;
    HEDDLE_CUDA_TRY(cudaFuncSetAttribute(of_queries, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    HEDDLE_CUDA_TRY(cudaFuncSetAttribute(of_keys, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    if (rows > 0) {
        attention_means_16<<<heddle_cuda_blocks(rows * 32), HEDDLE_CUDA_BLOCK, 0, stream>>>(rows, shape->size, output,
                                                                                            grad_output, means);
        of_queries<<<query_blocks, MMA_THREADS, bytes, stream>>>(*shape, q, grad_output, k, v, log_sums, means,
                                                                 (Element *)call->output[0], (Element *)nullptr,
                                                                 vectors, pairs);
    }
    if (key_blocks > 0)
        of_keys<<<key_blocks, MMA_THREADS, bytes, stream>>>(*shape, k, v, q, grad_output, log_sums, means,
                                                            (Element *)call->output[1], (Element *)call->output[2],
                                                            vectors, pairs);
    return heddle_cuda_launched("05_mma_sync");
}

template <typename Element> static heddle_status launch_backward(const heddle_call *call)
{
    const attention_shape *shape = (const attention_shape *)call->shape;
    return shape->size <= 64 ? launch_backward_size<Element, 64>(call) : launch_backward_size<Element, 128>(call);
}

heddle_status heddle_attention_bf16_forward_mma_sync(const heddle_call *call)
{
    return launch_forward<__nv_bfloat16>(call);
}

heddle_status heddle_attention_fp16_forward_mma_sync(const heddle_call *call)
{
    return launch_forward<__half>(call);
}

heddle_status heddle_attention_bf16_backward_mma_sync(const heddle_call *call)
{
    return launch_backward<__nv_bfloat16>(call);
}

heddle_status heddle_attention_fp16_backward_mma_sync(const heddle_call *call)
{
    return launch_backward<__half>(call);
}

HEDDLE_CUDA_RUNG("attention_bf16_forward", "05_mma_sync", heddle_attention_bf16_forward_mma_sync)
HEDDLE_CUDA_RUNG("attention_fp16_forward", "05_mma_sync", heddle_attention_fp16_forward_mma_sync)
HEDDLE_CUDA_RUNG("attention_bf16_backward", "05_mma_sync", heddle_attention_bf16_backward_mma_sync)
HEDDLE_CUDA_RUNG("attention_fp16_backward", "05_mma_sync", heddle_attention_fp16_backward_mma_sync)

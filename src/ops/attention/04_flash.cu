// attention, rung 4: flash attention. A block has 128 queries, all sums are in registers, and a product of two tiles is
// made of small ones: each thread loads 8 + 4 vectors for 128 multiplications, where rung 3 loaded one for four.
//
// The weights of a tile go through shared memory, in the place of the keys, because a thread that has computed a score
// is not the one that adds up that column of v. Tiles of keys that none of the queries sees are left out; blocks with
// the most of them start first.
//
// Backward computes the weights again from the log of each row's sum. Their matrix is never stored: with it, memory and
// traffic would grow with the square of the sequence. One kernel has queries as rows, for grad_q, and goes over the
// keys; the same kernel with keys as rows, for grad_k and grad_v, goes over the queries. Scores are computed twice, but
// each sum has one owner: no atomics, and the same bits every time.
//
//     heddle bench attention_forward/04_flash
//
// Limited by: the multiplications of float32, and by loads that no product hides: all warps wait for each tile.

#include "ops/attention/tile.h"

typedef heddle_attention_shape attention_shape;

// --- forward ---------------------------------------------------------------------------------------------------------

template <int Size> struct flash {
    enum {
        ROWS = 8,                   // of a thread
        COLUMNS = 4,                // likewise
        QUERIES = ROWS * TILE_GRID, // of a block
        KEYS = COLUMNS * TILE_GRID, // of a tile
        STRIDE = Size + TILE_PAD,
        WEIGHT_FLOATS = QUERIES * (KEYS + TILE_WEIGHT_PAD), // more than KEYS * STRIDE, which is in the same place
        SHARED_BYTES = (QUERIES * STRIDE + WEIGHT_FLOATS + KEYS * STRIDE) * (int)sizeof(float),
    };
    static_assert((int)WEIGHT_FLOATS >= KEYS * STRIDE, "keys and weights take turns");
    static_assert((int)SHARED_BYTES <= (int)HEDDLE_ATTENTION_FLASH_BYTES, "what the table says");
};

// q, output: (batch, heads, queries, size); k, v: (batch, heads, keys, size); log_sums: (batch, heads, queries)
template <int Size>
__global__ void __launch_bounds__(TILE_THREADS)
    attention_forward_flash(attention_shape shape, const float *q, const float *k, const float *v, float *output,
                            float *log_sums, bool vectors)
{
    typedef flash<Size> tile;
    extern __shared__ float4 shared[];
    float *tile_q = (float *)shared, *tile_k = tile_q + tile::QUERIES * tile::STRIDE;
    float *tile_v = tile_k + tile::WEIGHT_FLOATS, *weights = tile_k;
    const int heads = shape.batch * shape.heads, head = blockIdx.x % heads;
    const int first = (gridDim.x / heads - 1 - blockIdx.x / heads) * tile::QUERIES; // the last queries see most keys
    const int seen = attention_seen(shape, first + tile::QUERIES - 1);
    const float scale = rsqrtf((float)shape.size);
    q += (size_t)head * shape.queries * shape.size;
    k += (size_t)head * shape.keys * shape.size;
    v += (size_t)head * shape.keys * shape.size;

    attention_load<tile::QUERIES, Size, tile::STRIDE, TILE_THREADS>(tile_q, q, shape.queries, shape.size, first,
                                                                    vectors);
    float sums[tile::ROWS][Size / TILE_GRID] = {}, most[tile::ROWS], sum[tile::ROWS] = {};
#pragma unroll
    for (int r = 0; r < tile::ROWS; r++)
        most[r] = -INFINITY;
    for (int key = 0; key < seen; key += tile::KEYS) {
        attention_load<tile::KEYS, Size, tile::STRIDE, TILE_THREADS>(tile_k, k, shape.keys, shape.size, key, vectors);
        attention_load<tile::KEYS, Size, tile::STRIDE, TILE_THREADS>(tile_v, v, shape.keys, shape.size, key, vectors);
        __syncthreads();
        float score[tile::ROWS][tile::COLUMNS];
        tile_multiply<tile::ROWS, tile::COLUMNS, Size>(score, tile_q, tile_k);
#pragma unroll
        for (int r = 0; r < tile::ROWS; r++) {
            const int query = first + tile_down() + r * TILE_GRID;
            float largest = most[r], added = 0;
#pragma unroll
            for (int c = 0; c < tile::COLUMNS; c++) {
                const int column = key + tile_across() + c * TILE_GRID;
                score[r][c] = attention_sees(shape, query, column) ? scale * score[r][c] : -INFINITY;
                largest = fmaxf(largest, score[r][c]);
            }
            largest = tile_combine<true>(largest); // a number: every query sees key 0
#pragma unroll
            for (int c = 0; c < tile::COLUMNS; c++)
                added += score[r][c] = expf(score[r][c] - largest);
            const float correction = expf(most[r] - largest);
            most[r] = largest;
            sum[r] = sum[r] * correction + added; // this thread's columns alone
#pragma unroll
            for (int e = 0; e < Size / TILE_GRID; e++)
                sums[r][e] *= correction;
        }
        __syncthreads(); // all have read the keys
        tile_share<tile::ROWS, tile::COLUMNS>(weights, score);
        tile_add<tile::ROWS, tile::COLUMNS, Size>(sums, weights, tile_v);
        __syncthreads(); // all have read weights and values
    }
#pragma unroll
    for (int r = 0; r < tile::ROWS; r++) {
        const int query = first + tile_down() + r * TILE_GRID;
        const size_t row = (size_t)head * shape.queries + query;
        const float total = tile_combine<false>(sum[r]);
        if (query >= shape.queries)
            continue;
        tile_store(output + row * shape.size, sums[r], 1 / total, shape.size, vectors);
        if (tile_across() == 0)
            log_sums[row] = most[r] + logf(total);
    }
}

template <int Size> static heddle_status launch_forward_size(const heddle_call *call)
{
    const attention_shape *shape = (const attention_shape *)call->shape;
    const float *q = (const float *)call->input[0], *k = (const float *)call->input[1];
    const float *v = (const float *)call->input[2];
    float *output = (float *)call->output[0];
    const bool vectors = attention_vectors(q, shape->size) && attention_vectors(k, shape->size) &&
                         attention_vectors(v, shape->size) && attention_vectors(output, shape->size);
    const unsigned blocks =
        heddle_ceil_div(shape->queries, flash<Size>::QUERIES) * (unsigned)shape->batch * (unsigned)shape->heads;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    auto kernel = attention_forward_flash<Size>;
    const int bytes = flash<Size>::SHARED_BYTES;
    HEDDLE_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    if (blocks > 0)
        kernel<<<blocks, TILE_THREADS, bytes, stream>>>(*shape, q, k, v, output, (float *)call->output[1], vectors);
    return heddle_cuda_launched("04_flash");
}

static heddle_status launch_forward(const heddle_call *call)
{
    return ATTENTION_WITH_SIZE(launch_forward_size, call);
}

// --- backward --------------------------------------------------------------------------------------------------------

template <int Size> struct flash_backward {
    enum {
        ROWS = 4,
        COLUMNS = 2,
        BLOCK_ROWS = ROWS * TILE_GRID,
        TILE = COLUMNS * TILE_GRID,
        STRIDE = Size + TILE_PAD,
        ROW_FLOATS = BLOCK_ROWS * STRIDE,
        TILE_FLOATS = TILE * STRIDE,
        WEIGHT_FLOATS = BLOCK_ROWS * (TILE + TILE_WEIGHT_PAD),
        SHARED_BYTES = (2 * ROW_FLOATS + 2 * TILE_FLOATS + WEIGHT_FLOATS) * (int)sizeof(float),
    };
    static_assert((int)SHARED_BYTES <= (int)HEDDLE_ATTENTION_FLASH_BACKWARD_BYTES, "what the table says");
};

// means[row] = output · grad_output, one warp per row: what softmax's gradient subtracts from each product.
__global__ void attention_means(size_t rows, int size, const float *output, const float *grad_output, float *means)
{
    const int warp = 32;
    const size_t row = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / warp;
    if (row >= rows)
        return;
    float sum = 0;
    for (int d = threadIdx.x % warp; d < size; d += warp)
        sum += output[row * size + d] * grad_output[row * size + d];
    for (int distance = warp / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (threadIdx.x % warp == 0)
        means[row] = sum;
}

// With p = exp(score - log_sum) and s = p (v · grad_output - mean) of each pair of a row and a column:
//   of_keys: rows are keys, columns queries; first = grad_k = scale Σ s q, second = grad_v = Σ p grad_output
//   else:    rows are queries, columns keys; first = grad_q = scale Σ s k
// row_a (rows, size), column_a (columns, size): their products are the scores; row_b, column_b: v and grad_output
template <int Size, bool of_keys>
__global__ void __launch_bounds__(TILE_THREADS)
    attention_backward_flash(attention_shape shape, const float *row_a, const float *row_b, const float *column_a,
                             const float *column_b, const float *log_sums, const float *means, float *first,
                             float *second, bool vectors)
{
    typedef flash_backward<Size> tile;
    extern __shared__ float4 shared[];
    float *tile_row_a = (float *)shared, *tile_row_b = tile_row_a + tile::ROW_FLOATS;
    float *tile_a = tile_row_b + tile::ROW_FLOATS, *tile_b = tile_a + tile::TILE_FLOATS;
    float *weights = tile_b + tile::TILE_FLOATS;
    const int rows = of_keys ? shape.keys : shape.queries, columns = of_keys ? shape.queries : shape.keys;
    const int heads = shape.batch * shape.heads, head = blockIdx.x % heads, blocks = gridDim.x / heads;
    // The first keys are seen by the most queries, the last queries see the most keys: they start first.
    const int top = (of_keys ? blockIdx.x / heads : blocks - 1 - blockIdx.x / heads) * tile::BLOCK_ROWS;
    const int begin = of_keys && shape.causal ? top / tile::TILE * tile::TILE : 0;
    const int end = of_keys ? columns : attention_seen(shape, top + tile::BLOCK_ROWS - 1);
    const float scale = rsqrtf((float)shape.size);
    row_a += (size_t)head * rows * shape.size, row_b += (size_t)head * rows * shape.size;
    column_a += (size_t)head * columns * shape.size, column_b += (size_t)head * columns * shape.size;
    log_sums += (size_t)head * shape.queries, means += (size_t)head * shape.queries;

    attention_load<tile::BLOCK_ROWS, Size, tile::STRIDE, TILE_THREADS>(tile_row_a, row_a, rows, shape.size, top,
                                                                       vectors);
    attention_load<tile::BLOCK_ROWS, Size, tile::STRIDE, TILE_THREADS>(tile_row_b, row_b, rows, shape.size, top,
                                                                       vectors);
    float sums_s[tile::ROWS][Size / TILE_GRID] = {}, sums_p[tile::ROWS][Size / TILE_GRID] = {};
    for (int column = begin; column < end; column += tile::TILE) {
        attention_load<tile::TILE, Size, tile::STRIDE, TILE_THREADS>(tile_a, column_a, columns, shape.size, column,
                                                                     vectors);
        attention_load<tile::TILE, Size, tile::STRIDE, TILE_THREADS>(tile_b, column_b, columns, shape.size, column,
                                                                     vectors);
        __syncthreads();
        float p[tile::ROWS][tile::COLUMNS], s[tile::ROWS][tile::COLUMNS];
        tile_multiply<tile::ROWS, tile::COLUMNS, Size>(p, tile_row_a, tile_a);
        tile_multiply<tile::ROWS, tile::COLUMNS, Size>(s, tile_row_b, tile_b);
#pragma unroll
        for (int r = 0; r < tile::ROWS; r++)
#pragma unroll
            for (int c = 0; c < tile::COLUMNS; c++) {
                const int at_row = top + tile_down() + r * TILE_GRID,
                          at_column = column + tile_across() + c * TILE_GRID;
                const int query = of_keys ? at_column : at_row, key = of_keys ? at_row : at_column;
                const bool seen = query < shape.queries && attention_sees(shape, query, key);
                p[r][c] = seen ? expf(scale * p[r][c] - log_sums[query]) : 0;
                s[r][c] = seen ? p[r][c] * (s[r][c] - means[query]) : 0;
            }
        if (of_keys) {
            tile_share<tile::ROWS, tile::COLUMNS>(weights, p);
            tile_add<tile::ROWS, tile::COLUMNS, Size>(sums_p, weights, tile_b);
        }
        tile_share<tile::ROWS, tile::COLUMNS>(weights, s);
        tile_add<tile::ROWS, tile::COLUMNS, Size>(sums_s, weights, tile_a);
        __syncthreads(); // all have read the tiles
    }
#pragma unroll
    for (int r = 0; r < tile::ROWS; r++) {
        const int at = top + tile_down() + r * TILE_GRID;
        const size_t place = ((size_t)head * rows + at) * shape.size;
        if (at < rows)
            tile_store(first + place, sums_s[r], scale, shape.size, vectors);
        if (of_keys && at < rows)
            tile_store(second + place, sums_p[r], 1, shape.size, vectors);
    }
}

template <int Size> static heddle_status launch_backward_size(const heddle_call *call)
{
    typedef flash_backward<Size> tile;
    const attention_shape *shape = (const attention_shape *)call->shape;
    const float *q = (const float *)call->input[0], *k = (const float *)call->input[1];
    const float *v = (const float *)call->input[2], *output = (const float *)call->input[3];
    const float *log_sums = (const float *)call->input[4], *grad_output = (const float *)call->input[5];
    float *grad_q = (float *)call->output[0], *grad_k = (float *)call->output[1], *grad_v = (float *)call->output[2];
    float *means = (float *)call->workspace;
    bool vectors = attention_vectors(grad_output, shape->size) && attention_vectors(grad_q, shape->size) &&
                   attention_vectors(grad_k, shape->size) && attention_vectors(grad_v, shape->size);
    for (int i = 0; i < 3; i++)
        vectors = vectors && attention_vectors(call->input[i], shape->size);
    const unsigned heads = (unsigned)shape->batch * (unsigned)shape->heads;
    const unsigned query_blocks = heads * heddle_ceil_div(shape->queries, tile::BLOCK_ROWS);
    const unsigned key_blocks = heads * heddle_ceil_div(shape->keys, tile::BLOCK_ROWS);
    const size_t rows = (size_t)heads * shape->queries;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    auto of_queries = attention_backward_flash<Size, false>;
    auto of_keys = attention_backward_flash<Size, true>;
    const int bytes = tile::SHARED_BYTES;
    HEDDLE_CUDA_TRY(cudaFuncSetAttribute(of_queries, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    HEDDLE_CUDA_TRY(cudaFuncSetAttribute(of_keys, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    if (rows > 0) {
        attention_means<<<heddle_cuda_blocks(rows * 32), HEDDLE_CUDA_BLOCK, 0, stream>>>(rows, shape->size, output,
                                                                                         grad_output, means);
        of_queries<<<query_blocks, TILE_THREADS, bytes, stream>>>(*shape, q, grad_output, k, v, log_sums, means, grad_q,
                                                                  nullptr, vectors);
    }
    if (key_blocks > 0)
        of_keys<<<key_blocks, TILE_THREADS, bytes, stream>>>(*shape, k, v, q, grad_output, log_sums, means, grad_k,
                                                             grad_v, vectors);
    return heddle_cuda_launched("04_flash");
}

static heddle_status launch_backward(const heddle_call *call)
{
    return ATTENTION_WITH_SIZE(launch_backward_size, call);
}

HEDDLE_CUDA_RUNG("attention_forward", "04_flash", launch_forward)
HEDDLE_CUDA_RUNG("attention_backward", "04_flash", launch_backward)

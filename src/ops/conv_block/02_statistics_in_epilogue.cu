// conv_block forward, rung 2: the convolution as a tiled product with the statistics in its epilogue; then one kernel
// for batchnorm, relu and pooling.
//
// Rung 1 loads two numbers per multiplication, and reads the whole convolution back, twice, only for its mean and
// variance. Here a thread multiplies 8 pixels by 8 filters in registers (product.h). When a tile is done its sums are
// still there: a few shuffles give each filter's mean over the tile's pixels and the squares around it, two numbers
// where rung 1 read 128. A small kernel joins the tiles' means and squares, in double and in a fixed order, so that no
// difference of large sums arises. The convolution is written once and read once: batchnorm, relu and pooling are one
// pass over it, with 4 channels of a window per thread.
//
// Limited by: multiplications and the instructions that feed them: 4 loads of 16 bytes from shared memory for 64 of
// them, and each number of the image stored to shared memory once per tap.

#include "ops/conv_block/channels.h"
#include "ops/conv_block/product_tf32.h"
#include "ops/conv_block/windows.h"

// --- convolution ----------------------------------------------------------------------------------------------------

// Sums over the threads of the block that share a filter, for all of them: lanes of a warp, then warps along the
// pixels. shared: (warps along the pixels, filters), which no thread may still be using
template <int filters> __device__ static void sum_over_pixels(float value[CONV_BLOCK_TILE], float *shared)
{
    const int warps = conv_block_tile<filters>::across / CONV_BLOCK_LANES;
#pragma unroll
    for (int f = 0; f < CONV_BLOCK_TILE; f++) {
        for (int lanes = CONV_BLOCK_LANES / 2; lanes > 0; lanes /= 2)
            value[f] += __shfl_xor_sync(0xffffffffu, value[f], lanes);
        if (threadIdx.x % CONV_BLOCK_LANES == 0)
            shared[threadIdx.x / 32 % warps * filters + conv_block_tile_filter<filters>(f)] = value[f];
    }
    __syncthreads();
#pragma unroll
    for (int f = 0; f < CONV_BLOCK_TILE; f++) {
        value[f] = 0;
        for (int warp = 0; warp < warps; warp++)
            value[f] += shared[warp * filters + conv_block_tile_filter<filters>(f)];
    }
}

// parts: (2, k, gridDim.x): the mean of a tile's pixels, the sum of squares around it. shared: of the product
template <int filters>
__device__ static void leave_statistics(int k, int count, const float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE],
                                        float *shared, float *parts)
{
    float mean[CONV_BLOCK_TILE] = {}, squares[CONV_BLOCK_TILE] = {};
#pragma unroll
    for (int i = 0; i < CONV_BLOCK_TILE * CONV_BLOCK_TILE; i++) // beyond the last pixel they are 0
        mean[i / CONV_BLOCK_TILE] += sum[i / CONV_BLOCK_TILE][i % CONV_BLOCK_TILE];
    sum_over_pixels<filters>(mean, shared);
#pragma unroll
    for (int f = 0; f < CONV_BLOCK_TILE; f++) {
        mean[f] /= (float)count;
#pragma unroll
        for (int p = 0; p < CONV_BLOCK_TILE; p++) {
            float difference = sum[f][p] - mean[f];
            squares[f] += conv_block_tile_pixel<filters>(p) < count ? difference * difference : 0.0f;
        }
    }
    sum_over_pixels<filters>(squares, shared + CONV_BLOCK_THREADS);
#pragma unroll
    for (int f = 0; f < CONV_BLOCK_TILE; f++) {
        int filter = blockIdx.y * filters + conv_block_tile_filter<filters>(f);
        if (conv_block_across<filters>() == 0 && filter < k) {
            parts[(size_t)filter * gridDim.x + blockIdx.x] = mean[f];
            parts[((size_t)k + filter) * gridDim.x + blockIdx.x] = squares[f];
        }
    }
}

// convolution: (n, h, w, k)
template <int filters>
__device__ static void store_convolution(int k, int count, bool vectors,
                                         const float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE], float *convolution)
{
    size_t first = (size_t)blockIdx.x * conv_block_tile<filters>::pixels;
#pragma unroll
    for (int p = 0; p < CONV_BLOCK_TILE; p++) {
        int pixel = conv_block_tile_pixel<filters>(p);
        if (pixel >= count)
            continue;
#pragma unroll
        for (int f = 0; f < CONV_BLOCK_TILE; f += CONV_BLOCK_RUN) {
            int filter = blockIdx.y * filters + conv_block_tile_filter<filters>(f);
            float *to = convolution + (first + pixel) * k + filter;
            const float __align__(16) value[4] = {sum[f][p], sum[f + 1][p], sum[f + 2][p], sum[f + 3][p]};
            if (vectors && filter < k)
                conv_block_store_row<true>(to, 4, value);
            else
                conv_block_store_row<false>(to, k - filter, value);
        }
    }
}

template <int filters, bool aligned>
__global__ void __launch_bounds__(CONV_BLOCK_THREADS, (conv_block_resident<false>()))
    conv_block_product_statistics(conv_block_source source, int k, int columns, bool vectors, const float *packed,
                                  float *convolution, float *parts)
{
    extern __shared__ __align__(16) float shared[];
    float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE] = {};
    conv_block_any_product<false, filters, aligned, false>(source, columns, packed, shared, sum);
    const int tile = conv_block_tile<filters>::pixels;
    size_t pixels = (size_t)source.images * source.h * source.w, first = (size_t)blockIdx.x * tile;
    int count = (int)min(pixels - first, (size_t)tile);
    leave_statistics<filters>(k, count, sum, shared, parts);
    store_convolution<filters>(k, count, vectors, sum, convolution);
}

// --- statistics -----------------------------------------------------------------------------------------------------

// One block per channel. parts: (2, k, count), of `pixels` each except for the last
__global__ void conv_block_join_statistics(heddle_conv_block_shape shape, int count, int pixels, const float *parts,
                                           conv_block_statistics_operands operands)
{
    __shared__ double shared[CONV_BLOCK_SUM_THREADS];
    size_t all = (size_t)shape.n * shape.h * shape.w;
    const float *means = parts + (size_t)blockIdx.x * count, *squares = means + (size_t)shape.k * count;
    double sum = 0;
    for (int i = threadIdx.x; i < count; i += CONV_BLOCK_SUM_THREADS)
        sum += (double)means[i] * (double)min(all - (size_t)i * pixels, (size_t)pixels);
    double mean = conv_block_block_sum(sum, shared) / (double)all;
    sum = 0;
    for (int i = threadIdx.x; i < count; i += CONV_BLOCK_SUM_THREADS) {
        double difference = (double)means[i] - mean;
        sum += (double)squares[i] + difference * difference * (double)min(all - (size_t)i * pixels, (size_t)pixels);
    }
    sum = conv_block_block_sum(sum, shared);
    if (threadIdx.x == 0)
        conv_block_save_statistics(shape, operands, blockIdx.x, mean, sum / (double)all);
}

// --- batchnorm, relu and pooling ------------------------------------------------------------------------------------

typedef struct pool_operands {
    const float *convolution, *mean, *inverse_std, *gamma, *beta;
    float *output;
    uint8_t *code;
} pool_operands;

// value: of the 4 pixels of a window, 4 channels each
template <bool vectors>
__device__ static void load_window(const heddle_conv_block_shape &shape, const float *convolution,
                                   const conv_block_window &window, int channel, float value[4][4])
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        size_t pixel = (window.n * shape.h + window.y + i / 2) * shape.w + window.x + i % 2;
        conv_block_load_row<vectors>(convolution + pixel * shape.k + channel, shape.k - channel, value[i]);
    }
}

// Blocks: tiles of windows, channels.
template <bool vectors>
__global__ void __launch_bounds__(CONV_BLOCK_WINDOW_THREADS)
    conv_block_pool_windows(heddle_conv_block_shape shape, pool_operands operands)
{
    __shared__ conv_block_turned turned;
    size_t tile = (size_t)blockIdx.x * CONV_BLOCK_WINDOWS, mine = tile + threadIdx.x / CONV_BLOCK_QUADS;
    conv_block_window window = conv_block_window_at(shape.n, shape.h / 2, shape.w / 2, mine);
    int channel = conv_block_first_channel();
    if (window.n < (size_t)shape.n && channel < shape.k) {
        float __align__(16) value[4][4];
        float __align__(16) pooled[4];
        unsigned winner[4];
        load_window<vectors>(shape, operands.convolution, window, channel, value);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int k = min(channel + i, shape.k - 1);
            float scale = operands.gamma[k] * operands.inverse_std[k], mean = operands.mean[k], beta = operands.beta[k];
            const float four[4] = {(value[0][i] - mean) * scale + beta, (value[1][i] - mean) * scale + beta,
                                   (value[2][i] - mean) * scale + beta, (value[3][i] - mean) * scale + beta};
            pooled[i] = conv_block_relu_pool(four, &winner[i]);
        }
        uint8_t *code = operands.code + mine * shape.k + channel;
        if (vectors)
            *(uchar4 *)code = make_uchar4(winner[0], winner[1], winner[2], winner[3]);
        for (int i = 0; !vectors && i < 4 && channel + i < shape.k; i++)
            code[i] = (uint8_t)winner[i];
        if (shape.output_channels_last)
            conv_block_store_row<vectors>(operands.output + mine * shape.k + channel, shape.k - channel, pooled);
        else
            for (int i = 0; i < 4; i++)
                turned[threadIdx.x % CONV_BLOCK_QUADS * 4 + i][threadIdx.x / CONV_BLOCK_QUADS] = pooled[i];
    }
    if (!shape.output_channels_last)
        conv_block_turn_out(shape, tile, turned, operands.output);
}

// --- launching ------------------------------------------------------------------------------------------------------

template <int filters>
static void launch_statistics(cudaStream_t stream, const conv_block_source &source, int k, const float *packed,
                              float *convolution, float *parts)
{
    int columns = conv_block_packed_columns(k);
    bool vectors = k % HEDDLE_VECTOR == 0 && heddle_aligned16(convolution);
    size_t pixels = (size_t)source.images * source.h * source.w, bytes = conv_block_product_bytes<false, filters>();
    dim3 grid(heddle_ceil_div(pixels, conv_block_tile<filters>::pixels), columns / filters);
    auto kernel = heddle_aligned16(source.data) ? conv_block_product_statistics<filters, true>
                                                : conv_block_product_statistics<filters, false>;
    conv_block_allow_shared((const void *)kernel, bytes);
    kernel<<<grid, CONV_BLOCK_THREADS, bytes, stream>>>(source, k, columns, vectors, packed, convolution, parts);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_conv_block_shape &shape = *(const heddle_conv_block_shape *)call->shape;
    conv_block_layout layout = conv_block_forward_layout(&shape);
    float *workspace = (float *)call->workspace, *packed = workspace + layout.packed, *parts = workspace + layout.parts;
    float *convolution = (float *)call->output[1];
    cudaStream_t stream = heddle_cuda_stream_of(call);

    conv_block_source source =
        conv_block_input_source(stream, shape, (const float *)call->input[0], workspace + layout.input);
    size_t weights = conv_block_packed_size(shape.c, shape.k);
    conv_block_pack_weight<false><<<heddle_cuda_blocks(weights), HEDDLE_CUDA_BLOCK, 0, stream>>>(
        shape.c, shape.k, source.channels, conv_block_packed_columns(shape.k), false, (const float *)call->input[1],
        packed);
    if (conv_block_tile_filters(shape.k) == CONV_BLOCK_FILTERS)
        launch_statistics<CONV_BLOCK_FILTERS>(stream, source, shape.k, packed, convolution, parts);
    else
        launch_statistics<CONV_BLOCK_FEW_FILTERS>(stream, source, shape.k, packed, convolution, parts);
    conv_block_join_statistics<<<shape.k, CONV_BLOCK_SUM_THREADS, 0, stream>>>(
        shape, (int)conv_block_statistics_parts(&shape), conv_block_tile_pixels(shape.k), parts,
        conv_block_statistics_of(call));

    pool_operands pool = {convolution,
                          (const float *)call->output[2],
                          (const float *)call->output[3],
                          (const float *)call->input[3],
                          (const float *)call->input[4],
                          (float *)call->output[0],
                          (uint8_t *)call->output[4]};
    bool vectors = shape.k % HEDDLE_VECTOR == 0 && heddle_aligned16(convolution) && heddle_aligned16(pool.output) &&
                   (uintptr_t)pool.code % sizeof(uchar4) == 0;
    dim3 grid(heddle_ceil_div((size_t)shape.n * (shape.h / 2) * (shape.w / 2), CONV_BLOCK_WINDOWS),
              heddle_ceil_div(shape.k, CONV_BLOCK_WINDOW_CHANNELS));
    if (vectors)
        conv_block_pool_windows<true><<<grid, CONV_BLOCK_WINDOW_THREADS, 0, stream>>>(shape, pool);
    else
        conv_block_pool_windows<false><<<grid, CONV_BLOCK_WINDOW_THREADS, 0, stream>>>(shape, pool);
    return heddle_cuda_launched("02_statistics_in_epilogue");
}

HEDDLE_CUDA_RUNG("conv_block_forward", "02_statistics_in_epilogue", launch)

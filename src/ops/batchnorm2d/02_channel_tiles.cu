// batchnorm2d, rung 2: channels cut into tiles, one block per tile; four elements per access.
//
// Rung 1 gave a whole channel to one thread for the sums. Here a block holds a tile of a channel, 4096 elements of any
// number of images, in registers. It computes the tile's mean and then the squares around it, and stores both in the
// workspace. A second kernel combines a channel's tiles in double and in a fixed order, and writes the few numbers per
// channel that the third needs to normalise. The third takes the tiles in the opposite order: what the first read last
// is still in the L2 cache. Backward works the same way, with the sums of grad and of grad times normalised.
//
// Neighbouring blocks have neighbouring channels of the same images, so that together they read contiguous memory.
// Planes whose size is not a multiple of 4 elements, or whose start is not 16-byte aligned, are moved 4 bytes at a
// time.
//
// Limited by: memory bandwidth. What does not fit in the L2 cache is read twice: no block can normalise before all sums
// are complete.

#include "heddle/ops.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"

enum {
    THREADS = 256,
    VECTORS = 4, // per thread: loads in flight, and kept from the mean to the squares
    TILE = THREADS * VECTORS * HEDDLE_VECTOR,
};

// --- places of a tile -----------------------------------------------------------------------------------------------

// A tile of a channel: `count` elements of it starting at `first`, with the channel's planes one after another.
typedef struct tile {
    unsigned channel, channels, plane, first, count;
    unsigned part; // its place among all tiles: (channels, tiles)
} tile;

__device__ static tile tile_of(const heddle_batchnorm2d_shape &shape, unsigned block)
{
    unsigned plane = (unsigned)shape.h * shape.w, all = plane * shape.n, tiles = (all + TILE - 1) / TILE;
    unsigned channel = block % shape.c, number = block / shape.c, rest = all - number * TILE;
    return tile{channel,
                (unsigned)shape.c,
                plane,
                number * TILE,
                rest < TILE ? rest : (unsigned)TILE,
                channel * tiles + number};
}

// Of the tile's element `index`, in the tensor.
__device__ static inline size_t place_of(const tile &of, unsigned index)
{
    unsigned image = (of.first + index) / of.plane, offset = (of.first + index) % of.plane;
    return ((size_t)image * of.channels + of.channel) * of.plane + offset;
}

// Place in the tile of a thread's element k of vector i. aligned: a vector lies in one plane, 16-byte aligned.
template <bool aligned> __device__ static inline unsigned index_of(int i, int k)
{
    return (unsigned)heddle_row_col<THREADS, aligned>(i, k);
}

template <bool aligned>
__device__ static void load_tile(const tile &of, const float *from, float missing, float (*value)[HEDDLE_VECTOR])
{
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        if (aligned) {
            float4 loaded = make_float4(missing, missing, missing, missing);
            if (index_of<true>(i, 0) < of.count)
                loaded = *(const float4 *)(from + place_of(of, index_of<true>(i, 0)));
            value[i][0] = loaded.x;
            value[i][1] = loaded.y;
            value[i][2] = loaded.z;
            value[i][3] = loaded.w;
        } else {
#pragma unroll
            for (int k = 0; k < HEDDLE_VECTOR; k++)
                value[i][k] = index_of<false>(i, k) < of.count ? from[place_of(of, index_of<false>(i, k))] : missing;
        }
    }
}

template <bool aligned>
__device__ static void store_tile(const tile &of, float *to, const float (*value)[HEDDLE_VECTOR])
{
#pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        if (aligned) {
            if (index_of<true>(i, 0) < of.count)
                *(float4 *)(to + place_of(of, index_of<true>(i, 0))) =
                    make_float4(value[i][0], value[i][1], value[i][2], value[i][3]);
        } else {
#pragma unroll
            for (int k = 0; k < HEDDLE_VECTOR; k++)
                if (index_of<false>(i, k) < of.count)
                    to[place_of(of, index_of<false>(i, k))] = value[i][k];
        }
    }
}

// Over the block, in thread 0. of_warp: (WARPS)
__device__ static double block_sum(double value, double *of_warp)
{
    for (int distance = HEDDLE_WARP / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    if (threadIdx.x % HEDDLE_WARP == 0)
        of_warp[threadIdx.x / HEDDLE_WARP] = value;
    __syncthreads();
    double sum = 0;
    for (int warp = 0; warp < THREADS / HEDDLE_WARP; warp++)
        sum += of_warp[warp];
    return sum;
}

// --- forward --------------------------------------------------------------------------------------------------------

// How the last kernel normalises an element: ((x - mean) - rest) * scale + shift. The mean is in two floats: if it is
// far from 0, one would cost the output its last digits.
typedef struct __align__(16) forward_channel
{
    float mean, rest, scale, shift;
}
forward_channel;

// A tile's mean, and the sum of squares around it. The mean is in two floats here too: a center near it, found first,
// and the mean of the differences from it, which are exact if the values are close together and far from 0.
typedef struct moments {
    float center, rest, squares;
} moments;

// parts: (c, tiles)
template <bool aligned>
__global__ void __launch_bounds__(THREADS)
    batchnorm2d_tile_moments(heddle_batchnorm2d_shape shape, const float *input, moments *parts)
{
    __shared__ float of_warp[3][HEDDLE_WARPS];
    tile of = tile_of(shape, blockIdx.x);
    float value[VECTORS][HEDDLE_VECTOR], sum = 0, distances = 0, squares = 0;
    load_tile<aligned>(of, input, 0, value);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
        sum += (value[i][0] + value[i][1]) + (value[i][2] + value[i][3]);
    float center = heddle_group_sum<THREADS>(sum, of_warp[0]) / of.count;
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++) {
            float distance = index_of<aligned>(i, k) < of.count ? value[i][k] - center : 0;
            distances += distance;
            squares += distance * distance;
        }
    distances = heddle_group_sum<THREADS>(distances, of_warp[1]);
    squares = heddle_group_sum<THREADS>(squares, of_warp[2]);
    float rest = distances / of.count;
    if (threadIdx.x == 0)
        parts[of.part] = moments{center, rest, squares - distances * rest};
}

// One block per channel. gamma, beta, saved and running statistics: (c)
__global__ void __launch_bounds__(THREADS)
    batchnorm2d_join_moments(heddle_batchnorm2d_shape shape, const moments *parts, const float *gamma,
                             const float *beta, float *saved_mean, float *saved_inverse_std, float *running_mean,
                             float *running_var, forward_channel *channels)
{
    __shared__ double of_warp[2][HEDDLE_WARPS];
    unsigned all = (unsigned)shape.n * shape.h * shape.w, tiles = (all + TILE - 1) / TILE, c = blockIdx.x;
    double sum = 0, squares = 0;
    for (unsigned i = threadIdx.x; i < tiles; i += THREADS) {
        moments part = parts[c * tiles + i];
        sum += ((double)part.center + part.rest) * (i < tiles - 1 ? TILE : all - i * TILE);
    }
    double mean = block_sum(sum, of_warp[0]) / all;
    for (unsigned i = threadIdx.x; i < tiles; i += THREADS) {
        moments part = parts[c * tiles + i];
        double distance = (double)part.center + part.rest - mean;
        squares += part.squares + distance * distance * (i < tiles - 1 ? TILE : all - i * TILE);
    }
    squares = block_sum(squares, of_warp[1]);
    if (threadIdx.x > 0)
        return;
    double inverse_std = 1 / sqrt(squares / all + shape.epsilon);
    saved_mean[c] = (float)mean;
    saved_inverse_std[c] = (float)inverse_std;
    channels[c] = forward_channel{(float)mean, (float)(mean - (float)mean), (float)(inverse_std * gamma[c]), beta[c]};
    if (running_mean)
        running_mean[c] += shape.momentum * ((float)mean - running_mean[c]);
    if (running_var)
        running_var[c] += shape.momentum * ((float)(squares / (all - 1)) - running_var[c]);
}

// relu: negative results become 0, for batchnorm2d_relu.
template <bool aligned, bool relu>
__global__ void __launch_bounds__(THREADS)
    batchnorm2d_normalise_tiles(heddle_batchnorm2d_shape shape, const float *input, const forward_channel *channels,
                                float *output)
{
    tile of = tile_of(shape, gridDim.x - 1 - blockIdx.x);
    forward_channel channel = channels[of.channel];
    float value[VECTORS][HEDDLE_VECTOR];
    load_tile<aligned>(of, input, 0, value);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++) {
            float result = (value[i][k] - channel.mean - channel.rest) * channel.scale + channel.shift;
            value[i][k] = relu && result < 0.0f ? 0.0f : result; // in this order NaN is preserved
        }
    store_tile<aligned>(of, output, value);
}

// --- backward -------------------------------------------------------------------------------------------------------

// grad_input = gamma / std * (grad - mean(grad) - n * mean(grad * n)), n = (x - mean) / std, comes to
// grad * of_grad + (x - mean) * of_input + shift.
typedef struct __align__(16) backward_channel
{
    float mean, of_grad, of_input, shift;
}
backward_channel;

// parts: (c, tiles), each the sums over a tile of grad and of grad times normalised
template <bool aligned>
__global__ void __launch_bounds__(THREADS)
    batchnorm2d_tile_sums(heddle_batchnorm2d_shape shape, const float *input, const float *mean,
                          const float *inverse_std, const float *grad_output, float2 *parts)
{
    __shared__ float of_warp[2][HEDDLE_WARPS];
    tile of = tile_of(shape, blockIdx.x);
    float x[VECTORS][HEDDLE_VECTOR], grad[VECTORS][HEDDLE_VECTOR], center = mean[of.channel], sum = 0, product = 0;
    load_tile<aligned>(of, input, center, x);
    load_tile<aligned>(of, grad_output, 0, grad);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++) {
            sum += grad[i][k];
            product += grad[i][k] * (x[i][k] - center);
        }
    sum = heddle_group_sum<THREADS>(sum, of_warp[0]);
    product = heddle_group_sum<THREADS>(product, of_warp[1]) * inverse_std[of.channel];
    if (threadIdx.x == 0)
        parts[of.part] = make_float2(sum, product);
}

// One block per channel.
__global__ void __launch_bounds__(THREADS)
    batchnorm2d_join_sums(heddle_batchnorm2d_shape shape, const float2 *parts, const float *gamma, const float *mean,
                          const float *inverse_std, float *grad_gamma, float *grad_beta, backward_channel *channels)
{
    __shared__ double of_warp[2][HEDDLE_WARPS];
    unsigned all = (unsigned)shape.n * shape.h * shape.w, tiles = (all + TILE - 1) / TILE, c = blockIdx.x;
    double sum = 0, product = 0;
    for (unsigned i = threadIdx.x; i < tiles; i += THREADS) {
        sum += parts[c * tiles + i].x;
        product += parts[c * tiles + i].y;
    }
    sum = block_sum(sum, of_warp[0]);
    product = block_sum(product, of_warp[1]);
    if (threadIdx.x > 0)
        return;
    grad_gamma[c] = (float)product;
    grad_beta[c] = (float)sum;
    double of_grad = (double)gamma[c] * inverse_std[c];
    channels[c] = backward_channel{mean[c], (float)of_grad, (float)(-of_grad * inverse_std[c] * product / all),
                                   (float)(-of_grad * sum / all)};
}

template <bool aligned>
__global__ void __launch_bounds__(THREADS)
    batchnorm2d_grad_tiles(heddle_batchnorm2d_shape shape, const float *input, const float *grad_output,
                           const backward_channel *channels, float *grad_input)
{
    tile of = tile_of(shape, gridDim.x - 1 - blockIdx.x);
    backward_channel channel = channels[of.channel];
    float x[VECTORS][HEDDLE_VECTOR], grad[VECTORS][HEDDLE_VECTOR];
    load_tile<aligned>(of, input, 0, x);
    load_tile<aligned>(of, grad_output, 0, grad);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++)
            grad[i][k] = grad[i][k] * channel.of_grad + (x[i][k] - channel.mean) * channel.of_input + channel.shift;
    store_tile<aligned>(of, grad_input, grad);
}

// --- inference ------------------------------------------------------------------------------------------------------

template <bool aligned>
__global__ void __launch_bounds__(THREADS)
    batchnorm2d_inference_tiles(heddle_batchnorm2d_shape shape, const float *input, const float *gamma,
                                const float *beta, const float *running_mean, const float *running_var, float *output)
{
    tile of = tile_of(shape, blockIdx.x);
    float mean = running_mean[of.channel], shift = beta[of.channel];
    float scale = gamma[of.channel] / sqrtf(running_var[of.channel] + shape.epsilon);
    float value[VECTORS][HEDDLE_VECTOR];
    load_tile<aligned>(of, input, 0, value);
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++)
            value[i][k] = (value[i][k] - mean) * scale + shift;
    store_tile<aligned>(of, output, value);
}

// --- launching ------------------------------------------------------------------------------------------------------

static unsigned tile_blocks(const heddle_batchnorm2d_shape *shape)
{
    return heddle_ceil_div((long long)shape->n * shape->h * shape->w, TILE) * shape->c;
}

// Whether planes are 16-byte aligned, if the tensors are.
static bool whole_vectors(const heddle_batchnorm2d_shape *shape)
{
    return (long long)shape->h * shape->w % HEDDLE_VECTOR == 0;
}

template <bool relu> static heddle_status launch_normalised(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = (const heddle_batchnorm2d_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    forward_channel *channels = (forward_channel *)call->workspace; // (c), before the parts
    moments *parts = (moments *)(channels + shape->c);
    bool aligned = whole_vectors(shape) && heddle_aligned16(input) && heddle_aligned16(output);
    unsigned blocks = tile_blocks(shape);
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (shape->c == 0)
        return HEDDLE_OK;
    (aligned ? batchnorm2d_tile_moments<true>
             : batchnorm2d_tile_moments<false>)<<<blocks, THREADS, 0, stream>>>(*shape, input, parts);
    batchnorm2d_join_moments<<<shape->c, THREADS, 0, stream>>>(
        *shape, parts, (const float *)call->input[1], (const float *)call->input[2], (float *)call->output[1],
        (float *)call->output[2], (float *)call->output[3], (float *)call->output[4], channels);
    (aligned
         ? batchnorm2d_normalise_tiles<true, relu>
         : batchnorm2d_normalise_tiles<false, relu>)<<<blocks, THREADS, 0, stream>>>(*shape, input, channels, output);
    return heddle_cuda_launched("02_channel_tiles");
}

static heddle_status launch_forward(const heddle_call *call)
{
    return launch_normalised<false>(call);
}

static heddle_status launch_relu(const heddle_call *call)
{
    return launch_normalised<true>(call);
}

static heddle_status launch_backward(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = (const heddle_batchnorm2d_shape *)call->shape;
    const float *input = (const float *)call->input[0], *gamma = (const float *)call->input[1];
    const float *mean = (const float *)call->input[2], *inverse_std = (const float *)call->input[3];
    const float *grad_output = (const float *)call->input[4];
    float *grad_input = (float *)call->output[0];
    backward_channel *channels = (backward_channel *)call->workspace;
    float2 *parts = (float2 *)(channels + shape->c);
    bool aligned = whole_vectors(shape) && heddle_aligned16(input) && heddle_aligned16(grad_output) &&
                   heddle_aligned16(grad_input);
    unsigned blocks = tile_blocks(shape);
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (shape->c == 0)
        return HEDDLE_OK;
    (aligned ? batchnorm2d_tile_sums<true> : batchnorm2d_tile_sums<false>)<<<blocks, THREADS, 0, stream>>>(
        *shape, input, mean, inverse_std, grad_output, parts);
    batchnorm2d_join_sums<<<shape->c, THREADS, 0, stream>>>(
        *shape, parts, gamma, mean, inverse_std, (float *)call->output[1], (float *)call->output[2], channels);
    if (grad_input)
        (aligned ? batchnorm2d_grad_tiles<true> : batchnorm2d_grad_tiles<false>)<<<blocks, THREADS, 0, stream>>>(
            *shape, input, grad_output, channels, grad_input);
    return heddle_cuda_launched("02_channel_tiles");
}

static heddle_status launch_inference(const heddle_call *call)
{
    const heddle_batchnorm2d_shape *shape = (const heddle_batchnorm2d_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    float *output = (float *)call->output[0];
    bool aligned = whole_vectors(shape) && heddle_aligned16(input) && heddle_aligned16(output);
    unsigned blocks = tile_blocks(shape);
    if (blocks > 0)
        (aligned ? batchnorm2d_inference_tiles<true>
                 : batchnorm2d_inference_tiles<false>)<<<blocks, THREADS, 0, heddle_cuda_stream_of(call)>>>(
            *shape, input, (const float *)call->input[1], (const float *)call->input[2], (const float *)call->input[3],
            (const float *)call->input[4], output);
    return heddle_cuda_launched("02_channel_tiles");
}

HEDDLE_CUDA_RUNG("batchnorm2d_forward", "02_channel_tiles", launch_forward)
HEDDLE_CUDA_RUNG("batchnorm2d_relu", "02_channel_tiles", launch_relu)
HEDDLE_CUDA_RUNG("batchnorm2d_backward", "02_channel_tiles", launch_backward)
HEDDLE_CUDA_RUNG("batchnorm2d_inference", "02_channel_tiles", launch_inference)

// conv_block backward, rung 2: the gradient of the convolution is formed once, from everything that batchnorm, relu and
// pooling leave of grad_output, and serves two products of tiles.
//
// Rung 1 writes it twice and reads it four times. It is
//     scale * (grad_output where the pixel won its window) - offset - slope * convolution
// with three numbers a channel that follow from two sums over the winners. The first kernel gathers those sums, a
// pooled value at a time: 3 of 4 pixels have no part in them. The second writes the gradient. It could also be formed
// anew wherever the products need it: but the input's gradient takes every element nine times, once a tap, and the
// weight's once for every 96 columns; each time that would be three loads, a comparison and two multiplications for 32
// or 64 that the element is used in. Stored, it costs 8 bytes of traffic an element, and one load where it is needed.
//
// The gradient of the input is forward's convolution again (product.h), with channels and filters swapped. The gradient
// of the weight is a product whose sum goes over all pixels: a block has a tile of 64 filters by 96 columns (tap,
// channel) and a part of the pixels; a second pass adds the parts in order. Both factors are channels-last, so that
// neighbouring columns are neighbouring numbers of memory: they go to shared memory as they are, 16 bytes at a time.
//
// Limited by: multiplications and what goes with them, 4 loads of 16 bytes from shared memory for 64 of them.

#include "ops/conv_block/channels.h"
#include "ops/conv_block/product.h"
#include "ops/conv_block/windows.h"

typedef struct backward_operands {
    const float *gamma, *convolution, *mean, *inverse_std, *grad_output;
    const uint8_t *code;
    float *grad_gamma, *grad_beta, *grad_bias; // grad_bias: NULL where left out
} backward_operands;

// --- the sums over winners ------------------------------------------------------------------------------------------

// Pooled gradients of this thread's 4 channels; 0 where nothing is pooled. pooled: the window's number among all that
// are, or any if it is none of them. turned: the tile of the other layout
template <bool vectors>
__device__ static void load_pooled(const heddle_conv_block_shape &shape, const backward_operands &of, size_t pooled,
                                   bool inside, int channel, const conv_block_turned turned, float gradient[4],
                                   unsigned code[4])
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        gradient[i] = 0;
        code[i] = HEDDLE_CONV_BLOCK_NO_WINNER;
    }
    if (!inside || channel >= shape.k)
        return;
    conv_block_load_codes<vectors>(of.code + pooled * shape.k + channel, shape.k - channel, code);
    if (shape.output_channels_last)
        conv_block_load_row<vectors>(of.grad_output + pooled * shape.k + channel, shape.k - channel, gradient);
    else
        for (int i = 0; i < 4; i++)
            gradient[i] = turned[threadIdx.x % CONV_BLOCK_QUADS * 4 + i][threadIdx.x / CONV_BLOCK_QUADS];
}

// parts: (2, k, gridDim.x): sums of the gradient, and of that times the normalised value. Blocks: groups of tiles of
// windows, channels.
template <bool vectors>
__global__ void __launch_bounds__(CONV_BLOCK_WINDOW_THREADS)
    conv_block_winner_sums(heddle_conv_block_shape shape, backward_operands of, float *parts)
{
    __shared__ conv_block_turned turned;
    __shared__ float sums[2][CONV_BLOCK_WINDOW_THREADS / 32][CONV_BLOCK_WINDOW_CHANNELS];
    int down = shape.h / 2, across = shape.w / 2, channel = conv_block_first_channel();
    float __align__(16) gradient[4];
    float sum[2][4] = {};
    unsigned code[4];
    for (int t = 0; t < CONV_BLOCK_SUM_TILES; t++) {
        size_t tile = ((size_t)blockIdx.x * CONV_BLOCK_SUM_TILES + t) * CONV_BLOCK_WINDOWS;
        size_t mine = tile + threadIdx.x / CONV_BLOCK_QUADS;
        conv_block_window window = conv_block_window_at(shape.n, down, across, mine);
        if (!shape.output_channels_last)
            conv_block_turn_in(shape, down, across, tile, of.grad_output, turned);
        load_pooled<vectors>(shape, of, mine, window.n < (size_t)shape.n, channel, turned, gradient, code);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (code[i] == HEDDLE_CONV_BLOCK_NO_WINNER)
                continue;
            int k = channel + i;
            size_t pixel = (window.n * shape.h + window.y + code[i] / 2) * shape.w + window.x + code[i] % 2;
            sum[0][i] += gradient[i];
            sum[1][i] += gradient[i] * ((of.convolution[pixel * shape.k + k] - of.mean[k]) * of.inverse_std[k]);
        }
    }
#pragma unroll
    for (int s = 0; s < 2; s++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            for (int lanes = CONV_BLOCK_QUADS; lanes < 32; lanes *= 2) // those that have the same channels
                sum[s][i] += __shfl_xor_sync(0xffffffffu, sum[s][i], lanes);
            if (threadIdx.x % 32 < CONV_BLOCK_QUADS)
                sums[s][threadIdx.x / 32][threadIdx.x % 32 * 4 + i] = sum[s][i];
        }
    __syncthreads();
    int s = threadIdx.x / CONV_BLOCK_WINDOW_CHANNELS, mine = threadIdx.x % CONV_BLOCK_WINDOW_CHANNELS;
    int k = blockIdx.y * CONV_BLOCK_WINDOW_CHANNELS + mine;
    if (s > 1 || k >= shape.k)
        return;
    float total = 0;
    for (int warp = 0; warp < CONV_BLOCK_WINDOW_THREADS / 32; warp++)
        total += sums[s][warp][mine];
    parts[((size_t)s * shape.k + k) * gridDim.x + blockIdx.x] = total;
}

// A block a channel. coefficients: (3, padded): scale, offset, slope; 0 beyond the last channel
__global__ void conv_block_join_sums(heddle_conv_block_shape shape, int padded, int count, const float *parts,
                                     backward_operands of, float *coefficients)
{
    __shared__ double shared[CONV_BLOCK_SUM_THREADS];
    int k = blockIdx.x;
    double sum = 0, weighted = 0, pixels = (double)shape.n * shape.h * shape.w;
    for (int i = threadIdx.x; k < shape.k && i < count; i += CONV_BLOCK_SUM_THREADS) {
        sum += (double)parts[(size_t)k * count + i];
        weighted += (double)parts[((size_t)shape.k + k) * count + i];
    }
    sum = conv_block_block_sum(sum, shared);
    weighted = conv_block_block_sum(weighted, shared);
    if (threadIdx.x > 0)
        return;
    double scale = 0, offset = 0, slope = 0;
    if (k < shape.k) {
        double inverse_std = (double)of.inverse_std[k];
        scale = (double)of.gamma[k] * inverse_std;
        slope = scale * inverse_std * weighted / pixels;
        offset = scale * sum / pixels - slope * (double)of.mean[k];
        of.grad_beta[k] = (float)sum;
        of.grad_gamma[k] = (float)weighted;
        if (of.grad_bias)
            of.grad_bias[k] = 0; // batchnorm subtracts whatever the bias adds
    }
    coefficients[k] = (float)scale;
    coefficients[padded + k] = (float)offset;
    coefficients[2 * padded + k] = (float)slope;
}

// --- the gradient of the convolution --------------------------------------------------------------------------------

// gradient: (n, h, w, padded). Blocks: tiles of windows, those over an odd edge with them; channels.
template <bool vectors>
__global__ void __launch_bounds__(CONV_BLOCK_WINDOW_THREADS)
    conv_block_form_gradient(heddle_conv_block_shape shape, int padded, backward_operands of, const float *coefficients,
                             float *gradient)
{
    __shared__ conv_block_turned turned;
    int down = (shape.h + 1) / 2, across = (shape.w + 1) / 2, channel = conv_block_first_channel();
    size_t tile = (size_t)blockIdx.x * CONV_BLOCK_WINDOWS;
    conv_block_window window = conv_block_window_at(shape.n, down, across, tile + threadIdx.x / CONV_BLOCK_QUADS);
    if (!shape.output_channels_last)
        conv_block_turn_in(shape, down, across, tile, of.grad_output, turned);
    if (window.n >= (size_t)shape.n || channel >= padded)
        return;
    float __align__(16) pooled[4];
    float __align__(16) value[4];
    unsigned code[4];
    bool inside = window.y + 1 < shape.h && window.x + 1 < shape.w;
    size_t number = (window.n * (shape.h / 2) + window.y / 2) * (shape.w / 2) + window.x / 2;
    load_pooled<vectors>(shape, of, number, inside, channel, turned, pooled, code);
    const float4 scale = *(const float4 *)&coefficients[channel];
    const float4 offset = *(const float4 *)&coefficients[padded + channel];
    const float4 slope = *(const float4 *)&coefficients[2 * padded + channel];
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        int y = window.y + (int)i / 2, x = window.x + (int)i % 2;
        if (y >= shape.h || x >= shape.w)
            continue;
        size_t pixel = (window.n * shape.h + y) * shape.w + x;
        *(float4 *)value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (channel < shape.k)
            conv_block_load_row<vectors>(of.convolution + pixel * shape.k + channel, shape.k - channel, value);
        value[0] = scale.x * (code[0] == i ? pooled[0] : 0.0f) - (offset.x + slope.x * value[0]);
        value[1] = scale.y * (code[1] == i ? pooled[1] : 0.0f) - (offset.y + slope.y * value[1]);
        value[2] = scale.z * (code[2] == i ? pooled[2] : 0.0f) - (offset.z + slope.z * value[2]);
        value[3] = scale.w * (code[3] == i ? pooled[3] : 0.0f) - (offset.w + slope.w * value[3]);
        *(float4 *)&gradient[pixel * padded + channel] = *(const float4 *)value;
    }
}

// --- the gradient of the input --------------------------------------------------------------------------------------

// grad_input: (n, h, w, c) or (n, c, h, w)
template <int filters>
__device__ static void store_input_gradient(const heddle_conv_block_shape &shape, bool vectors,
                                            const float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE], float *grad_input)
{
    size_t plane = (size_t)shape.h * shape.w, first = (size_t)blockIdx.x * conv_block_tile<filters>::pixels;
#pragma unroll
    for (int p = 0; p < CONV_BLOCK_TILE; p++) {
        size_t pixel = first + conv_block_tile_pixel<filters>(p);
        if (pixel >= shape.n * plane)
            continue;
#pragma unroll
        for (int f = 0; f < CONV_BLOCK_TILE; f += CONV_BLOCK_RUN) {
            int channel = blockIdx.y * filters + conv_block_tile_filter<filters>(f);
            const float __align__(16) value[4] = {sum[f][p], sum[f + 1][p], sum[f + 2][p], sum[f + 3][p]};
            if (vectors && channel < shape.c)
                conv_block_store_row<true>(grad_input + pixel * shape.c + channel, 4, value);
            else if (shape.input_channels_last)
                conv_block_store_row<false>(grad_input + pixel * shape.c + channel, shape.c - channel, value);
            else
#pragma unroll
                for (int i = 0; i < 4; i++)
                    if (channel + i < shape.c)
                        grad_input[(pixel / plane * shape.c + channel + i) * plane + pixel % plane] = value[i];
        }
    }
}

template <int filters>
__global__ void __launch_bounds__(CONV_BLOCK_THREADS, conv_block_tile<filters>::resident)
    conv_block_product_input_gradient(heddle_conv_block_shape shape, conv_block_source source, int columns,
                                      bool vectors, const float *packed, float *grad_input)
{
    __shared__ __align__(16) conv_block_tile<filters> tile[2];
    float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE] = {};
    conv_block_product<filters, true, false>(source, columns, packed, tile, sum);
    store_input_gradient<filters>(shape, vectors, sum, grad_input);
}

// --- the gradient of the weight -------------------------------------------------------------------------------------

enum {
    FILTERS = CONV_BLOCK_GRADIENT_FILTERS,                              // 64
    COLUMNS = CONV_BLOCK_GRADIENT_COLUMNS,                              // 96: a row of taps of 32 channels
    ACROSS = COLUMNS / CONV_BLOCK_TILE,                                 // threads along the columns
    GRADIENT_THREADS = ACROSS * FILTERS / CONV_BLOCK_TILE,              // 96
    PIXELS = 12,                                                        // of a step: whole vectors for every thread
    FILTER_LOADS = PIXELS * FILTERS / HEDDLE_VECTOR / GRADIENT_THREADS, // 2
    COLUMN_LOADS = PIXELS * COLUMNS / HEDDLE_VECTOR / GRADIENT_THREADS, // 3
    FILTER_STEP = GRADIENT_THREADS / (FILTERS / HEDDLE_VECTOR),         // pixels between two loads
    COLUMN_STEP = GRADIENT_THREADS / (COLUMNS / HEDDLE_VECTOR),
    RESIDENT = CONV_BLOCK_GRADIENT_RESIDENT,
};
static_assert(FILTER_LOADS * FILTER_STEP == PIXELS && COLUMN_LOADS * COLUMN_STEP == PIXELS, "loads cover a step");

typedef struct gradient_tiles {
    float gradient[PIXELS][FILTERS];
    float window[PIXELS][COLUMNS];
} gradient_tiles;

// This thread's column: a tap of 4 channels, and where it lies seen from its pixel.
typedef struct column_place {
    int row, column; // of the tap, from -1 to 1
    long long shift; // in floats
    bool inside;
} column_place;

// A pixel that this thread loads, and where it is in its image.
typedef struct pixel_place {
    int y, x;
} pixel_place;

__device__ static void advance(const conv_block_source &source, int pixels, pixel_place &place)
{
    place.x += pixels;
    while (place.x >= source.w) {
        place.x -= source.w;
        if (++place.y == source.h)
            place.y = 0;
    }
}

__device__ static column_place find_column(const conv_block_source &source)
{
    int column = blockIdx.x * COLUMNS + threadIdx.x % (COLUMNS / HEDDLE_VECTOR) * HEDDLE_VECTOR;
    int tap = column / source.channels;
    column_place place;
    place.inside = tap < CONV_BLOCK_TAPS;
    place.row = tap / 3 - 1;
    place.column = tap % 3 - 1;
    place.shift = ((long long)place.row * source.w + place.column) * source.channels + column % source.channels;
    return place;
}

__device__ static void multiply_gradient(const gradient_tiles &tile, float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE])
{
    int column = threadIdx.x % ACROSS * CONV_BLOCK_RUN, filter = threadIdx.x / ACROSS * CONV_BLOCK_RUN;
#pragma unroll
    for (int d = 0; d < PIXELS; d++) {
        float __align__(16) columns[CONV_BLOCK_TILE];
        float __align__(16) filters[CONV_BLOCK_TILE];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            *(float4 *)&columns[half * CONV_BLOCK_RUN] = *(const float4 *)&tile.window[d][half * COLUMNS / 2 + column];
            *(float4 *)&filters[half * CONV_BLOCK_RUN] =
                *(const float4 *)&tile.gradient[d][half * FILTERS / 2 + filter];
        }
#pragma unroll
        for (int f = 0; f < CONV_BLOCK_TILE; f++)
#pragma unroll
            for (int c = 0; c < CONV_BLOCK_TILE; c++)
                sum[f][c] += filters[f] * columns[c];
    }
}

// part: (k, columns)
__device__ static void store_part(int k, int columns, const float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE], float *part)
{
    int column = blockIdx.x * COLUMNS + threadIdx.x % ACROSS * CONV_BLOCK_RUN;
    int filter = blockIdx.y * FILTERS + threadIdx.x / ACROSS * CONV_BLOCK_RUN;
#pragma unroll
    for (int f = 0; f < CONV_BLOCK_TILE; f++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int row = filter + f / CONV_BLOCK_RUN * (FILTERS / 2) + f % CONV_BLOCK_RUN,
                at = column + half * COLUMNS / 2;
            const float *four = &sum[f][half * CONV_BLOCK_RUN];
            if (row < k && at < columns)
                *(float4 *)&part[(size_t)row * columns + at] = make_float4(four[0], four[1], four[2], four[3]);
        }
}

// source: the input, gradient: (pixels, padded), parts: (gridDim.z, k, columns). A block: `pixels` of a tile.
template <bool aligned>
__global__ void __launch_bounds__(GRADIENT_THREADS, RESIDENT)
    conv_block_weight_gradient_parts(conv_block_source source, size_t pixels, int k, int padded, const float *gradient,
                                     float *parts)
{
    __shared__ __align__(16) gradient_tiles tile[2];
    const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    size_t first = blockIdx.z * pixels, all = (size_t)source.images * source.h * source.w;
    int left = first < all ? (int)min(pixels, all - first) : 0, steps = (left + PIXELS - 1) / PIXELS;
    int filter = threadIdx.x % (FILTERS / HEDDLE_VECTOR) * HEDDLE_VECTOR, row = threadIdx.x / (FILTERS / HEDDLE_VECTOR);
    int column = threadIdx.x % (COLUMNS / HEDDLE_VECTOR) * HEDDLE_VECTOR,
        line = threadIdx.x / (COLUMNS / HEDDLE_VECTOR);
    bool filter_inside = blockIdx.y * FILTERS + filter < (unsigned)padded;
    column_place place = find_column(source);
    const float *from_gradient = gradient + (first + row) * padded + blockIdx.y * FILTERS + filter;
    const float *from_window = source.data + (long long)((first + line) * source.channels) + place.shift;
    pixel_place pixel = {(int)((first + line) / source.w % source.h), (int)((first + line) % source.w)};

    float sum[CONV_BLOCK_TILE][CONV_BLOCK_TILE] = {};
    float4 filters[FILTER_LOADS], columns[COLUMN_LOADS];
    for (int step = 0; step <= steps; step++) {
        if (step < steps) {
#pragma unroll
            for (int i = 0; i < FILTER_LOADS; i++, from_gradient += (size_t)FILTER_STEP * padded)
                filters[i] = filter_inside && row + i * FILTER_STEP < left ? *(const float4 *)from_gradient : zero;
#pragma unroll
            for (int i = 0; i < COLUMN_LOADS; i++, from_window += (size_t)COLUMN_STEP * source.channels) {
                int y = pixel.y + place.row, x = pixel.x + place.column;
                bool inside =
                    place.inside && line + i * COLUMN_STEP < left && y >= 0 && y < source.h && x >= 0 && x < source.w;
                columns[i] = inside ? heddle_load4<aligned>(from_window) : zero;
                advance(source, COLUMN_STEP, pixel);
            }
            left -= PIXELS;
        }
        if (step > 0)
            multiply_gradient(tile[(step - 1) % 2], sum);
        if (step < steps) {
#pragma unroll
            for (int i = 0; i < FILTER_LOADS; i++)
                *(float4 *)&tile[step % 2].gradient[row + i * FILTER_STEP][filter] = filters[i];
#pragma unroll
            for (int i = 0; i < COLUMN_LOADS; i++)
                *(float4 *)&tile[step % 2].window[line + i * COLUMN_STEP][column] = columns[i];
        }
        __syncthreads();
    }
    int width = CONV_BLOCK_TAPS * source.channels;
    store_part(k, width, sum, parts + blockIdx.z * ((size_t)k * width));
}

enum {
    ADD_ACROSS = 32, // elements of a block of the second pass: a warp's, coalesced
    ADD_DOWN = 8,    // threads that share an element's parts
};

// parts: (count, k, 9, padded), grad_weight: (k, c, 9)
__global__ void conv_block_add_parts(int count, int k, int c, int padded, const float *parts, float *grad_weight)
{
    __shared__ float sums[ADD_DOWN][ADD_ACROSS];
    size_t size = (size_t)k * CONV_BLOCK_TAPS * padded, at = (size_t)blockIdx.x * ADD_ACROSS + threadIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int i = threadIdx.y; i < count; i += ADD_DOWN)
        sum += at < size ? parts[i * size + at] : 0.0f;
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    int channel = (int)(at % padded), tap = (int)(at / padded % CONV_BLOCK_TAPS);
    if (threadIdx.y > 0 || at >= size || channel >= c)
        return;
    for (int i = 1; i < ADD_DOWN; i++)
        sum += sums[i][threadIdx.x];
    grad_weight[(at / padded / CONV_BLOCK_TAPS * c + channel) * CONV_BLOCK_TAPS + tap] = sum;
}

// --- launching ------------------------------------------------------------------------------------------------------

static backward_operands operands_of(const heddle_call *call)
{
    backward_operands of;
    of.gamma = (const float *)call->input[2];
    of.convolution = (const float *)call->input[4];
    of.mean = (const float *)call->input[5];
    of.inverse_std = (const float *)call->input[6];
    of.code = (const uint8_t *)call->input[7];
    of.grad_output = (const float *)call->input[8];
    of.grad_bias = (float *)call->output[2];
    of.grad_gamma = (float *)call->output[3];
    of.grad_beta = (float *)call->output[4];
    return of;
}

template <bool vectors>
static void launch_gradient(cudaStream_t stream, const heddle_conv_block_shape &shape, const backward_operands &of,
                            float *parts, float *coefficients, float *gradient)
{
    int padded = conv_block_padded(shape.k), count = (int)conv_block_sum_parts(&shape);
    unsigned deep = heddle_ceil_div(shape.k, CONV_BLOCK_WINDOW_CHANNELS);
    conv_block_winner_sums<vectors><<<dim3(count, deep), CONV_BLOCK_WINDOW_THREADS, 0, stream>>>(shape, of, parts);
    conv_block_join_sums<<<padded, CONV_BLOCK_SUM_THREADS, 0, stream>>>(shape, padded, count, parts, of, coefficients);
    unsigned tiles = heddle_ceil_div(shape.n * conv_block_covering_windows(&shape), CONV_BLOCK_WINDOWS);
    conv_block_form_gradient<vectors>
        <<<dim3(tiles, deep), CONV_BLOCK_WINDOW_THREADS, 0, stream>>>(shape, padded, of, coefficients, gradient);
}

template <int filters>
static void launch_input_gradient(cudaStream_t stream, const heddle_conv_block_shape &shape, const float *gradient,
                                  const float *weight, float *packed, float *grad_input)
{
    int padded = conv_block_padded(shape.k), columns = conv_block_packed_columns(shape.c);
    conv_block_pack_weight<<<heddle_cuda_blocks(conv_block_packed_size(shape.k, shape.c)), HEDDLE_CUDA_BLOCK, 0,
                             stream>>>(shape.k, shape.c, padded, columns, true, weight, packed);
    conv_block_source source = {gradient, shape.n, shape.h, shape.w, padded};
    bool vectors = shape.input_channels_last && shape.c % HEDDLE_VECTOR == 0 && heddle_aligned16(grad_input);
    dim3 grid(heddle_ceil_div(conv_block_all_pixels(&shape), conv_block_tile<filters>::pixels), columns / filters);
    conv_block_product_input_gradient<filters>
        <<<grid, CONV_BLOCK_THREADS, 0, stream>>>(shape, source, columns, vectors, packed, grad_input);
}

static void launch_weight_gradient(cudaStream_t stream, const heddle_conv_block_shape &shape,
                                   const conv_block_source &source, const float *gradient, float *parts,
                                   float *grad_weight)
{
    int padded = conv_block_padded(shape.k), count = conv_block_gradient_parts(&shape);
    size_t pixels = conv_block_ceil_div(conv_block_all_pixels(&shape), count);
    dim3 grid(heddle_ceil_div(conv_block_gradient_columns(&shape), COLUMNS), heddle_ceil_div(shape.k, FILTERS), count);
    if (heddle_aligned16(source.data))
        conv_block_weight_gradient_parts<true>
            <<<grid, GRADIENT_THREADS, 0, stream>>>(source, pixels, shape.k, padded, gradient, parts);
    else
        conv_block_weight_gradient_parts<false>
            <<<grid, GRADIENT_THREADS, 0, stream>>>(source, pixels, shape.k, padded, gradient, parts);
    size_t size = (size_t)shape.k * CONV_BLOCK_TAPS * source.channels;
    conv_block_add_parts<<<heddle_ceil_div(size, ADD_ACROSS), dim3(ADD_ACROSS, ADD_DOWN), 0, stream>>>(
        count, shape.k, shape.c, source.channels, parts, grad_weight);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_conv_block_shape &shape = *(const heddle_conv_block_shape *)call->shape;
    conv_block_layout layout = conv_block_backward_layout(&shape);
    backward_operands of = operands_of(call);
    float *workspace = (float *)call->workspace, *gradient = workspace + layout.gradient;
    float *grad_input = (float *)call->output[0];
    const float *weight = (const float *)call->input[1];
    cudaStream_t stream = heddle_cuda_stream_of(call);

    bool vectors = shape.k % HEDDLE_VECTOR == 0 && heddle_aligned16(of.convolution) &&
                   heddle_aligned16(of.grad_output) && (uintptr_t)of.code % sizeof(uchar4) == 0;
    if (vectors)
        launch_gradient<true>(stream, shape, of, workspace + layout.parts, workspace + layout.coefficients, gradient);
    else
        launch_gradient<false>(stream, shape, of, workspace + layout.parts, workspace + layout.coefficients, gradient);
    conv_block_source source =
        conv_block_input_source(stream, shape, (const float *)call->input[0], workspace + layout.input);
    launch_weight_gradient(stream, shape, source, gradient, workspace + layout.weight_parts, (float *)call->output[1]);
    if (grad_input && conv_block_tile_filters(shape.c) == CONV_BLOCK_FILTERS)
        launch_input_gradient<CONV_BLOCK_FILTERS>(stream, shape, gradient, weight, workspace + layout.packed,
                                                  grad_input);
    else if (grad_input)
        launch_input_gradient<CONV_BLOCK_FEW_FILTERS>(stream, shape, gradient, weight, workspace + layout.packed,
                                                      grad_input);
    return heddle_cuda_launched("02_gradient_once");
}

HEDDLE_CUDA_RUNG("conv_block_backward", "02_gradient_once", launch)

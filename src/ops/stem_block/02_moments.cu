// stem_block forward, rung 2: the convolution's statistics from the moments of the input's patches, so that the
// convolution is computed once, and never stored.
//
// Rung 1 writes the convolution, k / c times the input, reads it twice for the statistics and once more to normalise
// it. But the mean of a filter w over the patches is w·m and its variance w·Cov w, where m and Cov are the mean and the
// covariance of the 9c numbers of a patch: the same for all filters, and computed from the input alone. With them
// batchnorm can be folded into the weights before the first pixel is convolved, and the rest is inference's kernel
// (apply.h).
//
// Moments: a thread walks down a column of pixels with its 3×3 patch in registers, and sums all products of two
// elements; with more than one channel a block has a pair of channels. A block first subtracts the mean of its own
// pixels, so that its float sums are small, then stores them as doubles. The blocks are joined in double and in a fixed
// order, each with the difference of its mean from the total's.
//
// Limited by: write bandwidth of the last kernel with one channel, k / 4c times the bytes read; its multiplications
// with more.

#include "ops/stem_block/apply.h"

enum {
    TAPS = STEM_BLOCK_TAPS,
    THREADS = STEM_BLOCK_MOMENT_THREADS,
    CHUNK = 32,                // values that go through shared memory at a time
    SHARERS = THREADS / CHUNK, // threads that sum one value
    ROW = THREADS + 1,         // odd: neighbouring values lie in different banks
};

// For a block's patches of a pair of channels: all products of an element of the first and one of the second. same: the
// pair is one channel, d and e <= d give one product, and the sums come with them.
template <bool same> struct products {
    static const int count = same ? TAPS * (TAPS + 1) / 2 : TAPS * TAPS;
    static const int values = same ? count + TAPS : count;
};

// --- a block's moments ----------------------------------------------------------------------------------------------

// A run of pixels: column x of image n, rows y to `end`.
typedef struct pixel_run {
    size_t n;
    int x, y, end;
} pixel_run;

__device__ static pixel_run run_at(const heddle_conv_block_shape &shape, const stem_block_runs &runs, size_t number)
{
    pixel_run run;
    run.x = (int)(number % shape.w);
    run.y = (int)(number / shape.w % runs.of_image) * runs.rows;
    run.n = number / shape.w / runs.of_image;
    run.end = min(run.y + runs.rows, shape.h);
    return run;
}

// Sum over the block, returned to all threads.
__device__ static double sum_block(double value, double shared[THREADS])
{
    static_assert((int)THREADS == (int)CONV_BLOCK_SUM_THREADS, "the same number of threads");
    return conv_block_block_sum(value, shared);
}

// The number of the block's pixels, and their mean in channel c, rounded to float: exactly this is subtracted.
__device__ static double block_centre(const heddle_conv_block_shape &shape, const stem_block_runs &runs, size_t first,
                                      size_t end, int c, const float *input, double *count, double shared[THREADS])
{
    float sum = 0;
    int pixels = 0;
    for (size_t number = first + threadIdx.x; number < end; number += THREADS) {
        pixel_run run = run_at(shape, runs, number);
        for (int y = run.y; y < run.end; y++)
            sum += stem_block_pixel(shape, input, run.n, c, y, run.x);
        pixels += max(0, run.end - run.y);
    }
    *count = sum_block(pixels, shared);
    return (double)(float)(sum_block((double)sum, shared) / *count);
}

// Row `row` of the patch around column x of line y.
__device__ static void load_line(const heddle_conv_block_shape &shape, const float *input, size_t n, int c, int y,
                                 int x, float centre, float line[3])
{
#pragma unroll
    for (int s = 0; s < 3; s++)
        line[s] = stem_block_pixel(shape, input, n, c, y, x + s - 1) - centre;
}

template <bool same>
__device__ static void add_products(const float a[TAPS], const float b[TAPS], float value[products<same>::values])
{
    int at = 0;
#pragma unroll
    for (int d = 0; d < TAPS; d++)
#pragma unroll
        for (int e = same ? d : 0; e < TAPS; e++)
            value[at++] += a[d] * b[e];
#pragma unroll
    for (int d = 0; same && d < TAPS; d++)
        value[at++] += a[d];
}

// The sums over all of a thread's runs.
template <bool same>
__device__ static void walk(const heddle_conv_block_shape &shape, const pixel_run &run, const float *input, int c1,
                            int c2, float centre1, float centre2, float value[products<same>::values])
{
    float a[TAPS], b[TAPS];
    load_line(shape, input, run.n, c1, run.y - 1, run.x, centre1, &a[3]);
    load_line(shape, input, run.n, c1, run.y, run.x, centre1, &a[6]);
    if (!same) {
        load_line(shape, input, run.n, c2, run.y - 1, run.x, centre2, &b[3]);
        load_line(shape, input, run.n, c2, run.y, run.x, centre2, &b[6]);
    }
    for (int y = run.y; y < run.end; y++) {
#pragma unroll
        for (int i = 0; i < 6; i++) {
            a[i] = a[i + 3];
            b[i] = same ? a[i] : b[i + 3];
        }
        load_line(shape, input, run.n, c1, y + 1, run.x, centre1, &a[6]);
        if (!same)
            load_line(shape, input, run.n, c2, y + 1, run.x, centre2, &b[6]);
        add_products<same>(a, same ? a : b, value);
    }
}

// The place of value `at` of a pair in a part: see stem_block_part_values.
template <bool same> __device__ static int place_of(int channels, int c1, int c2, int at)
{
    int patch = TAPS * channels, d = at / TAPS, e = at % TAPS;
    if (same && at >= products<same>::count)
        return stem_block_part_sums(channels) + c1 * TAPS + at - products<same>::count;
    if (same)
        for (d = 0, e = at; e >= TAPS - d; d++)
            e -= TAPS - d;
    if (same)
        e += d;
    return stem_block_part_products(channels) + (c1 * TAPS + d) * patch + c2 * TAPS + e;
}

// The two channels of pair number `pair`, the first below the second.
__device__ static void pair_of(int channels, int pair, int *c1, int *c2)
{
    for (*c1 = 0; pair >= channels - 1 - *c1; ++*c1)
        pair -= channels - 1 - *c1;
    *c2 = *c1 + 1 + pair;
}

// parts: (values, gridDim.x). Blocks: shares of the runs; channels or pairs of them.
template <bool same>
__global__ void __launch_bounds__(THREADS)
    stem_block_moment_parts(heddle_conv_block_shape shape, stem_block_runs runs, const float *input, double *parts)
{
    __shared__ double shared[THREADS];
    __shared__ float turned[CHUNK][ROW];
    const int values = products<same>::values;
    size_t first = blockIdx.x * runs.of_part, end = min(first + runs.of_part, runs.count);
    int c1 = blockIdx.y, c2 = blockIdx.y;
    if (!same)
        pair_of(shape.c, blockIdx.y, &c1, &c2);
    double count, centre1 = block_centre(shape, runs, first, end, c1, input, &count, shared), centre2 = centre1;
    if (!same)
        centre2 = block_centre(shape, runs, first, end, c2, input, &count, shared);

    float value[values] = {};
    for (size_t number = first + threadIdx.x; number < end; number += THREADS)
        walk<same>(shape, run_at(shape, runs, number), input, c1, c2, (float)centre1, (float)centre2, value);

#pragma unroll
    for (int chunk = 0; chunk < values; chunk += CHUNK) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < CHUNK && chunk + i < values; i++)
            turned[i][threadIdx.x] = value[chunk + i];
        __syncthreads();
        int mine = threadIdx.x / SHARERS, share = threadIdx.x % SHARERS;
        double sum = 0;
        for (int i = share; chunk + mine < values && i < THREADS; i += SHARERS)
            sum += (double)turned[mine][i];
        for (int lanes = SHARERS / 2; lanes > 0; lanes /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
        if (share == 0 && chunk + mine < values)
            parts[(size_t)place_of<same>(shape.c, c1, c2, chunk + mine) * gridDim.x + blockIdx.x] = sum;
    }
    if (same && threadIdx.x == 0) {
        parts[(size_t)(STEM_BLOCK_PART_CENTRES + c1) * gridDim.x + blockIdx.x] = centre1;
        if (c1 == 0) {
            parts[(size_t)STEM_BLOCK_PART_COUNT * gridDim.x + blockIdx.x] = count;
            parts[(size_t)STEM_BLOCK_PART_INVERSE * gridDim.x + blockIdx.x] = 1 / count;
        }
    }
}

// --- the whole batch's ----------------------------------------------------------------------------------------------

enum { JOIN_WARPS = 16 }; // per block: a short sum each, mostly waiting for memory

__device__ static double sum_lanes(double value)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    return value;
}

// Part i's patches, element d: their sum around the centre, and their mean.
typedef struct element_part {
    double sum, mean;
} element_part;

__device__ static element_part element_of(int channels, int d, int count, int i, const double *parts)
{
    double inverse = parts[(size_t)STEM_BLOCK_PART_INVERSE * count + i];
    element_part element;
    element.sum = parts[(size_t)(stem_block_part_sums(channels) + d) * count + i];
    element.mean = parts[(size_t)(STEM_BLOCK_PART_CENTRES + d / TAPS) * count + i] + element.sum * inverse;
    return element;
}

// One block per element d: its mean, and its covariance with all e >= d, one warp each. moments: (9c + 1, 9c)
__global__ void stem_block_join_moments(int channels, int count, double pixels, const double *parts, double *moments)
{
    __shared__ double means[HEDDLE_STEM_BLOCK_MOST_PATCH];
    int patch = TAPS * channels, d = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int e = d + warp; e < patch; e += JOIN_WARPS) {
        double sum = 0;
#pragma unroll 4
        for (int i = lane; i < count; i += 32)
            sum += parts[i] * element_of(channels, e, count, i, parts).mean;
        sum = sum_lanes(sum);
        if (lane == 0)
            means[e] = sum / pixels;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        moments[d] = means[d];
    for (int e = d + warp; e < patch; e += JOIN_WARPS) {
        double sum = 0;
#pragma unroll 4
        for (int i = lane; i < count; i += 32) {
            element_part of_d = element_of(channels, d, count, i, parts),
                         of_e = element_of(channels, e, count, i, parts);
            double product = parts[(size_t)(stem_block_part_products(channels) + d * patch + e) * count + i];
            sum +=
                product - of_d.sum * of_e.sum / parts[i] + parts[i] * (of_d.mean - means[d]) * (of_e.mean - means[e]);
        }
        sum = sum_lanes(sum) / pixels;
        if (lane == 0)
            moments[(d + 1) * patch + e] = moments[(e + 1) * patch + d] = sum;
    }
}

// --- statistics, and batchnorm folded into the weights --------------------------------------------------------------

enum { FOLD_WARPS = 4 };

// One warp per filter, one or two elements of its patches per lane. folded: (9c + 1, columns), 0 beyond the last filter
__global__ void stem_block_fold_batch(heddle_conv_block_shape shape, int columns, const float *weight,
                                      const float *gamma, const float *beta, const double *moments,
                                      conv_block_statistics_operands operands, float *folded)
{
    int patch = TAPS * shape.c, k = blockIdx.x * FOLD_WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    const float *filter = weight + (size_t)k * patch;
    if (k >= shape.k) {
        for (int d = lane; k < columns && d <= patch; d += 32)
            folded[d * columns + k] = 0;
        return;
    }
    double mean = 0, variance = 0, response = 0;
    for (int d = lane; d < patch; d += 32) {
        double covariance = 0;
        for (int e = 0; e < patch; e++)
            covariance += moments[(e + 1) * patch + d] * (double)filter[e];
        variance += covariance * (double)filter[d];
        mean += moments[d] * (double)filter[d];
        response += (double)stem_block_centre(moments, d / TAPS) * (double)filter[d];
    }
    mean = sum_lanes(mean);
    variance = sum_lanes(variance);
    response = sum_lanes(response);
    variance = variance < 0 ? 0 : variance; // rounding; NaN is preserved
    double scale = (double)gamma[k] / sqrt(variance + (double)shape.epsilon);
    for (int d = lane; d < patch; d += 32)
        folded[d * columns + k] = (float)(scale * (double)filter[d]);
    if (lane == 0) {
        folded[patch * columns + k] = (float)((double)beta[k] + scale * (response - mean));
        conv_block_save_statistics(shape, operands, k, mean, variance);
    }
}

// --- launching ------------------------------------------------------------------------------------------------------

static void launch_moments(cudaStream_t stream, const heddle_conv_block_shape &shape, const float *input, double *parts,
                           double *moments)
{
    stem_block_runs runs = stem_block_runs_of(&shape);
    int pairs = shape.c * (shape.c - 1) / 2;
    stem_block_moment_parts<true><<<dim3(runs.parts, shape.c), THREADS, 0, stream>>>(shape, runs, input, parts);
    if (pairs > 0)
        stem_block_moment_parts<false><<<dim3(runs.parts, pairs), THREADS, 0, stream>>>(shape, runs, input, parts);
    stem_block_join_moments<<<TAPS * shape.c, JOIN_WARPS * 32, 0, stream>>>(
        shape.c, runs.parts, (double)shape.n * shape.h * shape.w, parts, moments);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_conv_block_shape &shape = *(const heddle_conv_block_shape *)call->shape;
    const float *const *input = (const float *const *)call->input;
    float *folded = (float *)call->workspace;
    double *parts = (double *)((char *)call->workspace + stem_block_folded_bytes(&shape));
    double *moments = (double *)call->output[1];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    int columns = stem_block_columns(&shape);

    launch_moments(stream, shape, input[0], parts, moments);
    stem_block_fold_batch<<<heddle_ceil_div(columns, FOLD_WARPS), FOLD_WARPS * 32, 0, stream>>>(
        shape, columns, input[1], input[3], input[4], moments, conv_block_statistics_of(call), folded);
    stem_block_filter_operands of = {input[0], folded, moments, (float *)call->output[0], (uint8_t *)call->output[4]};
    stem_block_launch_filter(stream, shape, of);
    return heddle_cuda_launched("02_moments");
}

HEDDLE_CUDA_RUNG("stem_block_forward", "02_moments", launch)

// quantise and dequantise, rung 2: one block per row, four elements per thread and access.
//
// Rung 1's lanes read rows far apart. Here the threads of a block read one row together, find its largest value by
// shuffles, and read it once more for the bytes: the second read hits the cache.
//
// Limited by: memory bandwidth, five bytes per element.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/quantise/quantise.h"

enum { THREADS = 256, WARP = 32, WARPS = THREADS / WARP };
static const unsigned ALL_LANES = 0xffffffffu;

__device__ static float warp_largest(float value)
{
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, distance));
    return value;
}

// Over all threads, with the result in all threads.
__device__ static float block_largest(float value)
{
    __shared__ float of_warp[WARPS];
    value = warp_largest(value);
    if (threadIdx.x % WARP == 0)
        of_warp[threadIdx.x / WARP] = value;
    __syncthreads();
    float largest = 0;
    for (int warp = 0; warp < WARPS; warp++)
        largest = fmaxf(largest, of_warp[warp]);
    return largest;
}

__device__ static signed char to_byte(float value, float divisor)
{
    return (signed char)rintf(value / divisor);
}

// input, output: (rows, cols), scale: (rows). aligned: every row begins at a multiple of four elements.
template <bool aligned>
__global__ void __launch_bounds__(THREADS)
    quantise_vectorised(heddle_rows_shape shape, const float *input, signed char *output, float *scale)
{
    const float *from = input + (size_t)blockIdx.x * shape.cols;
    signed char *to = output + (size_t)blockIdx.x * shape.cols;
    // What vectors cover. Unsigned, like columns: a step beyond the longest row must not wrap.
    unsigned whole = aligned ? shape.cols / HEDDLE_VECTOR * HEDDLE_VECTOR : 0;
    float largest = 0;
    for (unsigned col = HEDDLE_VECTOR * threadIdx.x; col < whole; col += HEDDLE_VECTOR * THREADS) {
        float4 x = heddle_load4<aligned>(from + col);
        largest = fmaxf(largest, fmaxf(fmaxf(fabsf(x.x), fabsf(x.y)), fmaxf(fabsf(x.z), fabsf(x.w))));
    }
    for (unsigned col = whole + threadIdx.x; col < (unsigned)shape.cols; col += THREADS)
        largest = fmaxf(largest, fabsf(from[col]));
    largest = block_largest(largest);

    float divisor = heddle_quantise_scale(largest);
    if (threadIdx.x == 0)
        scale[blockIdx.x] = divisor;
    for (unsigned col = HEDDLE_VECTOR * threadIdx.x; col < whole; col += HEDDLE_VECTOR * THREADS) {
        float4 x = heddle_load4<aligned>(from + col);
        *(char4 *)(to + col) =
            make_char4(to_byte(x.x, divisor), to_byte(x.y, divisor), to_byte(x.z, divisor), to_byte(x.w, divisor));
    }
    for (unsigned col = whole + threadIdx.x; col < (unsigned)shape.cols; col += THREADS)
        to[col] = to_byte(from[col], divisor);
}

template <bool aligned>
__global__ void dequantise_vectorised(heddle_rows_shape shape, const signed char *input, const float *scale,
                                      float *output)
{
    const signed char *from = input + (size_t)blockIdx.x * shape.cols;
    float *to = output + (size_t)blockIdx.x * shape.cols;
    float factor = scale[blockIdx.x];
    unsigned whole = aligned ? shape.cols / HEDDLE_VECTOR * HEDDLE_VECTOR : 0;
    for (unsigned col = HEDDLE_VECTOR * threadIdx.x; col < whole; col += HEDDLE_VECTOR * THREADS) {
        char4 x = *(const char4 *)(from + col);
        heddle_store4<aligned>(to + col, make_float4(factor * x.x, factor * x.y, factor * x.z, factor * x.w));
    }
    for (unsigned col = whole + threadIdx.x; col < (unsigned)shape.cols; col += THREADS)
        to[col] = factor * from[col];
}

// Whether every row of both arrays begins at a whole vector.
static bool rows_aligned(const heddle_rows_shape *shape, const void *floats, const void *bytes)
{
    return shape->cols % HEDDLE_VECTOR == 0 && heddle_aligned16(floats) && (uintptr_t)bytes % HEDDLE_VECTOR == 0;
}

static heddle_status launch_quantise(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    const float *input = (const float *)call->input[0];
    signed char *output = (signed char *)call->output[0];
    if (shape->rows > 0)
        (rows_aligned(shape, input, output)
             ? quantise_vectorised<true>
             : quantise_vectorised<false>)<<<shape->rows, THREADS, 0, heddle_cuda_stream_of(call)>>>(
            *shape, input, output, (float *)call->output[1]);
    return heddle_cuda_launched("02_vectorised");
}

static heddle_status launch_dequantise(const heddle_call *call)
{
    const heddle_rows_shape *shape = (const heddle_rows_shape *)call->shape;
    const signed char *input = (const signed char *)call->input[0];
    float *output = (float *)call->output[0];
    if (shape->rows > 0)
        (rows_aligned(shape, output, input)
             ? dequantise_vectorised<true>
             : dequantise_vectorised<false>)<<<shape->rows, THREADS, 0, heddle_cuda_stream_of(call)>>>(
            *shape, input, (const float *)call->input[1], output);
    return heddle_cuda_launched("02_vectorised");
}

HEDDLE_CUDA_RUNG("quantise", "02_vectorised", launch_quantise)
HEDDLE_CUDA_RUNG("dequantise", "02_vectorised", launch_dequantise)

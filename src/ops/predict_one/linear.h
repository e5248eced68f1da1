// Linear layers of predict_one: units of 8 channels over a part of the columns; and the last layer, with its softmax.
#pragma once

#include "ops/predict_one/work.h"

// A lane's columns of `Tiles` times eight channels in up to `Round` chunks: every eighth from `chunk` to `end`.
template <int Tiles, int Round>
__device__ static void predict_linear_weights(const predict_scene &scene, const predict_work &work, int tile, int chunk,
                                              int end, float4 (&b)[Round][Tiles])
{
    const float4 *from = (const float4 *)(scene.weights + work.weight) + threadIdx.x % 32;
    const int all = (work.channels + 7) / 8;
#pragma unroll
    for (int i = 0; i < Round; i++) {
        const int at = chunk + i * HEDDLE_PREDICT_WARPS;
#pragma unroll
        for (int j = 0; j < Tiles; j++)
            b[i][j] = at < end && tile + j < all ? from[((size_t)(tile + j) * work.chunks + at) * 32]
                                                 : make_float4(0, 0, 0, 0);
    }
}

static __device__ __forceinline__ void predict_add(float4 &sum, const float4 &more)
{
    sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
}

// Every `step`-th of `count` vectors, `stride` vectors apart, added in order; eight are on their way at a time.
__device__ static float4 predict_sum_of(const float4 *from, int stride, int first, int step, int count)
{
    enum { AT_ONCE = 8 };
    float4 sum = make_float4(0, 0, 0, 0);
    for (int part = first; part < count; part += AT_ONCE * step) {
        float4 more[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            more[i] = part + i * step < count ? predict_peek(from + (size_t)(part + i * step) * stride)
                                              : make_float4(0, 0, 0, 0);
        for (bool missing = true; missing;) {
            missing = false;
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                if (predict_is_missing(more[i])) {
                    more[i] = predict_peek(from + (size_t)(part + i * step) * stride);
                    missing = true;
                }
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            predict_add(sum, more[i]);
    }
    return sum;
}

// Four elements of what a linear layer reads, from `column` on.
__device__ static float4 predict_element(const predict_scene &scene, const predict_work &work, int column)
{
    if (column >= work.valid)
        return make_float4(0, 0, 0, 0);
    float4 bias = make_float4(0, 0, 0, 0);
    if (work.read_bias >= 0)
        bias = *(const float4 *)(scene.weights + work.read_bias + column);
    float4 sum = predict_sum_of((const float4 *)(scene.bank + work.in + column), work.vectors, 0, 1, work.read_parts);
    predict_add(sum, bias);
    const int function = work.read_function;
    return make_float4(rows_function(function, sum.x), rows_function(function, sum.y), rows_function(function, sum.z),
                       rows_function(function, sum.w));
}

// The means of all channels: each column of threads adds a part of the pixels.
__device__ static void predict_load_means(const predict_scene &scene, const predict_work &work, predict_room &room)
{
    const int vectors = work.vectors, slices = max(PREDICT_THREADS / vectors, 1);
    float4 *parts = (float4 *)room.sums;
    __syncthreads(); // the unit before is stored
    const float4 *from = (const float4 *)(scene.bank + work.in);
    for (int i = threadIdx.x; i < slices * vectors; i += PREDICT_THREADS)
        parts[i] = predict_sum_of(from + i % vectors, vectors, i / vectors, slices, work.read_parts);
    __syncthreads();
    for (int i = threadIdx.x; i < work.chunks * (HEDDLE_PREDICT_CHUNK / 4); i += PREDICT_THREADS) {
        float4 sum = make_float4(0, 0, 0, 0);
        for (int slice = 0; slice < slices && i < vectors; slice++)
            predict_add(sum, parts[slice * vectors + i]);
        const float pixels = (float)work.windows;
        room.vector[i] = make_float4(sum.x / pixels, sum.y / pixels, sum.z / pixels, sum.w / pixels);
    }
    __syncthreads();
}

// Columns of chunks `first` to `end` of what the layer reads, into shared memory.
__device__ static void predict_load_vector(const predict_scene &scene, const predict_work &work, int first, int end,
                                           float4 *vector)
{
    const int count = (end - first) * (HEDDLE_PREDICT_CHUNK / 4);
    __syncthreads(); // the unit before is stored
    const int mine = first * HEDDLE_PREDICT_CHUNK + (int)threadIdx.x * 4;
    if (threadIdx.x % 32 == 0 && (int)threadIdx.x < count && mine < work.valid) // a lane waits for its warp
        predict_take((const float4 *)(scene.bank + work.in + mine));
    __syncwarp();
    for (int i = threadIdx.x; i < count; i += PREDICT_THREADS)
        vector[i] = predict_element(scene, work, first * HEDDLE_PREDICT_CHUNK + i * 4);
    __syncthreads();
}

// Sums of `Tiles` times eight channels over the columns of a part, in room.sums: (warps, channels).
template <int Tiles, int Round>
__device__ static void predict_linear_sums(const predict_scene &scene, const predict_work &work, int tile, int part,
                                           predict_room &room)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int first = part * work.per, end = min(first + work.per, work.chunks);
    float4 b[Round][Tiles];
    float sums[Tiles] = {};
    predict_linear_weights<Tiles, Round>(scene, work, tile, first + warp, end, b);
    if (work.kind == HEDDLE_PREDICT_MEANS)
        predict_load_means(scene, work, room);
    else
        predict_load_vector(scene, work, first, end, room.vector);
    for (int chunk = first + warp; chunk < end; chunk += Round * HEDDLE_PREDICT_WARPS) {
        if (chunk != first + warp)
            predict_linear_weights<Tiles, Round>(scene, work, tile, chunk, end, b);
#pragma unroll
        for (int i = 0; i < Round; i++) {
            const int at = chunk + i * HEDDLE_PREDICT_WARPS;
            if (at >= end)
                break;
            const float4 a = room.vector[(at - first) * (HEDDLE_PREDICT_CHUNK / 4) + lane % 4];
#pragma unroll
            for (int j = 0; j < Tiles; j++)
                sums[j] += a.x * b[i][j].x + a.y * b[i][j].y + (a.z * b[i][j].z + a.w * b[i][j].w);
        }
    }
#pragma unroll
    for (int j = 0; j < Tiles; j++) {
        sums[j] += __shfl_xor_sync(~0u, sums[j], 1);
        sums[j] += __shfl_xor_sync(~0u, sums[j], 2);
        if (lane % 4 == 0)
            room.sums[warp * Tiles * 8 + j * 8 + lane / 4] = sums[j];
    }
    __syncthreads();
}

template <int Tiles> __device__ static float predict_sum_of_warps(const float *sums, int channel)
{
    float sum = 0;
#pragma unroll
    for (int warp = 0; warp < HEDDLE_PREDICT_WARPS; warp++)
        sum += sums[warp * Tiles * 8 + channel];
    return sum;
}

__device__ static void predict_linear(const predict_scene &scene, const predict_work &work, int unit,
                                      predict_room &room)
{
    const int part = predict_quotient(unit, work.per_groups), tile = unit - part * work.groups;
    const int channel = tile * 8 + (int)threadIdx.x;
    if (work.per <= PREDICT_FEW * HEDDLE_PREDICT_WARPS)
        predict_linear_sums<1, PREDICT_FEW>(scene, work, tile, part, room);
    else
        predict_linear_sums<1, 2 * PREDICT_FEW>(scene, work, tile, part, room);
    if (threadIdx.x < 8 && channel < work.padded) {
        const float sum = predict_sum_of_warps<1>(room.sums, threadIdx.x);
        predict_leave(scene, work.left + part * work.padded + channel, channel < work.channels ? sum : 0.0f);
    }
}

// The last layer, by one block.
__device__ static void predict_classify(const predict_job &job, const predict_scene &scene, const predict_work &work,
                                        predict_room &room)
{
    const int lane = threadIdx.x;
    const float bias = lane < job.classes ? scene.weights[work.bias + lane] : 0.0f;
    predict_linear_sums<PREDICT_MOST_TILES, 4>(scene, work, 0, 0, room);
    if (lane >= 32)
        return;
    float logit = -INFINITY;
    if (lane < job.classes)
        logit = predict_sum_of_warps<PREDICT_MOST_TILES>(room.sums, lane) + bias;
    float most = logit;
    for (int distance = 16; distance > 0; distance /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, distance));
    const float power = expf(logit - most);
    float sum = power;
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(~0u, sum, distance);
    if (lane < job.classes)
        job.probabilities[lane] = power / sum;
}

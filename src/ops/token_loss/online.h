// A row of logits read by a block, once: where its vectors of four begin, its largest value and its sum. For rungs 2.
//
// The length of a vocabulary is often odd (50,257), so a row may begin anywhere. Its first few elements, up to a
// multiple of 16 bytes, and its last few are moved one by one, and all others four at a time.
#pragma once

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/row_group.h"
#include "ops/cuda/rung.h"

enum {
    TOKEN_LOSS_SHORT = 128, // threads for rows of up to
    TOKEN_LOSS_COLS = 4096, // so many columns,
    TOKEN_LOSS_LONG = 1024, // and for longer ones
    TOKEN_LOSS_LOADS = 4,   // vectors in flight at once, per thread; the sum is rescaled once for all of them
};

// Columns [0, head) and [tail, cols) go one by one.
typedef struct token_loss_row {
    int head, tail, cols;
} token_loss_row;

// `together`: what is written begins at the same place of a vector as what is read.
__device__ static inline token_loss_row token_loss_row_at(const float *x, int cols, bool together)
{
    int before = (int)(-((uintptr_t)x / sizeof(float)) % HEDDLE_VECTOR);
    int head = !together || before > cols ? cols : before;
    return token_loss_row{head, head + (cols - head) / HEDDLE_VECTOR * HEDDLE_VECTOR, cols};
}

// Part of a row: its largest value, and the sum of exp(x - most).
typedef struct token_loss_part {
    float most, sum;
} token_loss_part;

// exp(difference): the hardware's power of two, whose argument is exact to a rounding because the difference is.
__device__ static inline float token_loss_exp(float difference)
{
    return exp2f(difference * 1.44269504f);
}

// As long as there is only -inf (or nothing), the difference from it is NaN.
__device__ static inline float token_loss_origin(float most)
{
    return most == -INFINITY ? 0 : most;
}

// Takes up some values at once. Fewer: the others are -INFINITY.
template <int count> __device__ static inline void token_loss_add(token_loss_part *part, const float *value)
{
    float most = part->most, sum = 0;
#pragma unroll
    for (int i = 0; i < count; i++)
        most = fmaxf(most, value[i]);
    float origin = token_loss_origin(most);
#pragma unroll
    for (int i = 0; i < count; i++)
        sum += token_loss_exp(value[i] - origin);
    part->sum = part->sum * token_loss_exp(part->most - origin) + sum;
    part->most = most;
}

// Over all threads of the block, with the same result in each. Where `keep` is given, element j is also left at
// keep[j]; its vectors must begin at multiples of 16 bytes.
template <int threads, bool keeps>
__device__ static token_loss_part token_loss_read(token_loss_row row, const float *x, float *keep)
{
    __shared__ float of_warp[2][HEDDLE_WARPS];
    token_loss_part part = {-INFINITY, 0};
    for (int j = threadIdx.x; j < row.head; j += threads) {
        float value = x[j];
        if (keeps)
            keep[j] = value;
        token_loss_add<1>(&part, &value);
    }
    for (int first = row.head + HEDDLE_VECTOR * threadIdx.x; first < row.tail;
         first += TOKEN_LOSS_LOADS * HEDDLE_VECTOR * threads) {
        float value[TOKEN_LOSS_LOADS * HEDDLE_VECTOR];
#pragma unroll
        for (int i = 0; i < TOKEN_LOSS_LOADS; i++) {
            int j = first + i * HEDDLE_VECTOR * threads;
            float4 four = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
            if (j < row.tail)
                four = heddle_load4<true>(x + j);
            value[HEDDLE_VECTOR * i] = four.x;
            value[HEDDLE_VECTOR * i + 1] = four.y;
            value[HEDDLE_VECTOR * i + 2] = four.z;
            value[HEDDLE_VECTOR * i + 3] = four.w;
        }
#pragma unroll
        for (int i = 0; i < TOKEN_LOSS_LOADS; i++)
            if (keeps && first + i * HEDDLE_VECTOR * threads < row.tail)
                heddle_store4<true>(keep + first + i * HEDDLE_VECTOR * threads,
                                    make_float4(value[HEDDLE_VECTOR * i], value[HEDDLE_VECTOR * i + 1],
                                                value[HEDDLE_VECTOR * i + 2], value[HEDDLE_VECTOR * i + 3]));
        token_loss_add<TOKEN_LOSS_LOADS * HEDDLE_VECTOR>(&part, value);
    }
    for (int j = row.tail + threadIdx.x; j < row.cols; j += threads) {
        float value = x[j];
        if (keeps)
            keep[j] = value;
        token_loss_add<1>(&part, &value);
    }
    float most = heddle_group_max<threads>(part.most, of_warp[0]);
    float mine = part.sum * token_loss_exp(part.most - token_loss_origin(most));
    return token_loss_part{most, heddle_group_sum<threads>(mine, of_warp[1])};
}

// gradient = exp(x - from) * scale, and at the label less `factor`. x may be what token_loss_read has kept.
template <int threads>
__device__ static void token_loss_write(token_loss_row row, const float *x, float from, float scale, int64_t label,
                                        float factor, float *gradient)
{
    float known = label >= 0 && label < row.cols ? 0 : NAN;
    for (int j = threadIdx.x; j < row.head; j += threads)
        gradient[j] = token_loss_exp(x[j] - from) * scale - (j == label ? factor : known);
    for (int j = row.head + HEDDLE_VECTOR * threadIdx.x; j < row.tail; j += HEDDLE_VECTOR * threads) {
        float4 four = heddle_load4<true>(x + j);
        float value[HEDDLE_VECTOR] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int k = 0; k < HEDDLE_VECTOR; k++)
            value[k] = token_loss_exp(value[k] - from) * scale - (j + k == label ? factor : known);
        heddle_store4<true>(gradient + j, make_float4(value[0], value[1], value[2], value[3]));
    }
    for (int j = row.tail + threadIdx.x; j < row.cols; j += threads)
        gradient[j] = token_loss_exp(x[j] - from) * scale - (j == label ? factor : known);
}

// The gradient of a row that is ignored.
template <int threads> __device__ static void token_loss_write_zero(token_loss_row row, float *gradient)
{
    for (int j = threadIdx.x; j < row.head; j += threads)
        gradient[j] = 0;
    for (int j = row.head + HEDDLE_VECTOR * threadIdx.x; j < row.tail; j += HEDDLE_VECTOR * threads)
        heddle_store4<true>(gradient + j, make_float4(0, 0, 0, 0));
    for (int j = row.tail + threadIdx.x; j < row.cols; j += threads)
        gradient[j] = 0;
}

// A kernel cannot report a label that is no column: the loss becomes NaN, and nothing is read beyond the row.
__device__ static inline float token_loss_of(const heddle_token_loss_shape &shape, const float *x, int64_t label,
                                             token_loss_part part)
{
    if (label == (int64_t)shape.ignored)
        return 0;
    return label >= 0 && label < shape.cols ? logf(part.sum) + (part.most - x[label]) : NAN;
}

static inline bool token_loss_together(const float *logits, const float *gradient)
{
    return ((uintptr_t)logits - (uintptr_t)gradient) % 16 == 0;
}

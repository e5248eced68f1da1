// Tiles of 32 pooling windows by 32 channels, for everything in conv_block's fused rungs except products: batchnorm
// with pooling forward, and backward the sums of the gradient and the gradient of the convolution. A thread has 4
// channels of one window. The convolution and the code are channels-last, so a warp reads whole runs of 128 bytes.
// Pooled values of the other layout are transposed in shared memory.
#pragma once

#include "ops/conv_block/cuda_layout.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

enum {
    CONV_BLOCK_WINDOW_CHANNELS = 32,
    CONV_BLOCK_QUADS = CONV_BLOCK_WINDOW_CHANNELS / HEDDLE_VECTOR,         // threads along the channels
    CONV_BLOCK_WINDOW_THREADS = CONV_BLOCK_WINDOWS * CONV_BLOCK_QUADS,     // 256
    CONV_BLOCK_TURNED = CONV_BLOCK_WINDOWS + 1,                            // odd: its columns lie in different banks
    CONV_BLOCK_TURN_STEP = CONV_BLOCK_WINDOW_THREADS / CONV_BLOCK_WINDOWS, // channels moved at a time
    CONV_BLOCK_TURNS = CONV_BLOCK_WINDOW_CHANNELS / CONV_BLOCK_TURN_STEP,
};

// One window of one image, (y, x) in pixels; n == images: none.
typedef struct conv_block_window {
    size_t n;
    int y, x;
} conv_block_window;

// Window `index` of all images that have `down` by `across` of them.
__device__ static inline conv_block_window conv_block_window_at(int images, int down, int across, size_t index)
{
    conv_block_window window = {index / across / down, (int)(index / across % down) * 2, (int)(index % across) * 2};
    if (window.n >= (size_t)images)
        window.n = images;
    return window;
}

// This thread's first channel.
__device__ static inline int conv_block_first_channel(void)
{
    return blockIdx.y * CONV_BLOCK_WINDOW_CHANNELS + threadIdx.x % CONV_BLOCK_QUADS * HEDDLE_VECTOR;
}

// Up to 4 floats of a row that has `left` from here on. vectors: rows are whole vectors, aligned.
template <bool vectors> __device__ static inline void conv_block_load_row(const float *from, int left, float value[4])
{
    if (vectors) {
        *(float4 *)value = *(const float4 *)from;
    } else {
#pragma unroll
        for (int i = 0; i < HEDDLE_VECTOR; i++)
            value[i] = i < left ? from[i] : 0.0f;
    }
}

template <bool vectors> __device__ static inline void conv_block_store_row(float *to, int left, const float value[4])
{
    if (vectors) {
        *(float4 *)to = *(const float4 *)value;
    } else {
#pragma unroll
        for (int i = 0; i < HEDDLE_VECTOR; i++)
            if (i < left)
                to[i] = value[i];
    }
}

template <bool vectors>
__device__ static inline void conv_block_load_codes(const uint8_t *from, int left, unsigned code[4])
{
    if (vectors) {
        uchar4 four = *(const uchar4 *)from;
        code[0] = four.x, code[1] = four.y, code[2] = four.z, code[3] = four.w;
    } else {
#pragma unroll
        for (int i = 0; i < HEDDLE_VECTOR; i++)
            code[i] = i < left ? from[i] : (unsigned)HEDDLE_CONV_BLOCK_NO_WINNER;
    }
}

// --- pooled values of (n, k, h/2, w/2), through shared memory -------------------------------------------------------

typedef float conv_block_turned[CONV_BLOCK_WINDOW_CHANNELS][CONV_BLOCK_TURNED];

// Where pooled channel `channel` of window `window` of a tile lies; false: nowhere.
__device__ static inline bool conv_block_pooled_at(const heddle_conv_block_shape &shape, conv_block_window window,
                                                   int channel, size_t *at)
{
    int h = shape.h / 2, w = shape.w / 2, y = window.y / 2, x = window.x / 2;
    *at = ((window.n * shape.k + channel) * h + y) * w + x;
    return window.n < (size_t)shape.n && channel < shape.k && y < h && x < w;
}

// Neighbouring threads move neighbouring windows of a channel, one channel after another. All threads of the block take
// part; `turned` may still be read by some. tile: number of its first window, with `down` by `across` per image
__device__ static inline void conv_block_turn_in(const heddle_conv_block_shape &shape, int down, int across,
                                                 size_t tile, const float *pooled, conv_block_turned turned)
{
    int mine = threadIdx.x % CONV_BLOCK_WINDOWS, channel = threadIdx.x / CONV_BLOCK_WINDOWS;
    conv_block_window window = conv_block_window_at(shape.n, down, across, tile + mine);
    __syncthreads();
#pragma unroll
    for (int turn = 0; turn < CONV_BLOCK_TURNS; turn++, channel += CONV_BLOCK_TURN_STEP) {
        size_t at;
        bool inside = conv_block_pooled_at(shape, window, blockIdx.y * CONV_BLOCK_WINDOW_CHANNELS + channel, &at);
        turned[channel][mine] = inside ? pooled[at] : 0.0f;
    }
    __syncthreads();
}

// The reverse, for windows that are all pooled.
__device__ static inline void conv_block_turn_out(const heddle_conv_block_shape &shape, size_t tile,
                                                  const conv_block_turned turned, float *pooled)
{
    int mine = threadIdx.x % CONV_BLOCK_WINDOWS, channel = threadIdx.x / CONV_BLOCK_WINDOWS;
    conv_block_window window = conv_block_window_at(shape.n, shape.h / 2, shape.w / 2, tile + mine);
    __syncthreads();
#pragma unroll
    for (int turn = 0; turn < CONV_BLOCK_TURNS; turn++, channel += CONV_BLOCK_TURN_STEP) {
        size_t at;
        if (conv_block_pooled_at(shape, window, blockIdx.y * CONV_BLOCK_WINDOW_CHANNELS + channel, &at))
            pooled[at] = turned[channel][mine];
    }
}

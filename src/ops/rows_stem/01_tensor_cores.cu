// rows_stem, rung 1: one block per image, from its bytes to pooled rows.
//
// The image lies in shared memory with its padding, its bytes as 16-bit whole numbers, which are exact; the sums are
// divided by 255. All blocks run at once; if there are few images, several blocks share one, and if there are many, a
// block has several, and fetches the bytes of the next one meanwhile. A warp takes eight results and all pixels of
// their windows: lane group g has the pixels of result g, two of them per product of mma.sync (16 pixels by 8 channels
// by 16 columns), so that pooling needs no exchange. Each lane picks its columns out of shared memory itself: their
// offsets in the image stay in registers, as do the weights. Without pooling a product has 16 results. Nothing between
// image and pooled rows is ever stored.
//
// Limited by: loads from shared memory, eight of 16 bits per product of 16 pixels, for up to 32 channels.

#include "ops/cuda/dependent.h"
#include "ops/cuda/division.h"
#include "ops/cuda/element16.h"
#include "ops/cuda/mma.h"
#include "ops/cuda/mma16.h"
#include "ops/cuda/rung.h"
#include "ops/rows_conv/functions.h"
#include "ops/rows_stem/rows_stem.h"

typedef heddle_rows_stem_shape stem_shape;

enum {
    WARPS = 8,
    TILES = 4, // of 8 channels, per warp
    TILE = 8,
    STEP = HEDDLE_ROWS_STEM_STEP,
    GROUP = 8, // results of a product, per half of its rows
};

struct stem_job {
    stem_shape shape;
    int out_h, out_w;                // pooled
    int padded_h, padded_w;          // of an image in shared memory
    int chunks;                      // of 32 channels
    int slices;                      // blocks that share an image
    heddle_divisor across, down, by; // padded_w, padded_h; out_w
};

template <typename Element, typename Output> struct stem_operands {
    const uint8_t *dataset;
    const int32_t *dataset_labels, *order;
    const int64_t *cursor;
    const Element *weight;
    const float *bias;
    Output *output;
    int32_t *labels;
};

// A lane's part of the weight, of its bias, and where its columns lie in the image.
template <int Steps> struct stem_lane {
    uint32_t weight[Steps][TILES][2];
    float bias[TILES][2];
    int column[Steps][4];
};

__device__ static uint32_t pair_of(const void *first, const void *second)
{
    return *(const uint16_t *)first | (uint32_t) * (const uint16_t *)second << 16;
}

__device__ static int offset_of(const stem_job &job, int column)
{
    const stem_shape &shape = job.shape;
    const int s = column % shape.s, r = column / shape.s % shape.r, c = column / shape.s / shape.r;
    return c < shape.c ? (c * job.padded_h + r * shape.dilation) * job.padded_w + s * shape.dilation : 0;
}

template <typename Element, typename Output, int Steps>
__device__ static void load_lane(const stem_job &job, const stem_operands<Element, Output> &on, int first_channel,
                                 stem_lane<Steps> &lane)
{
    const int row = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int step = 0; step < Steps; step++) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            lane.column[step][i] = offset_of(job, step * STEP + column + i % 2 + i / 2 * 8);
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) {
            const int channel = first_channel + tile * TILE + row;
            const Element *from = on.weight + (size_t)channel * job.shape.columns + step * STEP + column;
#pragma unroll
            for (int i = 0; i < 2; i++)
                lane.weight[step][tile][i] = channel < job.shape.k ? pair_of(from + i * 8, from + i * 8 + 1) : 0;
        }
    }
#pragma unroll
    for (int tile = 0; tile < TILES; tile++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int channel = first_channel + tile * TILE + column + i;
            lane.bias[tile][i] = on.bias && channel < job.shape.k ? on.bias[channel] : 0.0f;
        }
}

// Begins to copy the image's bytes, which may be in the host's memory: in as few accesses as possible, all under way.
__device__ static void fetch(const uint8_t *pixels, unsigned count, uint8_t *bytes)
{
    const unsigned whole = (uintptr_t)pixels % sizeof(uint4) == 0 ? count / sizeof(uint4) : 0;
    for (unsigned i = threadIdx.x; i < whole; i += blockDim.x)
        cp_async_16((uint4 *)bytes + i, (const uint4 *)pixels + i);
    for (unsigned i = whole * sizeof(uint4) + threadIdx.x; i < count; i += blockDim.x)
        bytes[i] = pixels[i];
}

// The image's bytes as whole numbers, with zeros around.
template <typename Element> __device__ static void spread(const stem_job &job, const uint8_t *bytes, Element *image)
{
    const stem_shape &shape = job.shape;
    const unsigned elements = (unsigned)(shape.c * job.padded_h * job.padded_w);
    for (unsigned i = threadIdx.x; i < elements; i += blockDim.x) {
        unsigned x, y;
        const unsigned c = heddle_divide(heddle_divide(i, job.across, &x), job.down, &y);
        const int line = (int)y - shape.padding, pixel = (int)x - shape.padding;
        const bool inside = line >= 0 && line < shape.h && pixel >= 0 && pixel < shape.w;
        image[i] = rows_element<Element>::round(inside ? (float)bytes[(c * shape.h + line) * shape.w + pixel] : 0.0f);
    }
}

// The convolution at two pixels per lane group, whose filters begin at `first` and `second`.
template <typename Element, int Steps>
__device__ static void convolve(const stem_lane<Steps> &lane, const Element *first, const Element *second,
                                float (&sums)[TILES][4])
{
#pragma unroll
    for (int tile = 0; tile < TILES; tile++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            sums[tile][i] = 0;
#pragma unroll
    for (int step = 0; step < Steps; step++) {
        const int(&column)[4] = lane.column[step];
        const uint32_t a[4] = {
            pair_of(first + column[0], first + column[1]), pair_of(second + column[0], second + column[1]),
            pair_of(first + column[2], first + column[3]), pair_of(second + column[2], second + column[3])};
#pragma unroll
        for (int tile = 0; tile < TILES; tile++)
            mma16(sums[tile], a, lane.weight[step][tile], Element());
    }
}

// Where the filter of a pixel begins.
__device__ static int filter_at(const stem_job &job, int y, int x)
{
    return (y * job.padded_w + x) * job.shape.stride;
}

template <typename Output> __device__ static float value_of(const stem_shape &shape, float sum, float bias)
{
    const float value = rows_function16(shape.function, sum * (1.0f / 255.0f) + bias);
    return sizeof(Output) == 1 ? value * rows_byte_unit(shape.function) : value;
}

// Two neighbouring channels of each tile, of one result.
template <typename Output, bool Aligned>
__device__ static void store(const stem_job &job, Output *to, int first_channel, const float (&values)[TILES][2])
{
    typedef rows_element<Output> element;
    const int column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
        const int channel = first_channel + tile * TILE + column;
        if (channel >= job.shape.k)
            break;
        if (Aligned) {
            *(typename element::pair *)(to + channel) = element::round(values[tile][0], values[tile][1]);
        } else {
            to[channel] = element::round(values[tile][0]);
            to[channel + 1] = element::round(values[tile][1]);
        }
    }
}

// Eight results, each the largest or the mean of its window, or 16 without windows.
template <typename Element, typename Output, int Steps, bool Aligned>
__device__ static void take_group(const stem_job &job, const stem_lane<Steps> &lane, const Element *image,
                                  Output *frame, int group, int first_channel)
{
    const stem_shape &shape = job.shape;
    const int window = shape.window, pixels = window * window, results = job.out_h * job.out_w;
    const int own = group * (window == 1 ? 2 * GROUP : GROUP) + (int)threadIdx.x % 32 / 4;
    const int other = window == 1 ? own + GROUP : own; // the result that the second pixel is for
    unsigned x[2], y[2];
    y[0] = heddle_divide(own < results ? own : 0, job.by, &x[0]);
    y[1] = heddle_divide(other < results ? other : 0, job.by, &x[1]);
    const bool averages = shape.average && window > 1; // else the function comes last: it never falls
    float found[2][TILES][2];
    for (int i = 0; i < pixels; i += 2) {
        const int next = i + 1 < pixels ? i + 1 : i;
        float sums[TILES][4];
        convolve<Element, Steps>(lane, image + filter_at(job, y[0] * window + i / window, x[0] * window + i % window),
                                 image + filter_at(job, y[1] * window + next / window, x[1] * window + next % window),
                                 sums);
#pragma unroll
        for (int tile = 0; tile < TILES; tile++)
#pragma unroll
            for (int j = 0; j < 2; j++) {
                float a = sums[tile][j], b = sums[tile][2 + j];
                if (averages) {
                    a = value_of<Output>(shape, a, lane.bias[tile][j]);
                    b = next > i ? value_of<Output>(shape, b, lane.bias[tile][j]) : 0.0f;
                }
                float &kept = found[0][tile][j];
                kept = window == 1 ? a
                       : averages  ? (i > 0 ? kept : 0.0f) + a + b
                                   : fmaxf(i > 0 ? kept : a, fmaxf(a, b));
                found[1][tile][j] = b;
            }
    }
#pragma unroll
    for (int tile = 0; tile < TILES; tile++)
#pragma unroll
        for (int j = 0; j < 2; j++) {
            float &kept = found[0][tile][j], &second = found[1][tile][j];
            kept = averages ? kept / (float)pixels : value_of<Output>(shape, kept, lane.bias[tile][j]);
            if (window == 1)
                second = value_of<Output>(shape, second, lane.bias[tile][j]);
        }
    const int pitch = job.out_w + shape.gap;
    if (own < results)
        store<Output, Aligned>(job, frame + (size_t)(y[0] * pitch + x[0]) * shape.k, first_channel, found[0]);
    if (window == 1 && other < results)
        store<Output, Aligned>(job, frame + (size_t)(y[1] * pitch + x[1]) * shape.k, first_channel, found[1]);
}

__host__ __device__ static size_t rounded_up(size_t bytes)
{
    return (bytes + sizeof(uint4) - 1) / sizeof(uint4) * sizeof(uint4);
}

// Of an image's bytes in shared memory, and of its numbers.
__host__ __device__ static size_t image_bytes(const stem_shape &shape)
{
    return rounded_up((size_t)shape.c * shape.h * shape.w);
}

template <typename Element> __host__ __device__ static size_t number_bytes(const stem_job &job)
{
    return rounded_up((size_t)job.shape.c * job.padded_h * job.padded_w * sizeof(Element));
}

// Results that a warp computes at once, 32 channels of each.
__host__ __device__ static int span_of(const stem_shape &shape)
{
    return shape.window == 1 ? 2 * GROUP : GROUP;
}

// The gaps right of the lines and below them.
template <typename Output> __device__ static void clear_gaps(const stem_job &job, Output *frame)
{
    const int gap = job.shape.gap, pitch = job.out_w + gap, right = job.out_h * gap, k = job.shape.k;
    for (int i = threadIdx.x / 32; i < right + gap * pitch; i += blockDim.x / 32) {
        const int row = i < right ? i / gap * pitch + job.out_w + i % gap : job.out_h * pitch + i - right;
        for (int channel = threadIdx.x % 32; channel < k; channel += 32)
            frame[(size_t)row * k + channel] = rows_element<Output>::round(0.0f);
    }
}

template <typename Element, typename Output, int Steps, bool Aligned>
__global__ void __launch_bounds__(WARPS * 32) rows_stem(const stem_job job, const stem_operands<Element, Output> on)
{
    extern __shared__ uint4 shared[];
    const stem_shape &shape = job.shape;
    const unsigned pixels = (unsigned)(shape.c * shape.h * shape.w);
    uint8_t *bytes = (uint8_t *)shared, *numbers = bytes + 2 * image_bytes(shape); // of this image and of the next one
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;                    // a multiple of the chunks
    const int first_channel = warp % job.chunks * TILES * TILE;
    const int groups = (job.out_h * job.out_w + span_of(shape) - 1) / span_of(shape);
    const size_t frame_rows = (size_t)(job.out_h + shape.gap) * (job.out_w + shape.gap);
    heddle_wait_for_previous();
    heddle_release_next();
    const int64_t begin = *on.cursor;
    const int slice = blockIdx.x % job.slices, step = warps / job.chunks * job.slices;
    const int stride = gridDim.x / job.slices;
    int sample = blockIdx.x / job.slices;
    size_t from = on.order[begin + sample]; // there are as many samples as blocks, at least
    fetch(on.dataset + from * pixels, pixels, bytes);
    stem_lane<Steps> lane;
    load_lane<Element, Output, Steps>(job, on, first_channel, lane);
    for (int turn = 0; sample < shape.n; turn ^= 1) {
        const int next = sample + stride;
        const size_t next_from = next < shape.n ? on.order[begin + next] : 0;
        Output *frame = on.output + sample * frame_rows * shape.k;
        Element *image = (Element *)(numbers + turn * number_bytes<Element>(job));
        cp_async_wait_all();
        __syncthreads(); // the bytes are there, and those of the image before have been read
        if (next < shape.n)
            fetch(on.dataset + next_from * pixels, pixels, bytes + (turn ^ 1) * image_bytes(shape));
        spread(job, bytes + turn * image_bytes(shape), image);
        __syncthreads();
        for (int group = slice * (warps / job.chunks) + warp / job.chunks; group < groups; group += step)
            take_group<Element, Output, Steps, Aligned>(job, lane, image, frame, group, first_channel);
        if (slice == 0 && shape.gap > 0)
            clear_gaps(job, frame);
        if (slice == 0 && threadIdx.x == 0)
            on.labels[sample] = on.dataset_labels[from];
        sample = next;
        from = next_from;
    }
}

template <typename Element, typename Output, int Steps>
static heddle_status launch_steps(const heddle_call *call, stem_job job, const stem_operands<Element, Output> &on)
{
    const unsigned warps = WARPS / job.chunks * job.chunks, images = (unsigned)job.shape.n;
    const size_t bytes = 2 * image_bytes(job.shape) + 2 * number_bytes<Element>(job);
    const auto kernel = (uintptr_t)on.output % 4 == 0 ? rows_stem<Element, Output, Steps, true>
                                                      : rows_stem<Element, Output, Steps, false>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    int each = 1;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, (int)warps * 32, bytes);
    const unsigned most = (unsigned)(heddle_cuda_multiprocessors() * max(each, 1)), idle = most / 2 / images;
    // Few images: several blocks for each, as long as all their warps have work.
    const unsigned useful = heddle_ceil_div(job.out_h * job.out_w, span_of(job.shape) * (warps / job.chunks));
    job.slices = idle > 1 && useful > 1 ? (int)(idle < useful ? idle : useful) : 1;
    const unsigned blocks = images * (unsigned)job.slices;
    heddle_cuda_launch_dependent(kernel, dim3(blocks < most ? blocks : most), dim3(warps * 32), bytes,
                                 heddle_cuda_stream_of(call), job, on);
    return heddle_cuda_launched("01_tensor_cores");
}

template <typename Element, typename Output> static heddle_status launch_with(const heddle_call *call)
{
    const stem_shape *shape = (const stem_shape *)call->shape;
    stem_job job = {};
    job.shape = *shape;
    job.out_h = heddle_rows_stem_conv_h(shape) / shape->window;
    job.out_w = heddle_rows_stem_conv_w(shape) / shape->window;
    job.padded_h = shape->h + 2 * shape->padding;
    job.padded_w = shape->w + 2 * shape->padding;
    job.chunks = (int)heddle_ceil_div(shape->k, TILES * TILE);
    job.across = heddle_divisor_of(job.padded_w);
    job.down = heddle_divisor_of(job.padded_h);
    job.by = heddle_divisor_of(job.out_w);
    stem_operands<Element, Output> on = {};
    on.dataset = (const uint8_t *)call->input[0];
    on.dataset_labels = (const int32_t *)call->input[1];
    on.order = (const int32_t *)call->input[2];
    on.cursor = (const int64_t *)call->input[3];
    on.weight = (const Element *)call->input[4];
    on.bias = (const float *)call->input[5];
    on.output = (Output *)call->output[0];
    on.labels = (int32_t *)call->output[1];
    switch (shape->columns / STEP) {
    case 1: return launch_steps<Element, Output, 1>(call, job, on);
    case 2: return launch_steps<Element, Output, 2>(call, job, on);
    case 3: return launch_steps<Element, Output, 3>(call, job, on);
    case 4: return launch_steps<Element, Output, 4>(call, job, on);
    default: return launch_steps<Element, Output, 5>(call, job, on);
    }
}

static heddle_status launch(const heddle_call *call)
{
    const stem_shape *shape = (const stem_shape *)call->shape;
    if (shape->int8)
        return shape->half ? launch_with<__half, int8_t>(call) : launch_with<__nv_bfloat16, int8_t>(call);
    return shape->half ? launch_with<__half, __half>(call) : launch_with<__nv_bfloat16, __nv_bfloat16>(call);
}

HEDDLE_CUDA_RUNG("rows_stem", "01_tensor_cores", launch)

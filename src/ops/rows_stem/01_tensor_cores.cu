// rows_stem, rung 1: one block per image, from its bytes to pooled rows.
//
// The image lies in shared memory with its padding, its bytes as 16-bit whole numbers, which are exact; the sums are
// divided by 255. All blocks run at once; if there are few images, several blocks share one, and if there are many, a
// block has several, and fetches the bytes of the next one meanwhile. A warp takes eight results and all pixels of
// their windows: lane group g has the pixels of result g, two of them per product of mma.sync (16 pixels by 8 channels
// by 16 columns), so that pooling needs no exchange. Each lane picks its columns out of shared memory itself: their
// offsets in the image stay in registers, as do the weights, whose channels are dealt to the products so that a lane
// has eight neighbours and stores them at once. Without pooling a product has 16 results. Nothing between image and
// pooled rows is ever stored. Weights of pairs are two products, of their upper and their lower halves: a byte has no
// lower one.
//
// Limited by: instructions, of which loads from shared memory are the most: eight of 16 bits per product of 16 pixels,
// for up to 32 channels.

#include "ops/cuda/dependent.h"
#include "ops/cuda/division.h"
#include "ops/cuda/element16.h"
#include "ops/cuda/mma.h"
#include "ops/cuda/mma16.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
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

// A window known to the compiler saves instructions on a GPU. Where speed does not count, one kernel serves all windows
// (0), which takes half the time to compile.
#if defined(HEDDLE_SIM_MODULE) || defined(HEDDLE_CUDA_UNOPTIMISED)
enum { KNOWN_WINDOW = 0 };
#else
enum { KNOWN_WINDOW = 2 };
#endif

struct stem_job {
    stem_shape shape;
    int out_h, out_w;                              // pooled
    int padded_h, padded_w;                        // of an image in shared memory
    int chunks;                                    // of 32 channels
    int slices;                                    // blocks that share an image
    int wide_weight, wide_output;                  // whether a lane's elements are at addresses for one load or store
    int bytes;                                     // of an image that a thread takes at a time
    heddle_divisor by, across, down;               // out_w; loads per line, h
    heddle_divisor by_gap, by_unit;                // the gap; 8 bytes of a row of the output
    int16_t offset[HEDDLE_ROWS_STEM_STEPS * STEP]; // in an image, of each column
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

// Weights of pairs are an upper and a lower product.
template <typename Output> struct stem_planes {
    enum { COUNT = 1 };
};
template <> struct stem_planes<rows_pair> {
    enum { COUNT = 2 };
};

// A lane's part of the weight, of its bias, and where its columns lie in the image.
template <int Steps, int Planes> struct stem_lane {
    uint32_t weight[Planes][Steps][TILES][2];
    float bias[TILES][2];
    int column[Steps][4];
};

__device__ static uint32_t pair_of(const void *first, const void *second)
{
    return *(const uint16_t *)first | (uint32_t) * (const uint16_t *)second << 16;
}

// A tile's columns are not neighbours: of all tiles, lanes 4 i + j have channels 8 j to 8 j + 7, which one instruction
// stores. A weight's rows lie one after another; those of pairs have all upper halves first.
template <typename Element, typename Output, int Steps, int Planes>
__device__ static void load_lane(const stem_job &job, const stem_operands<Element, Output> &on, int first_channel,
                                 stem_lane<Steps, Planes> &lane)
{
    const int row = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int step = 0; step < Steps; step++) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            lane.column[step][i] = job.offset[step * STEP + column + i % 2 + i / 2 * 8];
#pragma unroll
        for (int part = 0; part < Planes * TILES; part++) {
            const int plane = part / TILES, tile = part % TILES;
            const int channel = first_channel + row / 2 * TILE + tile * 2 + row % 2;
            const Element *from =
                on.weight + ((size_t)channel * Planes + plane) * job.shape.columns + step * STEP + column;
#pragma unroll
            for (int i = 0; i < 2; i++)
                lane.weight[plane][step][tile][i] = channel >= job.shape.k ? 0
                                                    : job.wide_weight      ? *(const uint32_t *)(from + i * 8)
                                                                           : pair_of(from + i * 8, from + i * 8 + 1);
        }
    }
#pragma unroll
    for (int tile = 0; tile < TILES; tile++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int channel = first_channel + column / 2 * TILE + tile * 2 + i;
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

// The image's bytes as whole numbers, so many of a line at a time. Around them there are zeros already.
template <int Bytes, typename Element>
__device__ static void spread(const stem_job &job, const uint8_t *bytes, Element *image)
{
    const stem_shape &shape = job.shape;
    for (unsigned i = threadIdx.x; i < (unsigned)(shape.c * shape.h * shape.w) / Bytes; i += blockDim.x) {
        unsigned x, y;
        const unsigned c = heddle_divide(heddle_divide(i, job.across, &x), job.down, &y);
        Element *to = image + (c * job.padded_h + y + shape.padding) * job.padded_w + x * Bytes + shape.padding;
        const uint32_t word = Bytes == 4 ? ((const uint32_t *)bytes)[i] : bytes[i];
#pragma unroll
        for (int j = 0; j < Bytes; j++)
            to[j] = rows_element<Element>::round((float)(uint8_t)(word >> j * 8));
    }
}

// The convolution at two pixels per lane group, whose filters begin at `first` and `second`.
template <typename Element, int Steps, int Planes>
__device__ static void convolve(const stem_lane<Steps, Planes> &lane, const Element *first, const Element *second,
                                float (&sums)[TILES][4])
{
#pragma unroll
    for (int tile = 0; tile < TILES; tile++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            sums[tile][i] = 0;
#pragma unroll
    for (int plane = Planes - 1; plane >= 0; plane--) { // lower halves first
#pragma unroll
        for (int step = 0; step < Steps; step++) {
            const int(&column)[4] = lane.column[step];
            const uint32_t a[4] = {
                pair_of(first + column[0], first + column[1]), pair_of(second + column[0], second + column[1]),
                pair_of(first + column[2], first + column[3]), pair_of(second + column[2], second + column[3])};
#pragma unroll
            for (int tile = 0; tile < TILES; tile++)
                mma16(sums[tile], a, lane.weight[plane][step][tile], Element());
        }
#pragma unroll
        for (int i = 0; plane > 0 && i < TILES * 4; i++)
            sums[i / 4][i % 4] *= rows_pair_unscale;
    }
}

// The sums of two neighbours of each tile as results: one branch for all.
template <typename Output>
__device__ static void activate(const stem_shape &shape, const float (&bias)[TILES][2], float (&values)[TILES][2])
{
    enum { COUNT = TILES * 2 };
    const int function = shape.function;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        values[i / 2][i % 2] = values[i / 2][i % 2] * (1.0f / 255.0f) + bias[i / 2][i % 2];
    if (function == HEDDLE_ROWS_RELU)
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            values[i / 2][i % 2] = relu_value(values[i / 2][i % 2]);
    else if (function != HEDDLE_ROWS_IDENTITY)
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            float &value = values[i / 2][i % 2];
            value = stem_planes<Output>::COUNT > 1 ? rows_function(function, value) : rows_function16(function, value);
            value *= sizeof(Output) == 1 ? rows_byte_unit(function) : 1.0f;
        }
}

// Eight neighbours of a row, from an element whose address is wide enough.
template <typename Output>
__device__ static void write_eight(Output *frame, size_t row, int k, int channel, const float (&values)[TILES][2])
{
    typedef rows_element<Output> element;
    __align__(16) typename element::pair packed[TILES];
#pragma unroll
    for (int tile = 0; tile < TILES; tile++)
        packed[tile] = element::round(values[tile][0], values[tile][1]);
    Output *to = frame + row * k + channel;
    if constexpr (sizeof(Output) == 1)
        *(uint2 *)to = *(const uint2 *)packed;
    else
        *(uint4 *)to = *(const uint4 *)packed;
}

__device__ static void write_eight(rows_pair *frame, size_t row, int k, int channel, const float (&values)[TILES][2])
{
    __align__(16) __half2 upper[TILES], lower[TILES];
#pragma unroll
    for (int tile = 0; tile < TILES; tile++)
        rows_pair_split(values[tile][0], values[tile][1], &upper[tile], &lower[tile]);
    __half *to = (__half *)frame + row * 2 * k + channel;
    *(uint4 *)to = *(const uint4 *)upper;
    *(uint4 *)(to + k) = *(const uint4 *)lower;
}

// A lane's eight channels of one result.
template <typename Output>
__device__ static void store(const stem_job &job, Output *frame, size_t row, int channel,
                             const float (&values)[TILES][2])
{
    const int k = job.shape.k;
    if (channel >= k)
        return;
    if (job.wide_output)
        write_eight(frame, row, k, channel, values);
    else
#pragma unroll
        for (int i = 0; i < TILES * 2; i++)
            rows_write(frame, row, k, channel + i, values[i / 2][i % 2]);
}

// Eight results, each the largest or the mean of its window, or 16 without windows. Window: KNOWN_WINDOW, or 0 for one
// that is only known here.
template <typename Element, typename Output, int Steps, int Window>
__device__ static void take_group(const stem_job &job, const stem_lane<Steps, stem_planes<Output>::COUNT> &lane,
                                  const Element *image, Output *frame, int group, int first_channel)
{
    const stem_shape &shape = job.shape;
    const int window = Window ? Window : shape.window, pixels = window * window, results = job.out_h * job.out_w;
    const int own = group * (window == 1 ? 2 * GROUP : GROUP) + (int)threadIdx.x % 32 / 4;
    const int other = window == 1 ? own + GROUP : own; // the result that the second pixel is for
    unsigned x[2], y[2];
    y[0] = heddle_divide(own < results ? own : 0, job.by, &x[0]);
    y[1] = heddle_divide(other < results ? other : 0, job.by, &x[1]);
    const Element *begin[2];
#pragma unroll
    for (int i = 0; i < 2; i++)
        begin[i] = image + (y[i] * job.padded_w + x[i]) * window * shape.stride;
    const bool averages = shape.average && window > 1; // else the function comes last: it never falls
    float found[2][TILES][2] = {};
    int line = 0, pixel = 0; // of the window
#pragma unroll(Window ? 2 : 1)
    for (int i = 0; i < pixels; i += 2) {
        int at[2];
#pragma unroll
        for (int j = 0; j < 2; j++) { // a window of an odd number has its last pixel twice
            at[j] = i + j < pixels ? (line * job.padded_w + pixel) * shape.stride : at[0];
            pixel = pixel + 1 == window ? 0 : pixel + 1;
            line += pixel == 0;
        }
        float sums[TILES][4], values[2][TILES][2];
        convolve<Element, Steps>(lane, begin[0] + at[0], begin[1] + at[1], sums);
#pragma unroll
        for (int j = 0; j < TILES * 4; j++)
            values[j / 2 % 2][j / 4][j % 2] = sums[j / 4][j % 4];
        if (averages) {
            activate<Output>(shape, lane.bias, values[0]);
            activate<Output>(shape, lane.bias, values[1]);
        }
#pragma unroll
        for (int j = 0; j < TILES * 2; j++) {
            const float a = values[0][j / 2][j % 2], b = values[1][j / 2][j % 2];
            float &kept = found[0][j / 2][j % 2];
            kept = window == 1 ? a
                   : averages  ? kept + a + (i + 1 < pixels ? b : 0.0f)
                               : fmaxf(i > 0 ? kept : a, fmaxf(a, b));
            found[1][j / 2][j % 2] = b;
        }
    }
    if (averages)
#pragma unroll
        for (int j = 0; j < TILES * 2; j++)
            found[0][j / 2][j % 2] /= (float)pixels;
    else
        activate<Output>(shape, lane.bias, found[0]);
    const int pitch = job.out_w + shape.gap, channel = first_channel + (int)threadIdx.x % 4 * TILE;
    if (own < results)
        store(job, frame, y[0] * pitch + x[0], channel, found[0]);
    if (window == 1 && other < results) {
        activate<Output>(shape, lane.bias, found[1]);
        store(job, frame, y[1] * pitch + x[1], channel, found[1]);
    }
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

// Rows of a frame that are gaps: right of the lines, then below them.
__device__ static unsigned gap_at(const stem_job &job, unsigned i)
{
    const unsigned gap = job.shape.gap, pitch = job.out_w + gap, right = job.out_h * gap;
    unsigned rest;
    const unsigned line = heddle_divide(i, job.by_gap, &rest);
    return i < right ? line * pitch + job.out_w + rest : job.out_h * pitch + i - right;
}

template <typename Output> __device__ static void clear_gaps(const stem_job &job, Output *frame)
{
    const unsigned gap = job.shape.gap, rows = (job.out_h + job.out_w + gap) * gap, k = job.shape.k;
    if (!job.wide_output) {
        for (unsigned i = threadIdx.x; i < rows * k; i += blockDim.x)
            rows_write(frame, gap_at(job, i / k), k, i % k, 0.0f);
        return;
    }
    for (unsigned i = threadIdx.x; i < rows * job.by_unit.by; i += blockDim.x) {
        unsigned unit;
        const unsigned row = heddle_divide(i, job.by_unit, &unit);
        ((uint2 *)frame)[(size_t)gap_at(job, row) * job.by_unit.by + unit] = make_uint2(0, 0);
    }
}

// Every warp's results of an image.
template <typename Element, typename Output, int Steps, int Window>
__device__ static void take_image(const stem_job &job, const stem_lane<Steps, stem_planes<Output>::COUNT> &lane,
                                  const Element *image, Output *frame)
{
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32 / job.chunks; // of the same channels
    const int groups = (job.out_h * job.out_w + span_of(job.shape) - 1) / span_of(job.shape);
    for (int group = (int)(blockIdx.x % job.slices) * warps + warp / job.chunks; group < groups;
         group += warps * job.slices)
        take_group<Element, Output, Steps, Window>(job, lane, image, frame, group, warp % job.chunks * TILES * TILE);
}

template <typename Element, typename Output, int Steps>
__global__ void __launch_bounds__(WARPS * 32)
    rows_stem(const __grid_constant__ stem_job job, const stem_operands<Element, Output> on)
{
    extern __shared__ uint4 shared[];
    const stem_shape &shape = job.shape;
    const unsigned pixels = (unsigned)(shape.c * shape.h * shape.w);
    uint8_t *bytes = (uint8_t *)shared, *numbers = bytes + 2 * image_bytes(shape); // of this image and of the next one
    const size_t frame_rows = (size_t)(job.out_h + shape.gap) * (job.out_w + shape.gap);
    for (unsigned i = threadIdx.x; i < 2 * number_bytes<Element>(job) / sizeof(uint4); i += blockDim.x)
        ((uint4 *)numbers)[i] = make_uint4(0, 0, 0, 0); // what stays zero: the padding
    heddle_wait_for_previous();
    heddle_release_next();
    const int64_t begin = *on.cursor;
    const bool first_slice = blockIdx.x % job.slices == 0;
    const int stride = gridDim.x / job.slices;
    int sample = blockIdx.x / job.slices;
    size_t from = on.order[begin + sample]; // there are as many samples as blocks, at least
    fetch(on.dataset + from * pixels, pixels, bytes);
    stem_lane<Steps, stem_planes<Output>::COUNT> lane;
    load_lane(job, on, (int)threadIdx.x / 32 % job.chunks * TILES * TILE, lane);
    for (int turn = 0; sample < shape.n; turn ^= 1) {
        const int next = sample + stride;
        const size_t next_from = next < shape.n ? on.order[begin + next] : 0;
        Output *frame = on.output + sample * frame_rows * shape.k;
        Element *image = (Element *)(numbers + turn * number_bytes<Element>(job));
        // What does not need the bytes is done while they are on their way.
        const int32_t label = first_slice && threadIdx.x == 0 ? on.dataset_labels[from] : 0;
        if (first_slice && shape.gap > 0)
            clear_gaps(job, frame);
        cp_async_wait_all();
        __syncthreads(); // the bytes are there, and those of the image before have been read
        if (next < shape.n)
            fetch(on.dataset + next_from * pixels, pixels, bytes + (turn ^ 1) * image_bytes(shape));
        if (job.bytes == 4)
            spread<4>(job, bytes + turn * image_bytes(shape), image);
        else
            spread<1>(job, bytes + turn * image_bytes(shape), image);
        __syncthreads();
        if (KNOWN_WINDOW && shape.window == KNOWN_WINDOW)
            take_image<Element, Output, Steps, KNOWN_WINDOW>(job, lane, image, frame);
        else
            take_image<Element, Output, Steps, 0>(job, lane, image, frame);
        if (first_slice && threadIdx.x == 0)
            on.labels[sample] = label;
        sample = next;
        from = next_from;
    }
}

template <typename Element, typename Output, int Steps>
static heddle_status launch_steps(const heddle_call *call, stem_job job, const stem_operands<Element, Output> &on)
{
    const unsigned warps = WARPS / job.chunks * job.chunks, images = (unsigned)job.shape.n;
    const size_t bytes = 2 * image_bytes(job.shape) + 2 * number_bytes<Element>(job);
    const auto kernel = rows_stem<Element, Output, Steps>;
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

// Where a column lies in an image. Those that are padded have no weight.
static int16_t offset_of(const stem_job &job, int column)
{
    const stem_shape &shape = job.shape;
    const int s = column % shape.s, r = column / shape.s % shape.r, c = column / shape.s / shape.r;
    return c < shape.c ? (c * job.padded_h + r * shape.dilation) * job.padded_w + s * shape.dilation : 0;
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
    job.bytes = shape->w % 4 == 0 ? 4 : 1;
    job.by = heddle_divisor_of(job.out_w);
    job.across = heddle_divisor_of(shape->w / job.bytes);
    job.down = heddle_divisor_of(shape->h);
    job.by_gap = heddle_divisor_of(max(shape->gap, 1));
    job.by_unit = heddle_divisor_of(shape->k * (int)sizeof(Output) / (int)sizeof(uint2));
    for (int column = 0; column < shape->columns; column++)
        job.offset[column] = offset_of(job, column);
    job.wide_weight = (uintptr_t)call->input[4] % sizeof(uint32_t) == 0;
    job.wide_output = heddle_aligned16(call->output[0]);
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
    if (shape->pairs)
        return launch_with<__half, rows_pair>(call);
    if (shape->int8)
        return launch_with<__half, int8_t>(call);
    return shape->half ? launch_with<__half, __half>(call) : launch_with<__nv_bfloat16, __nv_bfloat16>(call);
}

HEDDLE_CUDA_RUNG("rows_stem", "01_tensor_cores", launch)

// rows_block, rung 1: one block per image and 64 output channels, with the image and their filters in shared memory.
//
// The filters stay there for all images of a block; the next image arrives by cp.async while this one is multiplied, if
// there is room for two. A warp takes eight results and all pixels of their windows: a product of mma.sync has two
// pixels of each, so that pooling needs no exchange. ldmatrix takes one address per row, so a tap of the filter is an
// offset and nothing else. Without pooling a product has 16 results.
//
// Limited by: shared memory's bandwidth. For 16 of k a warp loads 16 pixels and 64 channels; rows that are a window
// apart share banks in pairs.

#include "ops/cuda/dependent.h"
#include "ops/cuda/division.h"
#include "ops/cuda/element16.h"
#include "ops/cuda/mma.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/rows_block/rows_block.h"
#include "ops/rows_conv/functions.h"

typedef heddle_rows_block_shape block_shape;

enum {
    WARPS = 8,
    TILE = 8, // channels
    TILES = HEDDLE_ROWS_BLOCK_CHANNELS / TILE,
    STEP = HEDDLE_ROWS_BLOCK_STEP,
    GROUP = 8, // results of a product, per half of its rows
    VECTOR = 8 // elements of a 16-byte copy
};

struct block_job {
    block_shape shape;
    int out_h, out_w;               // pooled
    int padded_w;                   // rows of a line in shared memory
    int width, pitch, weight_pitch; // elements: channels of a row there, from row to row, from filter to filter
    int image_rows, images;         // rows of an image there, and how many images
    heddle_divisor by, vectors, x;  // out_w; 16-byte parts of a row; w
};

template <typename Element> struct block_operands {
    const Element *input, *weight;
    const float *bias;
    Element *output;
};

// Copies eight elements; on a pointer that is not aligned, one by one.
template <typename Element, bool Aligned> __device__ static void copy_vector(Element *to, const Element *from)
{
    if (Aligned) {
        cp_async_16(to, from);
    } else {
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            to[i] = from[i];
    }
}

template <typename Element> __device__ static void clear(Element *to, int elements)
{
    for (int i = threadIdx.x; i < elements / 2; i += blockDim.x)
        ((uint32_t *)to)[i] = 0;
}

// The filters of channels from `first` on; padded channels and missing filters stay zero.
template <typename Element, bool Aligned>
__device__ static void load_weight(const block_job &job, const Element *weight, int first, Element *to)
{
    const block_shape &shape = job.shape;
    const int taps = shape.r * shape.s, left = shape.k - first;
    const int filters = left < TILES * TILE ? left : TILES * TILE;
    const unsigned items = (unsigned)(filters * taps * (shape.c / VECTOR));
    for (unsigned i = threadIdx.x; i < items; i += blockDim.x) {
        unsigned vector;
        const unsigned row = heddle_divide(i, job.vectors, &vector);
        const unsigned filter = row / (unsigned)taps, tap = row % (unsigned)taps;
        copy_vector<Element, Aligned>(to + filter * job.weight_pitch + tap * job.width + vector * VECTOR,
                                      weight + ((size_t)(first + filter) * taps + tap) * shape.c + vector * VECTOR);
    }
}

template <typename Element, bool Aligned>
__device__ static void load_image(const block_job &job, const Element *input, int sample, Element *to)
{
    const block_shape &shape = job.shape;
    const int line_rows = shape.w + shape.gap;
    const Element *image = input + (size_t)sample * (shape.h + shape.gap) * line_rows * shape.c;
    const unsigned items = (unsigned)(shape.h * shape.w * (shape.c / VECTOR));
    for (unsigned i = threadIdx.x; i < items; i += blockDim.x) {
        unsigned vector, x;
        const unsigned y = heddle_divide(heddle_divide(i, job.vectors, &vector), job.x, &x);
        const unsigned row = (y + shape.padding) * job.padded_w + x + shape.padding;
        copy_vector<Element, Aligned>(to + row * job.pitch + vector * VECTOR,
                                      image + ((size_t)y * line_rows + x) * shape.c + vector * VECTOR);
    }
}

__device__ static void multiply(float (&sums)[4], const uint32_t (&a)[4], const uint32_t *b, __half)
{
    mma_m16n8k16_half(sums, a, b, sums);
}

__device__ static void multiply(float (&sums)[4], const uint32_t (&a)[4], const uint32_t *b, __nv_bfloat16)
{
    mma_m16n8k16_bfloat16(sums, a, b, sums);
}

// The convolution of 16 pixels to the first `channels`. `pixel` is the first row of the filter that this lane gives
// ldmatrix, `filter` that of the weight.
template <typename Element>
__device__ static void convolve(const block_job &job, const Element *pixel, const Element *filter, int channels,
                                float (&sums)[TILES][4])
{
#pragma unroll
    for (int tile = 0; tile < TILES; tile++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            sums[tile][i] = 0;
    for (int r = 0; r < job.shape.r; r++)
        for (int s = 0; s < job.shape.s; s++) {
            const Element *from = pixel + (r * job.padded_w + s) * job.pitch;
            for (int c = 0; c < job.width; c += STEP, filter += STEP) {
                uint32_t a[4], b[4];
                ldmatrix_x4(a, from + c);
#pragma unroll
                for (int tile = 0; tile < TILES; tile += 2) {
                    if (tile * TILE >= channels)
                        break;
                    ldmatrix_x4(b, filter + tile * TILE * job.weight_pitch);
                    multiply(sums[tile], a, b, Element());
                    multiply(sums[tile + 1], a, b + 2, Element());
                }
            }
        }
}

// Two neighbouring channels of each tile, of one result.
template <typename Element, bool Aligned>
__device__ static void store(const block_job &job, Element *to, int first, const float (&values)[TILES][2])
{
    typedef rows_element<Element> element;
    const int column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
        const int channel = first + tile * TILE + column;
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

// Keeps the largest of a window or adds its values up; without windows, keeps both.
__device__ static void keep(const block_shape &shape, int i, bool both, float bias, float a, float b, float &kept,
                            float &other)
{
    if (shape.window == 1) {
        kept = a;
        other = b;
    } else if (shape.average) {
        kept = (i > 0 ? kept : 0.0f) + rows_function16(shape.function, a + bias);
        kept += both ? rows_function16(shape.function, b + bias) : 0.0f;
    } else {
        kept = fmaxf(i > 0 ? kept : a, fmaxf(a, b));
    }
}

template <typename Element, bool Aligned>
__device__ static void take_group(const block_job &job, const Element *image, const Element *weight,
                                  const float (&bias)[TILES][2], Element *frame, int group, int first)
{
    const block_shape &shape = job.shape;
    const int window = shape.window, pixels = window * window, results = job.out_h * job.out_w;
    const int lane = threadIdx.x % 32, matrix = lane / 8, begin = group * (window == 1 ? 2 * GROUP : GROUP);
    // The pixel whose address this lane gives: of a result, the first or the second of two. Beyond the last, any.
    const int asked = begin + lane % 8 + (window == 1 && matrix % 2 ? GROUP : 0);
    unsigned x, y;
    y = heddle_divide(asked < results ? asked : 0, job.by, &x);
    const Element *filter = weight + (matrix / 2 * TILE + lane % 8) * job.weight_pitch + matrix % 2 * 8;
    float found[2][TILES][2];
    for (int i = 0; i < pixels; i += 2) {
        const int next = i + 1 < pixels ? i + 1 : i, at = matrix % 2 ? next : i;
        const int row = (y * window + at / window) * job.padded_w + x * window + at % window;
        float sums[TILES][4];
        convolve(job, image + row * job.pitch + matrix / 2 * 8, filter, shape.k - first, sums);
#pragma unroll
        for (int tile = 0; tile < TILES; tile++)
#pragma unroll
            for (int j = 0; j < 2; j++)
                keep(shape, i, next > i, bias[tile][j], sums[tile][j], sums[tile][2 + j], found[0][tile][j],
                     found[1][tile][j]);
    }
    const bool averages = shape.average && window > 1; // else the function comes last: it never falls
    const float share = 1.0f / (float)pixels;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int result = begin + lane / 4 + half * GROUP;
        if (result >= results || (half && window > 1))
            break;
        y = heddle_divide(result, job.by, &x);
#pragma unroll
        for (int tile = 0; tile < TILES; tile++)
#pragma unroll
            for (int j = 0; j < 2; j++) {
                float &value = found[half][tile][j];
                value = averages ? value * share : rows_function16(shape.function, value + bias[tile][j]);
            }
        store<Element, Aligned>(job, frame + (size_t)(y * (job.out_w + shape.out_gap) + x) * shape.k, first,
                                found[half]);
    }
}

// The gaps right of the lines and below them, of the block's channels.
template <typename Element> __device__ static void clear_gaps(const block_job &job, Element *frame, int first)
{
    const int gap = job.shape.out_gap, pitch = job.out_w + gap, right = job.out_h * gap, k = job.shape.k;
    const int end = first + TILES * TILE < k ? first + TILES * TILE : k;
    for (int i = threadIdx.x / 32; i < right + gap * pitch; i += blockDim.x / 32) {
        const int row = i < right ? i / gap * pitch + job.out_w + i % gap : job.out_h * pitch + i - right;
        for (int channel = first + threadIdx.x % 32; channel < end; channel += 32)
            frame[(size_t)row * k + channel] = rows_element<Element>::round(0.0f);
    }
}

template <typename Element, bool Aligned>
__global__ void __launch_bounds__(WARPS * 32) rows_block(const block_job job, const block_operands<Element> on)
{
    extern __shared__ uint4 shared[];
    Element *weight = (Element *)shared, *images = weight + TILES * TILE * job.weight_pitch;
    const block_shape &shape = job.shape;
    const int image_elements = job.image_rows * job.pitch, first = blockIdx.y * TILES * TILE;
    const int span = shape.window == 1 ? 2 * GROUP : GROUP, groups = (job.out_h * job.out_w + span - 1) / span;
    const size_t frame_rows = (size_t)(job.out_h + shape.out_gap) * (job.out_w + shape.out_gap);
    float bias[TILES][2];
    clear(weight, TILES * TILE * job.weight_pitch + job.images * image_elements);
    __syncthreads();
    heddle_wait_for_previous();
    heddle_release_next();
#pragma unroll
    for (int tile = 0; tile < TILES; tile++)
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const int channel = first + tile * TILE + threadIdx.x % 4 * 2 + j;
            bias[tile][j] = on.bias && channel < shape.k ? on.bias[channel] : 0.0f;
        }
    load_weight<Element, Aligned>(job, on.weight, first, weight);
    if ((int)blockIdx.x < shape.n)
        load_image<Element, Aligned>(job, on.input, blockIdx.x, images);
    int turn = 0;
    for (int sample = blockIdx.x; sample < shape.n; sample += gridDim.x) {
        Element *image = images + turn * image_elements, *frame = on.output + sample * frame_rows * shape.k;
        const int after = sample + (int)gridDim.x;
        cp_async_wait_all();
        __syncthreads(); // the image is there, and the one before has been read
        turn = job.images == 2 ? 1 - turn : 0;
        if (job.images == 2 && after < shape.n)
            load_image<Element, Aligned>(job, on.input, after, images + turn * image_elements);
        for (int group = threadIdx.x / 32; group < groups; group += blockDim.x / 32)
            take_group<Element, Aligned>(job, image, weight, bias, frame, group, first);
        if (shape.out_gap > 0)
            clear_gaps(job, frame, first);
        if (job.images == 2 || after >= shape.n)
            continue;
        __syncthreads();
        load_image<Element, Aligned>(job, on.input, after, images);
    }
}

// As many warps as leave the fewest of them idle in the last turn.
static unsigned warps_for(int groups)
{
    int best = groups < WARPS ? groups : WARPS;
    for (int warps = best; warps > WARPS / 2; warps--)
        if ((groups + warps - 1) / warps * warps < (groups + best - 1) / best * best)
            best = warps;
    return (unsigned)best;
}

template <typename Element, bool Aligned>
static heddle_status launch_kernel(const heddle_call *call, const block_job &job, const block_operands<Element> &on)
{
    const block_shape *shape = &job.shape;
    const size_t bytes = (size_t)heddle_rows_block_bytes(shape, job.images);
    const int span = shape->window == 1 ? 2 * GROUP : GROUP;
    const unsigned warps = warps_for((int)heddle_ceil_div(job.out_h * job.out_w, span));
    const unsigned chunks = heddle_ceil_div(shape->k, TILES * TILE), images = (unsigned)shape->n;
    const unsigned fit = (unsigned)(2 * (HEDDLE_ROWS_BLOCK_SHARED_BYTES + 4096) / bytes); // of a multiprocessor
    const unsigned most = heddle_ceil_div((unsigned)heddle_cuda_multiprocessors() * fit, chunks);
    cudaFuncSetAttribute(rows_block<Element, Aligned>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    heddle_cuda_launch_dependent(rows_block<Element, Aligned>, dim3(images < most ? images : most, chunks),
                                 dim3(warps * 32), bytes, heddle_cuda_stream_of(call), job, on);
    return heddle_cuda_launched("01_image_in_shared");
}

template <typename Element> static heddle_status launch_with(const heddle_call *call)
{
    const block_shape *shape = (const block_shape *)call->shape;
    block_job job = {};
    job.shape = *shape;
    job.out_h = heddle_rows_block_conv_h(shape) / shape->window;
    job.out_w = heddle_rows_block_conv_w(shape) / shape->window;
    job.padded_w = shape->w + 2 * shape->padding;
    job.width = heddle_rows_block_width(shape);
    job.pitch = job.width + HEDDLE_ROWS_BLOCK_PADDING;
    job.weight_pitch = heddle_rows_block_weight_width(shape);
    job.image_rows = heddle_rows_block_image_rows(shape);
    job.images = heddle_rows_block_bytes(shape, 2) <= HEDDLE_ROWS_BLOCK_SHARED_BYTES ? 2 : 1;
    job.by = heddle_divisor_of(job.out_w);
    job.vectors = heddle_divisor_of(shape->c / VECTOR);
    job.x = heddle_divisor_of(shape->w);
    block_operands<Element> on = {};
    on.input = (const Element *)call->input[0];
    on.weight = (const Element *)call->input[1];
    on.bias = (const float *)call->input[2];
    on.output = (Element *)call->output[0];
    return heddle_aligned16(on.input) && heddle_aligned16(on.weight) && heddle_aligned16(on.output)
               ? launch_kernel<Element, true>(call, job, on)
               : launch_kernel<Element, false>(call, job, on);
}

static heddle_status launch(const heddle_call *call)
{
    return ((const block_shape *)call->shape)->half ? launch_with<__half>(call) : launch_with<__nv_bfloat16>(call);
}

HEDDLE_CUDA_RUNG("rows_block", "01_image_in_shared", launch)

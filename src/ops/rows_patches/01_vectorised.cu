// rows_patches, rung 1: eight channels per thread, 16 bytes per access.
//
// Forward, a thread copies eight channels of one tap. Backward, a pixel's gradient is the sum over all patches that
// contain it: a thread visits those places alone, four of them at a time. It has two pixels (of pairs, one), so that
// eight loads are in flight. With a stride of 2, a filter of 3 x 3 has a pixel in four places at most.
//
// Limited by: memory bandwidth.

#include "ops/cuda/dependent.h"
#include "ops/cuda/division.h"
#include "ops/cuda/rows8.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/rows_patches/rows_patches.h"

typedef heddle_rows_patches_shape patches_shape;

// The shape, and what items are divided by.
struct patches_job {
    patches_shape shape;
    unsigned items;
    heddle_divisor groups, taps, filter, across, down; // of 8 channels; of a line of the filter; places or pixels
    heddle_divisor stride, dilation;
    int out_h, out_w;
};

template <typename Element, bool Aligned>
__global__ void rows_patches_forward(const patches_job job, const Element *input, Element *output)
{
    heddle_wait_for_previous();
    heddle_release_next();
    typedef typename rows_layout<Element>::type raw;
    const patches_shape &shape = job.shape;
    const int columns = shape.r * shape.s * shape.c;
    for (unsigned item = blockIdx.x * blockDim.x + threadIdx.x; item < job.items; item += gridDim.x * blockDim.x) {
        unsigned group, tap, s, x, y;
        const unsigned part = heddle_divide(item, job.groups, &group), place = heddle_divide(part, job.taps, &tap);
        const unsigned r = heddle_divide(tap, job.filter, &s);
        const unsigned image = heddle_divide(heddle_divide(place, job.across, &x), job.down, &y);
        const int line = (int)(y * shape.stride + r * shape.dilation) - shape.padding;
        const int pixel = (int)(x * shape.stride + s * shape.dilation) - shape.padding;
        const int c = (int)group * ROWS8, column = (int)tap * shape.c + c;
        const size_t from = ((size_t)image * (shape.h + shape.gap) + line) * (shape.w + shape.gap) + pixel;
#pragma unroll
        for (int i = 0; i < rows_layout<Element>::ELEMENTS; i++) { // as they are: no bit changes
            rows8 values = {};
            if (line >= 0 && line < shape.h && pixel >= 0 && pixel < shape.w)
                values = rows8_load<Aligned>((const raw *)rows_at(input, from * shape.c + c, c) + i * shape.c);
            rows8_store<Aligned>((raw *)rows_at(output, (size_t)item * ROWS8, column) + i * columns, values);
        }
    }
}

// Along one side of an image: a place of the filter, and how far into its patch the pixel is.
struct patches_place {
    int place, distance;
};

__device__ static patches_place last_place(const patches_job &job, unsigned pixel)
{
    unsigned distance;
    const unsigned place = heddle_divide(pixel + (unsigned)job.shape.padding, job.stride, &distance);
    return {(int)place, (int)distance};
}

// `back` places before; its tap of the filter, or -1 if the pixel is beside its patch or between two taps.
__device__ static int tap_before(const patches_job &job, const patches_place &last, int back, int places, int taps)
{
    unsigned between;
    const int distance = last.distance + back * job.shape.stride;
    const int tap = (int)heddle_divide((unsigned)distance, job.dilation, &between);
    return (unsigned)(last.place - back) < (unsigned)places && tap < taps && between == 0 ? tap : -1;
}

// Eight channels of a pixel, and the last place of the filter that may contain it.
struct patches_pixel {
    bool inside; // not a gap
    int image, c;
    patches_place y, x;
};

__device__ static patches_pixel pixel_of(const patches_job &job, unsigned item)
{
    unsigned group, across, line;
    const unsigned row = heddle_divide(item, job.groups, &group);
    patches_pixel pixel;
    pixel.image = (int)heddle_divide(heddle_divide(row, job.across, &across), job.down, &line);
    pixel.c = (int)group * ROWS8;
    pixel.inside = item < job.items && (int)line < job.shape.h && (int)across < job.shape.w;
    pixel.y = last_place(job, line), pixel.x = last_place(job, across);
    return pixel;
}

// Whether the pixel may be in the patch so many places before the last.
__device__ static bool reaches(const patches_place &last, int back, int taps, const patches_shape &shape)
{
    return last.distance + back * shape.stride <= (taps - 1) * shape.dilation;
}

enum { PATCHES_SIDE = 2, PATCHES_FOUR = PATCHES_SIDE * PATCHES_SIDE, PATCHES_BLOCKS = 3 }; // blocks per multiprocessor

// Four places, from `down` and `across` before the last on, on their way.
template <typename Element, bool Aligned> struct patches_four {
    rows8_bits<Element> grad[PATCHES_FOUR];

    __device__ void fetch(const patches_job &job, const Element *grad_output, const patches_pixel &pixel, int down,
                          int across)
    {
        const patches_shape &shape = job.shape;
        const int columns = shape.r * shape.s * shape.c;
#pragma unroll
        for (int i = 0; i < PATCHES_FOUR; i++) {
            const int back_y = down + i / PATCHES_SIDE, back_x = across + i % PATCHES_SIDE;
            const int r = tap_before(job, pixel.y, back_y, job.out_h, shape.r);
            const int s = tap_before(job, pixel.x, back_x, job.out_w, shape.s);
            const int y = pixel.y.place - back_y, x = pixel.x.place - back_x;
            const int column = (r * shape.s + s) * shape.c + pixel.c;
            const unsigned at = // fewer than 2^31
                (unsigned)(((pixel.image * job.out_h + y) * job.out_w + x) * columns + column);
            grad[i] = {};
            if (pixel.inside && r >= 0 && s >= 0)
                grad[i] = rows8_fetch<Element, Aligned>(rows_at(grad_output, at, column), columns);
        }
    }
    __device__ void add_to(rows8 &sum) const
    {
#pragma unroll
        for (int i = 0; i < PATCHES_FOUR; i++) {
            const rows8 values = rows8_values(grad[i]);
#pragma unroll
            for (int j = 0; j < ROWS8; j++)
                sum.v[j] += values.v[j];
        }
    }
};

// Adds all places of a pixel, of which the first four are on their way.
template <typename Element, bool Aligned>
__device__ static rows8 add_places(const patches_job &job, const Element *grad_output, const patches_pixel &pixel,
                                   patches_four<Element, Aligned> &four)
{
    const patches_shape &shape = job.shape;
    rows8 sum = {};
    four.add_to(sum);
    for (int down = 0; pixel.inside && reaches(pixel.y, down, shape.r, shape); down += PATCHES_SIDE)
        for (int across = down == 0 ? PATCHES_SIDE : 0; reaches(pixel.x, across, shape.s, shape);
             across += PATCHES_SIDE) {
            four.fetch(job, grad_output, pixel, down, across);
            four.add_to(sum);
        }
    return sum;
}

template <typename Element, bool Aligned>
__global__ void __launch_bounds__(HEDDLE_CUDA_BLOCK, PATCHES_BLOCKS)
    rows_patches_backward(const patches_job job, const Element *grad_output, Element *grad_input)
{
    enum { FLIGHT = rows_layout<Element>::ELEMENTS == 2 ? 1 : 2 }; // pixels on their way
    heddle_wait_for_previous();
    heddle_release_next();
    const unsigned stride = gridDim.x * blockDim.x;
    for (unsigned first = blockIdx.x * blockDim.x + threadIdx.x; first < job.items; first += FLIGHT * stride) {
        patches_pixel pixels[FLIGHT];
        patches_four<Element, Aligned> fours[FLIGHT];
#pragma unroll
        for (int i = 0; i < FLIGHT; i++) {
            pixels[i] = pixel_of(job, first + i * stride);
            fours[i].fetch(job, grad_output, pixels[i], 0, 0);
        }
#pragma unroll
        for (int i = 0; i < FLIGHT; i++) {
            const unsigned item = first + i * stride;
            const rows8 sum = add_places(job, grad_output, pixels[i], fours[i]);
            if (item < job.items)
                rows8_store<Aligned>(rows_at(grad_input, (size_t)item * ROWS8, pixels[i].c), job.shape.c, sum);
        }
    }
}

static patches_job job_of(const patches_shape *shape)
{
    patches_job job = {};
    job.shape = *shape;
    job.out_h = heddle_rows_patches_out_h(shape);
    job.out_w = heddle_rows_patches_out_w(shape);
    job.groups = heddle_divisor_of(shape->c / ROWS8);
    job.taps = heddle_divisor_of(shape->r * shape->s);
    job.filter = heddle_divisor_of(shape->s);
    job.stride = heddle_divisor_of(shape->stride);
    job.dilation = heddle_divisor_of(shape->dilation);
    return job;
}

static unsigned blocks_for(unsigned items, unsigned each)
{
    const unsigned wanted = heddle_cuda_blocks(items), most = (unsigned)heddle_cuda_multiprocessors() * each;
    return wanted < most ? wanted : most;
}

template <typename Element> static heddle_status forward_with(const heddle_call *call)
{
    const patches_shape *shape = (const patches_shape *)call->shape;
    patches_job job = job_of(shape);
    job.across = heddle_divisor_of(job.out_w);
    job.down = heddle_divisor_of(job.out_h);
    job.items = (unsigned)((size_t)shape->n * job.out_h * job.out_w * shape->r * shape->s * shape->c / ROWS8);
    const bool aligned = heddle_aligned16(call->input[0]) && heddle_aligned16(call->output[0]);
    heddle_cuda_launch_dependent(aligned ? rows_patches_forward<Element, true> : rows_patches_forward<Element, false>,
                                 dim3(blocks_for(job.items, 8)), dim3(HEDDLE_CUDA_BLOCK), 0,
                                 heddle_cuda_stream_of(call), job, (const Element *)call->input[0],
                                 (Element *)call->output[0]);
    return heddle_cuda_launched("01_vectorised");
}

template <typename Element> static heddle_status backward_with(const heddle_call *call)
{
    const patches_shape *shape = (const patches_shape *)call->shape;
    patches_job job = job_of(shape);
    job.across = heddle_divisor_of(shape->w + shape->gap);
    job.down = heddle_divisor_of(shape->h + shape->gap);
    job.items = (unsigned)((size_t)shape->n * (shape->h + shape->gap) * (shape->w + shape->gap) * shape->c / ROWS8);
    const bool aligned = heddle_aligned16(call->input[0]) && heddle_aligned16(call->output[0]);
    heddle_cuda_launch_dependent(aligned ? rows_patches_backward<Element, true> : rows_patches_backward<Element, false>,
                                 dim3(blocks_for(job.items, PATCHES_BLOCKS)), dim3(HEDDLE_CUDA_BLOCK), 0,
                                 heddle_cuda_stream_of(call), job, (const Element *)call->input[0],
                                 (Element *)call->output[0]);
    return heddle_cuda_launched("01_vectorised");
}

static heddle_status launch_forward(const heddle_call *call)
{
    return ROWS_WITH_ANY_ELEMENT(patches_shape, forward_with, call);
}

static heddle_status launch_backward(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(patches_shape, backward_with, call);
}

HEDDLE_CUDA_RUNG("rows_patches_forward", "01_vectorised", launch_forward)
HEDDLE_CUDA_RUNG("rows_patches_backward", "01_vectorised", launch_backward)

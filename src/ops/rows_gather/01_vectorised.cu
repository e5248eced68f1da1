// rows_gather, rung 1: eight columns of a patch per thread, stored by one 16-byte access.
//
// A thread keeps its columns: their places in the image are computed once. Bytes are read from the dataset as often as
// patches overlap; most reads hit the L1 cache.
//
// Limited by: write bandwidth; with patches, the instructions of eight single loads each.

#include "ops/cuda/dependent.h"
#include "ops/cuda/division.h"
#include "ops/cuda/rows8.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/rows_gather/rows_gather.h"

typedef heddle_rows_gather_shape gather_shape;

struct gather_job {
    gather_shape shape;
    unsigned items;
    heddle_divisor groups, across, down; // of 8 columns; places of the filter
};

// Where a thread's columns look, relative to the filter's place; for a missing channel, far outside the image.
struct gather_columns {
    int line[ROWS8], pixel[ROWS8], offset[ROWS8]; // offset: of the same in the image, in bytes
};

__device__ static gather_columns columns_of(const gather_shape &shape, int first)
{
    gather_columns columns;
    const int taps = shape.r * shape.s;
#pragma unroll
    for (int i = 0; i < ROWS8; i++) {
        const int tap = (first + i) % taps, c = (first + i) / taps;
        columns.line[i] = c < shape.c ? tap / shape.s * shape.dilation - shape.padding : -(1 << 30);
        columns.pixel[i] = tap % shape.s * shape.dilation - shape.padding;
        columns.offset[i] = c * shape.h * shape.w + columns.line[i] * shape.w + columns.pixel[i];
    }
    return columns;
}

template <typename Element, bool Aligned>
__global__ void rows_gather(const gather_job job, const uint8_t *dataset, const int32_t *dataset_labels,
                            const int32_t *order, const int64_t *cursor, Element *output, int32_t *labels)
{
    heddle_wait_for_previous();
    heddle_release_next();
    const gather_shape &shape = job.shape;
    const int64_t begin = *cursor;
    const int image_bytes = shape.c * shape.h * shape.w;
    int kept = -1;
    gather_columns columns;
    for (unsigned item = blockIdx.x * blockDim.x + threadIdx.x; item < job.items; item += gridDim.x * blockDim.x) {
        unsigned group, x, y;
        const unsigned place = heddle_divide(item, job.groups, &group);
        const unsigned image = heddle_divide(heddle_divide(place, job.across, &x), job.down, &y);
        if (kept != (int)group)
            columns = columns_of(shape, (kept = (int)group) * ROWS8);
        const size_t from = order[begin + image];
        const int top = (int)y * shape.stride, left = (int)x * shape.stride;
        const uint8_t *pixels = dataset + from * image_bytes + top * shape.w + left;
        rows8 patch = {};
        if constexpr (sizeof(Element) == 1)
#pragma unroll
            for (int i = 0; i < ROWS8; i++)
                patch.v[i] = -128.0f;
#pragma unroll
        for (int i = 0; i < ROWS8; i++)
            if ((unsigned)(top + columns.line[i]) < (unsigned)shape.h &&
                (unsigned)(left + columns.pixel[i]) < (unsigned)shape.w)
                patch.v[i] = sizeof(Element) == 1 ? pixels[columns.offset[i]] - 128.0f
                                                  : pixels[columns.offset[i]] * (1.0f / 255.0f);
        rows8_store<Aligned>(rows_at(output, (size_t)item * ROWS8, (int)group * ROWS8), shape.columns, patch);
        if (x == 0 && y == 0 && group == 0)
            labels[image] = dataset_labels[from];
    }
}

template <typename Element> static heddle_status launch_with(const heddle_call *call)
{
    const gather_shape *shape = (const gather_shape *)call->shape;
    const int out_h = heddle_rows_gather_out_h(shape), out_w = heddle_rows_gather_out_w(shape);
    const int groups = shape->columns / ROWS8;
    gather_job job = {};
    job.shape = *shape;
    job.items = (unsigned)((size_t)shape->n * out_h * out_w * groups);
    job.groups = heddle_divisor_of(groups);
    job.across = heddle_divisor_of(out_w);
    job.down = heddle_divisor_of(out_h);
    const unsigned threads = rows8_threads(shape->columns), wanted = heddle_ceil_div(job.items, threads);
    const unsigned most = (unsigned)heddle_cuda_multiprocessors() * 8;
    heddle_cuda_launch_dependent(
        heddle_aligned16(call->output[0]) ? rows_gather<Element, true> : rows_gather<Element, false>,
        dim3(wanted < most ? wanted : most), dim3(threads), 0, heddle_cuda_stream_of(call), job,
        (const uint8_t *)call->input[0], (const int32_t *)call->input[1], (const int32_t *)call->input[2],
        (const int64_t *)call->input[3], (Element *)call->output[0], (int32_t *)call->output[1]);
    return heddle_cuda_launched("01_vectorised");
}

static heddle_status launch(const heddle_call *call)
{
    return ROWS_WITH_ANY_ELEMENT(gather_shape, launch_with, call);
}

HEDDLE_CUDA_RUNG("rows_gather", "01_vectorised", launch)

// rows_gather, rung 1: eight columns of a patch per thread, stored by one access of 16 bytes.
//
// Bytes are read from the dataset as often as patches overlap; the first-level cache has most of them.
//
// Limited by: bytes written.

#include "ops/cuda/dependent.h"
#include "ops/cuda/rows8.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/rows_gather/rows_gather.h"

typedef heddle_rows_gather_shape gather_shape;

template <bool Aligned>
__global__ void rows_gather(const gather_shape shape, int out_h, int out_w, const uint8_t *dataset,
                            const int32_t *dataset_labels, const int32_t *order, const int64_t *cursor,
                            __nv_bfloat16 *output, int32_t *labels)
{
    heddle_wait_for_previous();
    heddle_release_next();
    const int groups = shape.columns / ROWS8, taps = shape.r * shape.s;
    const int64_t begin = *cursor;
    const size_t items = (size_t)shape.n * out_h * out_w * groups;
    for (size_t item = (size_t)blockIdx.x * blockDim.x + threadIdx.x; item < items;
         item += (size_t)gridDim.x * blockDim.x) {
        const int first = (int)(item % groups) * ROWS8, place = (int)(item / groups);
        const int x = place % out_w, y = place / out_w % out_h, image = place / out_w / out_h;
        const size_t from = order[begin + image];
        rows8 patch = {};
#pragma unroll
        for (int i = 0; i < ROWS8; i++) {
            const int tap = (first + i) % taps, c = (first + i) / taps;
            const int line = y * shape.stride + tap / shape.s * shape.dilation - shape.padding;
            const int pixel = x * shape.stride + tap % shape.s * shape.dilation - shape.padding;
            if (c < shape.c && line >= 0 && line < shape.h && pixel >= 0 && pixel < shape.w)
                patch.v[i] = dataset[((from * shape.c + c) * shape.h + line) * shape.w + pixel] / 255.0f;
        }
        rows8_store<Aligned>(output + (size_t)place * shape.columns + first, patch);
        if (x == 0 && y == 0 && first == 0)
            labels[image] = dataset_labels[from];
    }
}

static heddle_status launch(const heddle_call *call)
{
    const gather_shape *shape = (const gather_shape *)call->shape;
    const int out_h = heddle_rows_gather_out_h(shape), out_w = heddle_rows_gather_out_w(shape);
    const unsigned wanted = heddle_cuda_blocks((size_t)shape->n * out_h * out_w * (shape->columns / ROWS8));
    const unsigned most = (unsigned)heddle_cuda_multiprocessors() * 8;
    heddle_cuda_launch_dependent(
        heddle_aligned16(call->output[0]) ? rows_gather<true> : rows_gather<false>, dim3(wanted < most ? wanted : most),
        dim3(HEDDLE_CUDA_BLOCK), 0, heddle_cuda_stream_of(call), *shape, out_h, out_w, (const uint8_t *)call->input[0],
        (const int32_t *)call->input[1], (const int32_t *)call->input[2], (const int64_t *)call->input[3],
        (__nv_bfloat16 *)call->output[0], (int32_t *)call->output[1]);
    return heddle_cuda_launched("01_vectorised");
}

HEDDLE_CUDA_RUNG("rows_gather", "01_vectorised", launch)

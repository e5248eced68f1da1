// rows_patches, rung 1: eight columns of a patch per thread, stored by one access of 16 bytes.
//
// Backward, a pixel's gradient is what all patches that had it say: a thread goes through the taps of the filter, each
// of which has the pixel at one place or none.
//
// Limited by: bytes written forward; backward by loads of two bytes, one for each tap.

#include "ops/cuda/dependent.h"
#include "ops/cuda/rows8.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"
#include "ops/rows_patches/rows_patches.h"

typedef heddle_rows_patches_shape patches_shape;

template <bool Aligned>
__global__ void rows_patches_forward(const patches_shape shape, int out_h, int out_w, const __nv_bfloat16 *input,
                                     __nv_bfloat16 *output)
{
    heddle_wait_for_previous();
    heddle_release_next();
    const int groups = shape.columns / ROWS8, taps = shape.r * shape.s;
    const size_t items = (size_t)shape.n * out_h * out_w * groups;
    for (size_t item = (size_t)blockIdx.x * blockDim.x + threadIdx.x; item < items;
         item += (size_t)gridDim.x * blockDim.x) {
        const int first = (int)(item % groups) * ROWS8, place = (int)(item / groups);
        const int x = place % out_w, y = place / out_w % out_h, image = place / out_w / out_h;
        rows8 patch = {};
#pragma unroll
        for (int i = 0; i < ROWS8; i++) {
            const int tap = (first + i) % taps, c = (first + i) / taps;
            const int line = y * shape.stride + tap / shape.s * shape.dilation - shape.padding;
            const int pixel = x * shape.stride + tap % shape.s * shape.dilation - shape.padding;
            if (c < shape.used && line >= 0 && line < shape.h && pixel >= 0 && pixel < shape.w)
                patch.v[i] = __bfloat162float(
                    input[(((size_t)image * (shape.h + shape.gap) + line) * (shape.w + shape.gap) + pixel) * shape.c +
                          c]);
        }
        rows8_store<Aligned>(output + (size_t)place * shape.columns + first, patch);
    }
}

__global__ void rows_patches_backward(const patches_shape shape, int out_h, int out_w, const __nv_bfloat16 *grad_output,
                                      __nv_bfloat16 *grad_input)
{
    heddle_wait_for_previous();
    heddle_release_next();
    const int lines = shape.h + shape.gap, pitch = shape.w + shape.gap;
    const size_t items = (size_t)shape.n * lines * pitch * shape.c;
    for (size_t item = (size_t)blockIdx.x * blockDim.x + threadIdx.x; item < items;
         item += (size_t)gridDim.x * blockDim.x) {
        const int c = (int)(item % shape.c), row = (int)(item / shape.c);
        const int pixel = row % pitch, line = row / pitch % lines, image = row / pitch / lines;
        float sum = 0;
        for (int tap = 0; c < shape.used && line < shape.h && pixel < shape.w && tap < shape.r * shape.s; tap++) {
            const int down = line + shape.padding - tap / shape.s * shape.dilation;
            const int across = pixel + shape.padding - tap % shape.s * shape.dilation;
            const int y = down / shape.stride, x = across / shape.stride;
            if (down >= 0 && across >= 0 && down % shape.stride == 0 && across % shape.stride == 0 && y < out_h &&
                x < out_w)
                sum += __bfloat162float(grad_output[(((size_t)image * out_h + y) * out_w + x) * shape.columns +
                                                    c * shape.r * shape.s + tap]);
        }
        grad_input[item] = __float2bfloat16(sum);
    }
}

static unsigned blocks_for(size_t items)
{
    const unsigned wanted = heddle_cuda_blocks(items), most = (unsigned)heddle_cuda_multiprocessors() * 8;
    return wanted < most ? wanted : most;
}

static heddle_status launch_forward(const heddle_call *call)
{
    const patches_shape *shape = (const patches_shape *)call->shape;
    const int out_h = heddle_rows_patches_out_h(shape), out_w = heddle_rows_patches_out_w(shape);
    const size_t items = (size_t)shape->n * out_h * out_w * (shape->columns / ROWS8);
    heddle_cuda_launch_dependent(
        heddle_aligned16(call->output[0]) ? rows_patches_forward<true> : rows_patches_forward<false>,
        dim3(blocks_for(items)), dim3(HEDDLE_CUDA_BLOCK), 0, heddle_cuda_stream_of(call), *shape, out_h, out_w,
        (const __nv_bfloat16 *)call->input[0], (__nv_bfloat16 *)call->output[0]);
    return heddle_cuda_launched("01_vectorised");
}

static heddle_status launch_backward(const heddle_call *call)
{
    const patches_shape *shape = (const patches_shape *)call->shape;
    const size_t items = (size_t)shape->n * (shape->h + shape->gap) * (shape->w + shape->gap) * shape->c;
    heddle_cuda_launch_dependent(rows_patches_backward, dim3(blocks_for(items)), dim3(HEDDLE_CUDA_BLOCK), 0,
                                 heddle_cuda_stream_of(call), *shape, heddle_rows_patches_out_h(shape),
                                 heddle_rows_patches_out_w(shape), (const __nv_bfloat16 *)call->input[0],
                                 (__nv_bfloat16 *)call->output[0]);
    return heddle_cuda_launched("01_vectorised");
}

HEDDLE_CUDA_RUNG("rows_patches_forward", "01_vectorised", launch_forward)
HEDDLE_CUDA_RUNG("rows_patches_backward", "01_vectorised", launch_backward)

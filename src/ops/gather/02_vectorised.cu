// gather, rung 2: one block per sample, four pixels per thread.
//
// Rung 1 looked its row up and divided for every pixel, and moved one byte per load. Here the row is looked up once a
// block, and a thread loads four bytes and stores 16. Where rows do not begin at multiples of four bytes, or the batch
// does not at 16, a thread takes a pixel as before.
//
// Limited by: bytes, all but one in five of them written: images as floats are four times the dataset's bytes.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

enum { GROUP = 4 }; // pixels a thread takes at once: a word of bytes in, 16 bytes out

// dataset: (count, pixels), order: (length), images: (n, pixels)
__global__ void gather_vectorised(int pixels, bool grouped, const uint8_t *dataset, const int32_t *dataset_labels,
                                  const int32_t *order, const int64_t *cursor, float *images, int32_t *labels)
{
    const size_t sample = blockIdx.x, row = order[*cursor + sample];
    const uint8_t *from = dataset + row * pixels;
    float *to = images + sample * pixels;
    if (threadIdx.x == 0)
        labels[sample] = dataset_labels[row];
    if (grouped)
        for (int p = threadIdx.x * GROUP; p < pixels; p += blockDim.x * GROUP) {
            const uchar4 bytes = *(const uchar4 *)(from + p);
            *(float4 *)(to + p) = make_float4(bytes.x / 255.0f, bytes.y / 255.0f, bytes.z / 255.0f, bytes.w / 255.0f);
        }
    else
        for (int p = threadIdx.x; p < pixels; p += blockDim.x)
            to[p] = from[p] / 255.0f;
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_gather_shape *shape = (const heddle_gather_shape *)call->shape;
    const bool grouped = shape->pixels % GROUP == 0 && (uintptr_t)call->input[0] % sizeof(uchar4) == 0 &&
                         (uintptr_t)call->output[0] % sizeof(float4) == 0;
    if (shape->n > 0)
        gather_vectorised<<<shape->n, HEDDLE_CUDA_BLOCK, 0, heddle_cuda_stream_of(call)>>>(
            shape->pixels, grouped, (const uint8_t *)call->input[0], (const int32_t *)call->input[1],
            (const int32_t *)call->input[2], (const int64_t *)call->input[3], (float *)call->output[0],
            (int32_t *)call->output[1]);
    return heddle_cuda_launched("02_vectorised");
}

HEDDLE_CUDA_RUNG("gather", "02_vectorised", launch)

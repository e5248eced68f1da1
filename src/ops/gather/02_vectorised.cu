// gather, rung 2: one block per sample, four pixels per thread.
//
// Rung 1 looked up its row and divided for every pixel, and moved one byte per load. Here the row is looked up once per
// block, and a thread loads four bytes and stores 16. If rows do not begin at multiples of four bytes, or the batch not
// at 16, a thread handles one pixel as before.
//
// Limited by: memory bandwidth; four fifths of the bytes are written: images as floats are four times the dataset's
// bytes.

#include "base/move.h"
#include "ops/cuda/rung.h"

enum { GROUP = 4 }; // pixels a thread handles at once: a word of bytes in, 16 bytes out

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

// The same for images (n, pixels / (h * w), h, w) that are shifted, moves: (length, HEDDLE_MOVE_COUNT). Rows no longer
// begin at multiples of four bytes: a thread handles one pixel at a time.
__global__ void gather_moved(int pixels, int h, int w, const uint8_t *dataset, const int32_t *dataset_labels,
                             const int32_t *order, const int64_t *cursor, const int8_t *moves, float *images,
                             int32_t *labels)
{
    const size_t sample = blockIdx.x, place = *cursor + sample, row = order[place];
    const uint8_t *from = dataset + row * pixels;
    float *to = images + sample * pixels;
    int8_t move[HEDDLE_MOVE_COUNT];
    for (int i = 0; i < HEDDLE_MOVE_COUNT; i++)
        move[i] = moves[place * HEDDLE_MOVE_COUNT + i];
    if (threadIdx.x == 0)
        labels[sample] = dataset_labels[row];
    for (int p = threadIdx.x; p < pixels; p += blockDim.x) {
        const int in_plane = p % (h * w), source = heddle_move_source(move, h, w, in_plane / w, in_plane % w);
        to[p] = source < 0 ? 0.0f : from[p - in_plane + source] / 255.0f;
    }
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_gather_shape *shape = (const heddle_gather_shape *)call->shape;
    const bool grouped = shape->pixels % GROUP == 0 && (uintptr_t)call->input[0] % sizeof(uchar4) == 0 &&
                         (uintptr_t)call->output[0] % sizeof(float4) == 0;
    const uint8_t *dataset = (const uint8_t *)call->input[0];
    const int32_t *dataset_labels = (const int32_t *)call->input[1], *order = (const int32_t *)call->input[2];
    const int64_t *cursor = (const int64_t *)call->input[3];
    const int8_t *moves = (const int8_t *)call->input[4];
    float *images = (float *)call->output[0];
    int32_t *labels = (int32_t *)call->output[1];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (shape->n > 0 && shape->w && moves)
        gather_moved<<<shape->n, HEDDLE_CUDA_BLOCK, 0, stream>>>(shape->pixels, shape->h, shape->w, dataset,
                                                                 dataset_labels, order, cursor, moves, images, labels);
    else if (shape->n > 0)
        gather_vectorised<<<shape->n, HEDDLE_CUDA_BLOCK, 0, stream>>>(shape->pixels, grouped, dataset, dataset_labels,
                                                                      order, cursor, images, labels);
    return heddle_cuda_launched("02_vectorised");
}

HEDDLE_CUDA_RUNG("gather", "02_vectorised", launch)

// gather, rung 1: one thread per pixel.
//
// Limited by: instructions: every pixel looks up its row and divides, and a warp loads only 32 bytes at a time.

#include "base/move.h"
#include "ops/cuda/rung.h"

// dataset: (count, pixels), order: (length), images: (n, pixels)
__global__ void gather_naive(int n, int pixels, const uint8_t *dataset, const int32_t *dataset_labels,
                             const int32_t *order, const int64_t *cursor, float *images, int32_t *labels)
{
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < (size_t)n * pixels) {
        const size_t row = order[*cursor + at / pixels];
        images[at] = dataset[row * pixels + at % pixels] / 255.0f;
    }
    if (at < (size_t)n)
        labels[at] = dataset_labels[order[*cursor + at]];
}

// The same for images (n, pixels / (h * w), h, w) that are shifted, moves: (length, HEDDLE_MOVE_COUNT)
__global__ void gather_naive_moved(int n, int pixels, int h, int w, const uint8_t *dataset,
                                   const int32_t *dataset_labels, const int32_t *order, const int64_t *cursor,
                                   const int8_t *moves, float *images, int32_t *labels)
{
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < (size_t)n * pixels) {
        const size_t place = *cursor + at / pixels, row = order[place];
        const int pixel = at % pixels, in_plane = pixel % (h * w);
        const int source = heddle_move_source(moves + place * HEDDLE_MOVE_COUNT, h, w, in_plane / w, in_plane % w);
        images[at] = source < 0 ? 0.0f : dataset[row * pixels + pixel - in_plane + source] / 255.0f;
    }
    if (at < (size_t)n)
        labels[at] = dataset_labels[order[*cursor + at]];
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_gather_shape *shape = (const heddle_gather_shape *)call->shape;
    const size_t pixels = (size_t)shape->n * shape->pixels, threads = pixels > (size_t)shape->n ? pixels : shape->n;
    const uint8_t *dataset = (const uint8_t *)call->input[0];
    const int32_t *dataset_labels = (const int32_t *)call->input[1], *order = (const int32_t *)call->input[2];
    const int64_t *cursor = (const int64_t *)call->input[3];
    const int8_t *moves = (const int8_t *)call->input[4];
    float *images = (float *)call->output[0];
    int32_t *labels = (int32_t *)call->output[1];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (threads > 0 && shape->w && moves)
        gather_naive_moved<<<heddle_cuda_blocks(threads), HEDDLE_CUDA_BLOCK, 0, stream>>>(
            shape->n, shape->pixels, shape->h, shape->w, dataset, dataset_labels, order, cursor, moves, images, labels);
    else if (threads > 0)
        gather_naive<<<heddle_cuda_blocks(threads), HEDDLE_CUDA_BLOCK, 0, stream>>>(
            shape->n, shape->pixels, dataset, dataset_labels, order, cursor, images, labels);
    return heddle_cuda_launched("01_naive");
}

HEDDLE_CUDA_RUNG("gather", "01_naive", launch)

// fft2d, rung 2: rows by the rungs of fft; then the images are transposed, their columns transformed as rows, and the
// images transposed back. The naive rung does h + w products per number, these log2 of both.
//
// Limited by: memory bandwidth: four passes through memory, two of them only to make columns contiguous.

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/fft/cuda_memory.h"
#include "ops/fft/launch.h"

enum { TILE = 32, STEP = 8 }; // numbers per side of a tile; rows of it that the block's threads handle at a time

// input: (images, h, w) complex to output: (images, w, h), through tiles padded against bank conflicts
__global__ void transpose_images(int h, int w, unsigned down, unsigned across, const float *input, float *output)
{
    __shared__ float real[TILE][TILE + 1], imaginary[TILE][TILE + 1];
    size_t image = (size_t)(blockIdx.x / (down * across)) * h * w;
    int row = blockIdx.x / across % down * TILE, column = blockIdx.x % across * TILE;
    for (int i = threadIdx.y; i < TILE; i += STEP)
        if (row + i < h && column + (int)threadIdx.x < w) {
            const float *from = input + 2 * (image + (size_t)(row + i) * w + column + threadIdx.x);
            real[i][threadIdx.x] = from[0];
            imaginary[i][threadIdx.x] = from[1];
        }
    __syncthreads();
    for (int i = threadIdx.y; i < TILE; i += STEP)
        if (column + i < w && row + (int)threadIdx.x < h) {
            float *to = output + 2 * (image + (size_t)(column + i) * h + row + threadIdx.x);
            to[0] = real[threadIdx.x][i];
            to[1] = imaginary[threadIdx.x][i];
        }
}

static void transpose(int images, int h, int w, const float *input, float *output, cudaStream_t stream)
{
    unsigned down = heddle_ceil_div(h, TILE), across = heddle_ceil_div(w, TILE);
    transpose_images<<<images * down * across, dim3(TILE, STEP), 0, stream>>>(h, w, down, across, input, output);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_fft2d_shape *shape = (const heddle_fft2d_shape *)call->shape;
    long long images = shape->batch, numbers = images * shape->h * shape->w;
    float *output = (float *)call->output[0], *turned = (float *)call->workspace;
    char *rest = (char *)call->workspace + fft_number_bytes(numbers);
    cudaStream_t stream = heddle_cuda_stream_of(call);
    heddle_fft_job rows = heddle_fft_rows(HEDDLE_FFT_COMPLEX, shape->w, images * shape->h, shape->inverse != 0,
                                          (const float *)call->input[0], output);
    heddle_fft_job columns =
        heddle_fft_rows(HEDDLE_FFT_COMPLEX, shape->h, images * shape->w, shape->inverse != 0, turned, turned);
    rows.scale = shape->scale;
    if (images == 0)
        return HEDDLE_OK;
    HEDDLE_CUDA_TRY(heddle_fft_launch(&rows, rest, stream));
    transpose(shape->batch, shape->h, shape->w, output, turned, stream);
    HEDDLE_CUDA_TRY(heddle_fft_launch(&columns, rest, stream));
    transpose(shape->batch, shape->w, shape->h, turned, output, stream);
    return heddle_cuda_launched("02_transposed");
}

HEDDLE_CUDA_RUNG("fft2d", "02_transposed", launch)

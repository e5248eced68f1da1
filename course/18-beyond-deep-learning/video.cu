// Blurs the frames of a video. Frames take turns in two streams, so that on a GPU the copies and kernels of different
// frames overlap.

#include <stdint.h>

#include "../05-first-kernels/cuda_check.h"

enum { WIDTH = 96, HEIGHT = 64, FRAMES = 6, STREAMS = 2, TILE = 16, RADIUS = 2, WIDE = TILE + 2 * RADIUS };
enum { NEIGHBOURS = (2 * RADIUS + 1) * (2 * RADIUS + 1) };

__device__ int clamp(int value, int most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

// A block fetches its tile and a border of RADIUS pixels around it, then every thread adds up its neighbourhood.
__global__ void blur(const uint8_t *in, uint8_t *out)
{
    __shared__ uint8_t tile[WIDE][WIDE];
    int left = blockIdx.x * TILE - RADIUS, top = blockIdx.y * TILE - RADIUS;
    for (int i = threadIdx.y * TILE + threadIdx.x; i < WIDE * WIDE; i += TILE * TILE)
        tile[i / WIDE][i % WIDE] = in[clamp(top + i / WIDE, HEIGHT - 1) * WIDTH + clamp(left + i % WIDE, WIDTH - 1)];
    __syncthreads();
    int sum = 0;
    for (int y = 0; y <= 2 * RADIUS; y++)
        for (int x = 0; x <= 2 * RADIUS; x++)
            sum += tile[threadIdx.y + y][threadIdx.x + x];
    out[(blockIdx.y * TILE + threadIdx.y) * WIDTH + blockIdx.x * TILE + threadIdx.x] = (uint8_t)(sum / NEIGHBOURS);
}

int main(void)
{
    enum { BYTES = WIDTH * HEIGHT };
    uint8_t *video, *in[STREAMS], *out[STREAMS];
    cudaStream_t streams[STREAMS];
    CUDA_CHECK(cudaMallocHost((void **)&video, FRAMES * BYTES)); // pinned, so that copies really run in the background
    for (int i = 0; i < FRAMES * BYTES; i++)                     // a white square that moves
        video[i] = i % WIDTH / 16 == i / BYTES && i / WIDTH % HEIGHT / 16 == 1 ? 250 : 0;
    for (int i = 0; i < STREAMS; i++) {
        CUDA_CHECK(cudaStreamCreate(&streams[i]));
        CUDA_CHECK(cudaMalloc((void **)&in[i], BYTES));
        CUDA_CHECK(cudaMalloc((void **)&out[i], BYTES));
    }
    for (int frame = 0; frame < FRAMES; frame++) {
        int i = frame % STREAMS; // frames of one stream wait for each other, so its buffers are free again
        uint8_t *pixels = video + frame * BYTES;
        CUDA_CHECK(cudaMemcpyAsync(in[i], pixels, BYTES, cudaMemcpyHostToDevice, streams[i]));
        blur<<<dim3(WIDTH / TILE, HEIGHT / TILE), dim3(TILE, TILE), 0, streams[i]>>>(in[i], out[i]);
        CUDA_CHECK_LAUNCH();
        CUDA_CHECK(cudaMemcpyAsync(pixels, out[i], BYTES, cudaMemcpyDeviceToHost, streams[i]));
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    for (int frame = 0; frame < FRAMES; frame++)
        printf("frame %d: %3d in the middle of the square, %3d at its edge\n", frame,
               video[frame * BYTES + 24 * WIDTH + frame * 16 + 8], video[frame * BYTES + 24 * WIDTH + frame * 16]);
    for (int i = 0; i < STREAMS; i++) {
        CUDA_CHECK(cudaStreamDestroy(streams[i]));
        CUDA_CHECK(cudaFree(in[i]));
        CUDA_CHECK(cudaFree(out[i]));
    }
    CUDA_CHECK(cudaFreeHost(video));
    return 0;
}

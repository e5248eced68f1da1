// Heat in a plate: every point becomes the mean of its four neighbours, again and again. Two arrays take turns.

#include "../05-first-kernels/cuda_check.h"
#include "picture.h"

enum { SIDE = 64, STEPS = 200, TILE = 16 };

__global__ void step(const float *from, float *to)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y, i = y * SIDE + x;
    bool edge = x == 0 || y == 0 || x == SIDE - 1 || y == SIDE - 1; // the rim keeps its temperature
    to[i] = edge ? from[i] : 0.25f * (from[i - 1] + from[i + 1] + from[i - SIDE] + from[i + SIDE]);
}

int main(void)
{
    static float plate[SIDE * SIDE];
    static uint8_t pixels[SIDE * SIDE];
    float *now, *next;
    for (int x = 0; x < SIDE; x++)
        plate[x] = 100; // the upper rim is hot
    CUDA_CHECK(cudaMalloc(&now, sizeof plate));
    CUDA_CHECK(cudaMalloc(&next, sizeof plate));
    CUDA_CHECK(cudaMemcpy(now, plate, sizeof plate, cudaMemcpyHostToDevice));
    for (int i = 0; i < STEPS; i++) {
        step<<<dim3(SIDE / TILE, SIDE / TILE), dim3(TILE, TILE)>>>(now, next);
        CUDA_CHECK_LAUNCH();
        float *other = now; // one launch after another in one stream: no other wait is needed
        now = next;
        next = other;
    }
    CUDA_CHECK(cudaMemcpy(plate, now, sizeof plate, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(now));
    CUDA_CHECK(cudaFree(next));
    for (int i = 0; i < SIDE * SIDE; i++)
        pixels[i] = (uint8_t)(2.55f * plate[i]);
    printf("after %d steps it is %.1f degrees a quarter of the way down\n", STEPS, plate[SIDE / 4 * SIDE + SIDE / 2]);
    return write_picture("heat.png", pixels, SIDE, SIDE, 1) ? 0 : 1;
}

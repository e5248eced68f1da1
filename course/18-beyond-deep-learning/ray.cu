// A ray tracer: three balls on a floor, one light, shadows and mirrors. One thread per pixel. Writes ray.png.

#include "../05-first-kernels/cuda_check.h"
#include "picture.h"

enum { WIDTH = 160, HEIGHT = 100, BALLS = 3, BOUNCES = 3 };

struct vec {
    float x, y, z;
};

__device__ vec operator+(vec a, vec b)
{
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
__device__ vec operator-(vec a, vec b)
{
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
__device__ vec operator*(vec a, float s)
{
    return {a.x * s, a.y * s, a.z * s};
}
__device__ float dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
__device__ vec unit(vec a)
{
    return a * rsqrtf(dot(a, a));
}

struct ball {
    vec centre;
    float radius;
    vec colour;
};

__constant__ ball balls[BALLS]; // read by all threads alike: what constant memory is for

// The distance to the nearest thing along the ray, and which: a ball's number, BALLS for the floor, -1 for nothing.
__device__ int hit(vec from, vec along, float *distance)
{
    int what = -1;
    *distance = 1e30f;
    for (int i = 0; i < BALLS; i++) {
        vec to = balls[i].centre - from;
        float middle = dot(to, along), square = middle * middle - dot(to, to) + balls[i].radius * balls[i].radius;
        float near = middle - sqrtf(fmaxf(square, 0));
        if (square > 0 && near > 1e-3f && near < *distance) {
            *distance = near;
            what = i;
        }
    }
    float to_floor = -(from.y + 1) / along.y;
    if (along.y < 0 && to_floor > 1e-3f && to_floor < *distance) {
        *distance = to_floor;
        what = BALLS;
    }
    return what;
}

__device__ vec trace(vec from, vec along)
{
    const vec light = unit({-1, 2, -1.5f});
    vec colour = {0, 0, 0};
    float strength = 1;
    for (int bounce = 0; bounce < BOUNCES; bounce++) {
        float distance, shadow;
        int what = hit(from, along, &distance);
        if (what < 0)
            return colour + vec{0.5f, 0.7f, 1} * (strength * (0.4f + 0.6f * fmaxf(along.y, 0)));
        from = from + along * distance;
        vec normal = what < BALLS ? unit(from - balls[what].centre) : vec{0, 1, 0};
        bool dark_tile = ((int)floorf(from.x) + (int)floorf(from.z)) & 1;
        vec own = what < BALLS ? balls[what].colour : dark_tile ? vec{0.2f, 0.2f, 0.2f} : vec{0.8f, 0.8f, 0.8f};
        float lit = hit(from, light, &shadow) < 0 ? fmaxf(dot(normal, light), 0) : 0;
        colour = colour + own * (strength * 0.7f * (0.2f + 0.8f * lit));
        strength *= 0.3f;
        along = along - normal * (2 * dot(along, normal));
    }
    return colour;
}

__global__ void render(uint8_t *pixels)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT)
        return;
    vec colour = trace({0, 0.3f, -4}, unit({(x - WIDTH / 2) * 1.6f / WIDTH, (HEIGHT / 2 - y) * 1.6f / WIDTH, 1}));
    uint8_t *pixel = pixels + 3 * (y * WIDTH + x);
    pixel[0] = (uint8_t)(255 * fminf(colour.x, 1));
    pixel[1] = (uint8_t)(255 * fminf(colour.y, 1));
    pixel[2] = (uint8_t)(255 * fminf(colour.z, 1));
}

int main(void)
{
    static uint8_t pixels[HEIGHT * WIDTH * 3];
    const ball host[BALLS] = {{{-1.2f, 0, 0}, 1, {0.9f, 0.3f, 0.2f}},
                              {{1.2f, -0.2f, 0.5f}, 0.8f, {0.2f, 0.5f, 0.9f}},
                              {{0.2f, -0.6f, -1}, 0.4f, {0.9f, 0.8f, 0.2f}}};
    uint8_t *device;
    CUDA_CHECK(cudaMemcpyToSymbol(balls, host, sizeof host));
    CUDA_CHECK(cudaMalloc(&device, sizeof pixels));
    render<<<dim3((WIDTH + 15) / 16, (HEIGHT + 15) / 16), dim3(16, 16)>>>(device);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(pixels, device, sizeof pixels, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
    if (!write_picture("ray.png", pixels, WIDTH, HEIGHT, 3))
        return 1;
    printf("ray.png: %d x %d pixels\n", WIDTH, HEIGHT);
    return 0;
}

// Stars that attract each other: every star feels every other. A block fetches a tile of stars into shared memory once,
// and all its threads use it.

#include <math.h>

#include "../05-first-kernels/cuda_check.h"

enum { STARS = 256, THREADS = 64, STEPS = 4 };

static const double TOLERANCE = 1e-6; // of the total momentum: rounding only

__global__ void accelerate(const float4 *stars, float3 *speed, float time)
{
    __shared__ float4 tile[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    float4 own = stars[i];
    float3 sum = {0, 0, 0};
    for (int first = 0; first < STARS; first += THREADS) {
        tile[threadIdx.x] = stars[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < THREADS; j++) {
            float x = tile[j].x - own.x, y = tile[j].y - own.y, z = tile[j].z - own.z;
            float near = rsqrtf(x * x + y * y + z * z + 0.01f); // the 0.01 keeps close stars from flying apart
            float pull = tile[j].w * near * near * near;
            sum.x += pull * x;
            sum.y += pull * y;
            sum.z += pull * z;
        }
        __syncthreads();
    }
    speed[i].x += time * sum.x;
    speed[i].y += time * sum.y;
    speed[i].z += time * sum.z;
}

// A kernel of its own: all speeds must be known before the first star moves.
__global__ void move(float4 *stars, const float3 *speed, float time)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    stars[i].x += time * speed[i].x;
    stars[i].y += time * speed[i].y;
    stars[i].z += time * speed[i].z;
}

int main(void)
{
    static float4 stars[STARS];
    static float3 speed[STARS];
    float4 *device_stars;
    float3 *device_speed;
    double momentum[3] = {0, 0, 0};
    for (int i = 0; i < STARS; i++) // on a spiral; w is the mass
        stars[i] = {cosf(0.3f * i) * i / STARS, sinf(0.3f * i) * i / STARS, 0.1f * (i % 5),
                    (1 + i % 3) / (2.0f * STARS)};
    CUDA_CHECK(cudaMalloc(&device_stars, sizeof stars));
    CUDA_CHECK(cudaMalloc(&device_speed, sizeof speed));
    CUDA_CHECK(cudaMemcpy(device_stars, stars, sizeof stars, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(device_speed, 0, sizeof speed));
    for (int step = 0; step < STEPS; step++) {
        accelerate<<<STARS / THREADS, THREADS>>>(device_stars, device_speed, 0.05f);
        CUDA_CHECK_LAUNCH();
        move<<<STARS / THREADS, THREADS>>>(device_stars, device_speed, 0.05f);
        CUDA_CHECK_LAUNCH();
    }
    CUDA_CHECK(cudaMemcpy(speed, device_speed, sizeof speed, cudaMemcpyDeviceToHost));
    for (int i = 0; i < STARS; i++) {
        momentum[0] += stars[i].w * speed[i].x;
        momentum[1] += stars[i].w * speed[i].y;
        momentum[2] += stars[i].w * speed[i].z;
    }
    printf("momentum, which must stay near 0: %.1e %.1e %.1e\n", momentum[0], momentum[1], momentum[2]);
    CUDA_CHECK(cudaFree(device_stars));
    CUDA_CHECK(cudaFree(device_speed));
    for (double component : momentum)
        if (!(fabs(component) < TOLERANCE))
            return 1;
    return 0;
}

// Moves particles, stored as an array of structures and as a structure of arrays.

#include <cstdio>

enum { N = 1024 };

struct particle {
    float x, y, z, speed;
};

__global__ void move_structures(struct particle *particles, float time)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    particles[i].x += time * particles[i].speed;
}

__global__ void move_arrays(float *x, const float *speed, float time)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += time * speed[i];
}

__global__ void move_vectors(struct particle *particles, float time)
{
    float4 *vectors = (float4 *)particles; // the same memory: x, y, z and w are x, y, z and speed
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 one = vectors[i]; // one load of 16 bytes
    one.x += time * one.w;
    vectors[i] = one; // one store
}

int main(void)
{
    struct particle *particles;
    float *x, *speed;
    cudaMalloc(&particles, N * sizeof(struct particle));
    cudaMalloc(&x, N * sizeof(float));
    cudaMalloc(&speed, N * sizeof(float));
    cudaMemset(particles, 0, N * sizeof(struct particle));
    cudaMemset(x, 0, N * sizeof(float));
    cudaMemset(speed, 0, N * sizeof(float));
    move_structures<<<N / 256, 256>>>(particles, 0.1f);
    move_vectors<<<N / 256, 256>>>(particles, 0.1f);
    move_arrays<<<N / 256, 256>>>(x, speed, 0.1f);
    cudaFree(particles);
    cudaFree(x);
    cudaFree(speed);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}

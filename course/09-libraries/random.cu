// Estimates pi with cuRAND inside a kernel: each thread has its own sequence of Philox's numbers.

#include <curand_kernel.h>

#include "../05-first-kernels/cuda_check.h"

enum { THREADS = 256, BLOCKS = 16, EACH = 64 };

__global__ void throw_darts(unsigned long long seed, unsigned int *inside)
{
    unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x, hits = 0;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, thread, 0, &state); // the same seed, another sequence for each thread
    for (int i = 0; i < EACH; i++) {
        float x = curand_uniform(&state), y = curand_uniform(&state);
        hits += x * x + y * y <= 1;
    }
    atomicAdd(inside, hits);
}

int main(void)
{
    unsigned int *device, inside;
    CUDA_CHECK(cudaMalloc(&device, sizeof inside));
    CUDA_CHECK(cudaMemset(device, 0, sizeof inside));
    throw_darts<<<BLOCKS, THREADS>>>(42, device);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(&inside, device, sizeof inside, cudaMemcpyDeviceToHost));
    printf("pi is about %.3f\n", 4.0 * inside / (THREADS * BLOCKS * EACH));
    CUDA_CHECK(cudaFree(device));
    return 0;
}

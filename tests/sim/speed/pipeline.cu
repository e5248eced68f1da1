// Sums of tiles that are copied into shared memory one round ahead, with cp.async, or with -DBARRIER through two
// cuda::barrier: what the simulator's processor time is compared by in docs/simulator.md. Prints the first sum, 64.

#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda/barrier>
#include <cuda_pipeline.h>

enum { THREADS = 256, ROUNDS = 64, BLOCKS = 256 };

// input: (BLOCKS, ROUNDS, THREADS); output: (BLOCKS, THREADS)
__global__ void sum(const float *input, float *output)
{
    __shared__ float tile[2][THREADS];
    const int t = threadIdx.x;
    float total = 0;
    input += (size_t)blockIdx.x * ROUNDS * THREADS;
#ifdef BARRIER
    __shared__ cuda::barrier<cuda::thread_scope_block> ready[2];
    if (t < 2)
        init(&ready[t], THREADS);
    __syncthreads();
    cuda::memcpy_async(&tile[0][t], &input[t], sizeof(float), ready[0]);
#else
    __pipeline_memcpy_async(&tile[0][t], &input[t], sizeof(float));
    __pipeline_commit();
#endif
    for (int i = 0; i < ROUNDS; i++) {
        const int next = (i + 1) % 2;
#ifdef BARRIER
        if (i + 1 < ROUNDS)
            cuda::memcpy_async(&tile[next][t], &input[(i + 1) * THREADS + t], sizeof(float), ready[next]);
        ready[i % 2].arrive_and_wait();
#else
        if (i + 1 < ROUNDS)
            __pipeline_memcpy_async(&tile[next][t], &input[(i + 1) * THREADS + t], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
#endif
        total += tile[i % 2][THREADS - 1 - t];
        __syncthreads();
    }
    output[blockIdx.x * THREADS + t] = total;
}

int main()
{
    const size_t count = (size_t)BLOCKS * ROUNDS * THREADS;
    float *input = NULL, *output = NULL, *host = (float *)malloc(count * sizeof(float));
    if (!host || cudaMalloc(&input, count * sizeof(float)) != cudaSuccess ||
        cudaMalloc(&output, BLOCKS * THREADS * sizeof(float)) != cudaSuccess)
        return 1;
    for (size_t i = 0; i < count; i++)
        host[i] = 1;
    cudaMemcpy(input, host, count * sizeof(float), cudaMemcpyHostToDevice);
    sum<<<BLOCKS, THREADS>>>(input, output);
    const cudaError_t error = cudaMemcpy(host, output, BLOCKS * THREADS * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%g\n", host[0]);
    cudaFree(input);
    cudaFree(output);
    free(host);
    return error == cudaSuccess ? 0 : 1;
}

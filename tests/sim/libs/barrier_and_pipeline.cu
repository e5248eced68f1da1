// cuda::barrier, pipelines and cp.async: data are there after the wait, and phases follow each other.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

enum { THREADS = 128, STEPS = 6 };

// Producers and consumers hand a value on, phase by phase.
__global__ void phases(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int values[THREADS];
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    int sum = 0;
    for (int step = 0; step < STEPS; step++) {
        values[threadIdx.x] = step * 1000 + threadIdx.x;
        auto token = bar.arrive();
        bar.wait(std::move(token));
        sum += values[(threadIdx.x + 37) % THREADS];
        bar.arrive_and_wait();
    }
    out[threadIdx.x] = sum;
}

__global__ void copies_by_barrier(const int *in, int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    alignas(16) __shared__ int buffer[THREADS];
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() == 0)
        init(&bar, block.size());
    block.sync();
    for (int step = 0; step < STEPS; step++) {
        cuda::memcpy_async(block, buffer, in + step * THREADS, sizeof buffer, bar);
        bar.arrive_and_wait();
        out[step * THREADS + threadIdx.x] = buffer[THREADS - 1 - threadIdx.x];
        block.sync();
    }
}

__global__ void copies_by_pipeline(const int *in, int *out)
{
    constexpr int stages = 2;
    alignas(16) __shared__ int buffer[stages][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int fetch = 0, step = 0; step < STEPS; step++) {
        for (; fetch < STEPS && fetch < step + stages; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer[fetch % stages], in + fetch * THREADS, sizeof buffer[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[step * THREADS + threadIdx.x] = buffer[step % stages][THREADS - 1 - threadIdx.x];
        pipe.consumer_release();
    }
}

__global__ void copies_by_group(const int *in, int *out)
{
    alignas(16) __shared__ int buffer[THREADS];
    cg::thread_block block = cg::this_thread_block();
    for (int step = 0; step < STEPS; step++) {
        cg::memcpy_async(block, buffer, in + step * THREADS, sizeof buffer);
        cg::wait(block);
        out[step * THREADS + threadIdx.x] = buffer[THREADS - 1 - threadIdx.x];
        block.sync();
    }
}

// Two batches in flight: the older is complete when one is left.
__global__ void copies_by_thread(const int *in, int *out)
{
    __shared__ int buffer[2][THREADS];
    __pipeline_memcpy_async(&buffer[0][threadIdx.x], in + threadIdx.x, sizeof(int));
    __pipeline_commit();
    for (int step = 0; step < STEPS; step++) {
        if (step + 1 < STEPS)
            __pipeline_memcpy_async(&buffer[(step + 1) % 2][threadIdx.x], in + (step + 1) * THREADS + threadIdx.x,
                                    sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        out[step * THREADS + threadIdx.x] = buffer[step % 2][THREADS - 1 - threadIdx.x];
        __syncthreads();
    }
}

static int failures;

static void expect_reversed(const char *name, const int *device)
{
    int host[STEPS * THREADS];
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < STEPS * THREADS; i++) {
        int step = i / THREADS, wanted = step * THREADS + (THREADS - 1 - i % THREADS);
        if (host[i] != wanted) {
            printf("%s: element %d is %d, not %d\n", name, i, host[i], wanted);
            failures++;
            return;
        }
    }
}

int main()
{
    int host[STEPS * THREADS], *in, *out;
    for (int i = 0; i < STEPS * THREADS; i++)
        host[i] = i;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);

    phases<<<1, THREADS>>>(out);
    cudaMemcpy(host, out, THREADS * sizeof(int), cudaMemcpyDeviceToHost);
    for (int t = 0; t < THREADS; t++)
        if (host[t] != 1000 * (STEPS * (STEPS - 1) / 2) + STEPS * ((t + 37) % THREADS)) {
            printf("phases: thread %d has %d\n", t, host[t]);
            failures++;
            break;
        }
    copies_by_barrier<<<1, THREADS>>>(in, out);
    expect_reversed("barrier", out);
    copies_by_pipeline<<<1, THREADS>>>(in, out);
    expect_reversed("pipeline", out);
    copies_by_group<<<1, THREADS>>>(in, out);
    expect_reversed("group", out);
    copies_by_thread<<<1, THREADS>>>(in, out);
    expect_reversed("thread", out);
    cudaFree(in);
    cudaFree(out);
    return failures != 0;
}

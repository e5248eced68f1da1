// The host and a kernel hand a word to and fro, and with it what they work on: many rounds of one thread through
// volatile, rounds of a block with barriers, and rounds by atomics that acquire and release.
#include <atomic>
#include <cuda/atomic>

#include "../corpus.h"

enum { ROUNDS = 2000, BLOCK_ROUNDS = 20, COUNT = 64 };

__global__ void one_thread(volatile int *ball, int *data)
{
    for (int round = 0; round < ROUNDS; round++) {
        while (*ball != 2 * round + 1)
            continue;
        __threadfence_system();
        *data += 1;
        __threadfence_system();
        *ball = 2 * round + 2;
    }
}

__global__ void one_block(volatile int *ball, int *data)
{
    for (int round = 0; round < BLOCK_ROUNDS; round++) {
        if (threadIdx.x == 0) {
            while (*ball != 2 * round + 1)
                continue;
            __threadfence_system();
        }
        __syncthreads();
        data[threadIdx.x] += 1;
        __threadfence_system();
        __syncthreads();
        if (threadIdx.x == 0)
            *ball = 2 * round + 2;
    }
}

__global__ void by_atomics(int *ball, int *data)
{
    cuda::atomic_ref<int, cuda::thread_scope_system> word(*ball);
    for (int round = 0; round < BLOCK_ROUNDS; round++) {
        while (word.load(cuda::memory_order_acquire) != 2 * round + 1)
            continue;
        *data += 1;
        word.store(2 * round + 2, cuda::memory_order_release);
    }
}

static void play(volatile int *ball, int *data, int count, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        *ball = 2 * round + 1;
        while (*ball != 2 * round + 2)
            continue;
        std::atomic_thread_fence(std::memory_order_seq_cst);
        for (int i = 0; i < count; i++)
            data[i] += 10;
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
}

static void finish(int *ball, int *data, int count, int rounds)
{
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < count; i++) {
        REQUIRE(data[i] == 11 * rounds);
        data[i] = 0;
    }
    *ball = 0;
}

int main()
{
    int *ball = NULL;
    CHECK(cudaHostAlloc((void **)&ball, (COUNT + 1) * sizeof(int), cudaHostAllocMapped));
    int *data = ball + 1;
    for (int i = 0; i <= COUNT; i++)
        ball[i] = 0;
    one_thread<<<1, 1>>>(ball, data);
    play(ball, data, 1, ROUNDS);
    finish(ball, data, 1, ROUNDS);
    one_block<<<1, COUNT>>>(ball, data);
    play(ball, data, COUNT, BLOCK_ROUNDS);
    finish(ball, data, COUNT, BLOCK_ROUNDS);
    by_atomics<<<1, 1>>>(ball, data);
    for (int round = 0; round < BLOCK_ROUNDS; round++) {
        __atomic_store_n(ball, 2 * round + 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(ball, __ATOMIC_ACQUIRE) != 2 * round + 2)
            continue;
        *data += 10;
    }
    finish(ball, data, 1, BLOCK_ROUNDS);
    CHECK(cudaFreeHost(ball));
    return 0;
}

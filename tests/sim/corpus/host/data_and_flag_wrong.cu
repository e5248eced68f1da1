// The host fills memory that a kernel in a stream is going to use and sets a word, but the two do not meet there: the
// kernel looks at another word, not at all, too late, without a fence, or in one of its blocks only; the host sets the
// word too early, or plainly, so that the compiler may set it before it fills the memory.
#include <atomic>

#include "../corpus.h"

enum { COUNT = 64, BLOCKS = 2 };

__device__ void wait_for(volatile int *go)
{
    while (*go == 0)
        continue;
    __threadfence_system();
}

__global__ void waits(volatile int *go, const int *input, int *output)
{
    if (threadIdx.x == 0)
        wait_for(go);
    __syncthreads();
    output[threadIdx.x] = input[threadIdx.x];
}

__global__ void does_not_wait(const int *input, int *output)
{
    __threadfence_system();
    output[threadIdx.x] = input[threadIdx.x];
}

__global__ void waits_too_late(volatile int *go, const int *input, int *output)
{
    const int value = input[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
        wait_for(go);
    __syncthreads();
    output[threadIdx.x] = value;
}

__global__ void does_not_fence(volatile int *go, const int *input, int *output)
{
    while (*go == 0)
        continue;
    output[threadIdx.x] = input[threadIdx.x];
}

__global__ void first_block_waits(volatile int *go, const int *input, int *output)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        wait_for(go);
    __syncthreads();
    if (blockIdx.x == 1)
        output[threadIdx.x] = input[threadIdx.x];
}

static void set(int *go)
{
    std::atomic_thread_fence(std::memory_order_release);
    *(volatile int *)go = 1;
}

static void finish(int *go)
{
    SHOW(cudaDeviceSynchronize());
    go[0] = go[1] = 0;
}

static void kernel_is_wrong(int *go, int *input, int *output)
{
    does_not_wait<<<1, COUNT>>>(input, output); // expect: missing-wait a
    for (int i = 0; i < COUNT; i++)
        input[i] = i; // expect: missing-wait a
    set(go);
    finish(go);
    waits_too_late<<<1, COUNT>>>(go, input, output); // expect: missing-wait b
    for (int i = 0; i < COUNT; i++)
        input[i] = i; // expect: missing-wait b
    set(go);
    finish(go);
    does_not_fence<<<1, COUNT>>>(go, input, output); // expect: missing-wait c
    for (int i = 0; i < COUNT; i++)
        input[i] = i; // expect: missing-wait c
    set(go);
    finish(go);
    first_block_waits<<<BLOCKS, COUNT>>>(go, input, output); // expect: missing-wait d
    for (int i = 0; i < COUNT; i++)
        input[i] = i; // expect: missing-wait d
    set(go);
    finish(go);
}

static void host_is_wrong(int *go, int *input, int *output)
{
    set(go + 1);
    waits<<<1, COUNT>>>(go + 1, input, output); // expect: missing-wait e
    for (int i = 0; i < COUNT; i++)
        input[i] = i; // expect: missing-wait e
    set(go);
    finish(go);
    waits<<<1, COUNT>>>(go, input, output); // expect: missing-wait f
    set(go);
    for (int i = 0; i < COUNT; i++)
        input[i] = i; // expect: missing-wait f
    finish(go);
    waits<<<1, COUNT>>>(go, input, output); // expect: missing-wait g
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++)
            input[i] = i + round; // expect: missing-wait g
        if (round == 0)
            set(go);
    }
    finish(go);
    waits<<<1, COUNT>>>(go, input, output); // expect: missing-wait h
    for (int i = 0; i < COUNT; i++)
        input[i] = i; // expect: missing-wait h
    *go = 1;
    finish(go);
}

int main()
{
    int *words = NULL;
    SHOW(cudaMallocManaged(&words, (2 * COUNT + 2) * sizeof(int)));
    words[0] = words[1] = 0;
    for (int i = 0; i < COUNT; i++)
        words[2 + i] = 0;
    kernel_is_wrong(words, words + 2, words + 2 + COUNT);
    host_is_wrong(words, words + 2, words + 2 + COUNT);
    SHOW(cudaFree(words));
    return 0;
}

// The host waits for kernels in its own way: by many flags, far apart; by one counter that kernels of several streams
// add to; by an exchange; and kernels wait for the host, who sets plainly what they test by an atomic or look at
// through volatile.
#include "../corpus.h"

enum { FLAGS = 100, APART = 64, STREAMS = 4, THREADS = 32 };

__global__ void tell_by_flag(int *data, volatile int *flag)
{
    *data = 1;
    __threadfence_system();
    *flag = 1;
}

__global__ void tell_by_count(int *data, int *done)
{
    data[threadIdx.x] = 1;
    __syncthreads();
    __threadfence_system();
    if (threadIdx.x == 0)
        atomicAdd_system(done, 1);
}

__global__ void tell_by_exchange(int *data, int *done)
{
    data[threadIdx.x] = 1;
    __syncthreads();
    __threadfence_system();
    if (threadIdx.x == 0)
        atomicExch_system(done, 1);
}

__global__ void wait_for_host(int *go, int *data)
{
    while (atomicCAS_system(go, 1, 2) != 1)
        continue;
    __threadfence_system();
    *data = 3;
}

__global__ void wait_by_adding(int *go, int *data)
{
    while (atomicAdd_system(go, 0) == 0)
        continue;
    __threadfence_system();
    *data = 5;
}

__global__ void wait_and_answer(volatile int *go, int *data)
{
    while (*go == 0)
        continue;
    __threadfence_system();
    *data = 4;
    *go = 0;
}

static int sum_of(const int *data, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += data[i];
    return sum;
}

static void by_many_flags(int *data, int *words)
{
    volatile int *flags = words;
    cudaStream_t stream[FLAGS];
    for (int i = 0; i < FLAGS; i++) {
        flags[i * APART] = data[i] = 0;
        CHECK(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
        tell_by_flag<<<1, 1, 0, stream[i]>>>(data + i, flags + i * APART);
    }
    for (int i = 0; i < FLAGS; i++) {
        while (flags[i * APART] == 0)
            continue;
    }
    REQUIRE(sum_of(data, FLAGS) == FLAGS);
    for (int i = 0; i < FLAGS; i++)
        CHECK(cudaStreamDestroy(stream[i]));
    CHECK(cudaDeviceSynchronize());
}

static void by_one_counter(int *data, int *done)
{
    cudaStream_t stream[STREAMS];
    *done = 0;
    for (int i = 0; i < STREAMS; i++)
        CHECK(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
    for (int i = 0; i < STREAMS; i++)
        tell_by_count<<<1, THREADS, 0, stream[i]>>>(data + THREADS * i, done);
    while (*(volatile int *)done < STREAMS)
        continue;
    REQUIRE(sum_of(data, STREAMS * THREADS) == STREAMS * THREADS);
    for (int i = 0; i < STREAMS; i++)
        CHECK(cudaStreamDestroy(stream[i]));
    CHECK(cudaDeviceSynchronize());
}

static void by_exchange(int *data, int *done)
{
    *done = 0;
    tell_by_exchange<<<1, THREADS>>>(data, done);
    while (__atomic_exchange_n(done, 0, __ATOMIC_ACQ_REL) == 0)
        continue;
    REQUIRE(sum_of(data, THREADS) == THREADS);
    CHECK(cudaDeviceSynchronize());
}

static void waited_for(int *data, int *go)
{
    *go = 0;
    wait_for_host<<<1, 1>>>(go, data);
    *go = 1;
    CHECK(cudaDeviceSynchronize());
    REQUIRE(*data == 3);
    *go = 0;
    wait_and_answer<<<1, 1>>>(go, data);
    *go = 1;
    CHECK(cudaDeviceSynchronize());
    REQUIRE(*data == 4);
    *go = 0;
    wait_by_adding<<<1, 1>>>(go, data);
    *go = 1;
    CHECK(cudaDeviceSynchronize());
    REQUIRE(*data == 5);
}

int main()
{
    int *data = NULL, *words = NULL;
    CHECK(cudaMallocManaged(&data, STREAMS * THREADS * sizeof(int)));
    CHECK(cudaMallocManaged(&words, FLAGS * APART * sizeof(int)));
    by_many_flags(data, words);
    by_one_counter(data, words);
    by_exchange(data, words);
    waited_for(data, words);
    CHECK(cudaFree(data));
    CHECK(cudaFree(words));
    return 0;
}

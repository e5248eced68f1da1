// A kernel runs until it is told to stop: by a thread that watches over the time while another waits for the kernel, or
// by the thread that has launched it and does something else first.
#include "../corpus.h"
#include <chrono>
#include <thread>

__global__ void count(volatile int *stop, unsigned long long *rounds)
{
    unsigned long long done = 0;
    while (*stop == 0)
        done++;
    *rounds = done;
}

static void stop_later(volatile int *stop)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(800));
    *stop = 1;
}

int main()
{
    int *stop = NULL;
    unsigned long long *rounds = NULL;
    CHECK(cudaHostAlloc((void **)&stop, sizeof(int), cudaHostAllocMapped));
    CHECK(cudaMalloc(&rounds, sizeof *rounds));
    *stop = 0;
    std::thread watch(stop_later, stop);
    count<<<1, 1>>>(stop, rounds);
    CHECK(cudaDeviceSynchronize());
    watch.join();

    *stop = 0;
    count<<<1, 1>>>(stop, rounds);
    stop_later(stop);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(rounds));
    CHECK(cudaFreeHost(stop));
    return 0;
}

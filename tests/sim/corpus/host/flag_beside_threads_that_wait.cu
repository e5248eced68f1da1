// The host takes its time before it answers a kernel. Meanwhile one more thread polls a word of the program's own, and
// another waits in the runtime: neither says that the one that is to answer has stopped.
#include "../corpus.h"
#include <atomic>
#include <chrono>
#include <thread>

__global__ void ask(volatile int *ready, volatile int *go, int *out)
{
    *ready = 1;
    __threadfence_system();
    while (*go == 0)
        continue;
    *out = 42;
}

static int *mapped()
{
    int *word = NULL;
    CHECK(cudaHostAlloc((void **)&word, sizeof(int), cudaHostAllocMapped));
    *word = 0;
    return word;
}

static void create_a_stream()
{
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamDestroy(stream));
}

int main()
{
    volatile int *ready = mapped(), *go = mapped();
    int *out = mapped();
    std::atomic<bool> stop{false};
    std::thread polls([&stop] {
        while (!stop.load())
            continue;
    });
    ask<<<1, 1>>>(ready, go, out);
    while (*ready == 0)
        continue;
    std::thread waits(create_a_stream);
    std::this_thread::sleep_for(std::chrono::milliseconds(800));
    *go = 1;
    CHECK(cudaDeviceSynchronize());
    stop = true;
    polls.join();
    waits.join();
    const bool right = *out == 42;
    for (int *word : {(int *)ready, (int *)go, out})
        CHECK(cudaFreeHost(word));
    return right ? 0 : 1;
}

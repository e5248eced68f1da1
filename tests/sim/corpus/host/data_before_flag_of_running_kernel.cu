// The host hands over data by a flag that it sets when the kernel says that it has begun: by then the kernel runs, and
// has looked at the flag in vain. Another thread of the program is in the runtime now and then meanwhile.
#include "../corpus.h"
#include <atomic>
#include <thread>

enum { ROUNDS = 20 };

__global__ void take(volatile int *ready, volatile int *go, const int *data, int *out)
{
    *ready = 1;
    __threadfence_system();
    while (*go == 0)
        continue;
    __threadfence_system();
    *out = *data + 1;
}

static int *mapped()
{
    int *word = NULL;
    CHECK(cudaHostAlloc((void **)&word, sizeof(int), cudaHostAllocMapped));
    *word = 0;
    return word;
}

int main()
{
    volatile int *ready = mapped(), *go = mapped();
    int *data = mapped(), *out = mapped(), wrong = 0;
    std::atomic<bool> stop{false};
    std::thread other([&stop] {
        while (!stop.load()) {
            size_t left = 0, all = 0;
            CHECK(cudaMemGetInfo(&left, &all));
            std::this_thread::yield();
        }
    });
    for (int round = 1; round <= ROUNDS; round++) {
        *ready = 0;
        take<<<1, 1>>>(ready, go, data, out);
        *go = 0; // a set before the data, too
        *data = round;
        while (*ready == 0)
            continue;
        __sync_synchronize();
        *go = 1;
        CHECK(cudaDeviceSynchronize());
        wrong += *out != round + 1;
        *go = 0;
    }
    stop = true;
    other.join();
    for (int *word : {(int *)ready, (int *)go, data, out})
        CHECK(cudaFreeHost(word));
    return wrong;
}

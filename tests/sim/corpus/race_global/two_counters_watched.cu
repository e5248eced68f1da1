// A thread watches two counters that another counts up in turn, until both are far enough. It asks for no order.
#include "../corpus.h"
#include <cuda/atomic>

typedef cuda::atomic<int, cuda::thread_scope_device> word;

enum { ROUNDS = 5 };

__device__ word started, done;

__global__ void work_and_watch(int *rounds)
{
    if (blockIdx.x == 0) {
        for (int i = 1; i <= ROUNDS; i++) {
            started.store(i, cuda::memory_order_relaxed);
            done.store(i, cuda::memory_order_relaxed);
        }
        return;
    }
    while (started.load(cuda::memory_order_relaxed) < ROUNDS || done.load(cuda::memory_order_relaxed) < ROUNDS)
        continue;
    *rounds = done.load(cuda::memory_order_relaxed);
}

int main()
{
    int *rounds = device_zeros<int>(1), host[1];
    work_and_watch<<<2, 1>>>(rounds);
    fetch(host, rounds);
    REQUIRE(host[0] == ROUNDS);
    CHECK(cudaFree(rounds));
    return 0;
}

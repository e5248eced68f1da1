// A sequence lock of relaxed atomics alone: nothing keeps the data between the two looks at the number, or between the
// two stores of it.
#include "../corpus.h"
#include <cuda/atomic>

typedef cuda::atomic<int, cuda::thread_scope_device> word;

enum { ROUNDS = 3 };

__device__ word sequence, first, second;

__global__ void publish_and_read(int *sum)
{
    if (blockIdx.x == 0) {
        for (int i = 1; i <= ROUNDS; i++) {
            sequence.store(2 * i - 1, cuda::memory_order_relaxed);
            first.store(i, cuda::memory_order_relaxed);   // expect: race(warning) a
            second.store(-i, cuda::memory_order_relaxed); // expect: race(warning) b
            sequence.store(2 * i, cuda::memory_order_relaxed);
        }
        return;
    }
    int before, a, b, after;
    do {
        before = sequence.load(cuda::memory_order_relaxed);
        a = first.load(cuda::memory_order_relaxed);  // expect: race(warning) a
        b = second.load(cuda::memory_order_relaxed); // expect: race(warning) b
        after = sequence.load(cuda::memory_order_relaxed);
    } while (before != after || before % 2 != 0 || before == 0);
    *sum = a + b;
}

int main()
{
    int *sum = device_zeros<int>(1), host[1];
    publish_and_read<<<2, 1>>>(sum);
    fetch(host, sum);
    REQUIRE(host[0] == 0);
    CHECK(cudaFree(sum));
    return 0;
}

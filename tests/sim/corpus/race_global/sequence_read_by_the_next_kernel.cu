// What a kernel writes between two writes of a number, the next kernel reads between two looks at it: launches order
// them.
#include "../corpus.h"
#include <cuda/atomic>

typedef cuda::atomic<int, cuda::thread_scope_device> word;

__device__ word sequence, first;

__global__ void publish()
{
    sequence.store(1, cuda::memory_order_relaxed);
    first.store(5, cuda::memory_order_relaxed);
    sequence.store(2, cuda::memory_order_relaxed);
}

__global__ void read(int *value)
{
    int before = sequence.load(cuda::memory_order_relaxed);
    int a = first.load(cuda::memory_order_relaxed);
    int after = sequence.load(cuda::memory_order_relaxed);
    *value = before == after ? a : 0;
}

int main()
{
    int *value = device_zeros<int>(1), host[1];
    publish<<<1, 1>>>();
    read<<<1, 1>>>(value);
    fetch(host, value);
    REQUIRE(host[0] == 5);
    CHECK(cudaFree(value));
    return 0;
}

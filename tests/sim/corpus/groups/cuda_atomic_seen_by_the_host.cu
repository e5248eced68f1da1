// The host waits for a flag of type cuda::atomic that a kernel sets, and then reads what the kernel has written before.
#include <cuda/atomic>

#include "../corpus.h"

typedef cuda::atomic<int, cuda::thread_scope_system> flag;

__global__ void work(int *data, flag *done)
{
    data[0] = 3;
    atomicAdd(&data[1], 5);
    done->store(1, cuda::memory_order_release);
}

int main()
{
    int *data = NULL;
    flag *done = NULL;
    CHECK(cudaMallocManaged(&data, 2 * sizeof(int)));
    CHECK(cudaMallocManaged(&done, sizeof(flag)));
    data[1] = 0;
    done->store(0);
    work<<<1, 1>>>(data, done);
    while (done->load(cuda::memory_order_acquire) == 0)
        continue;
    REQUIRE(data[0] == 3 && data[1] == 5);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    CHECK(cudaFree(done));
    return 0;
}

// cuda::atomic and atomic_ref: release store and acquire load carry the data across blocks.
#include "../corpus.h"
#include <cuda/atomic>

__device__ int payload;

__global__ void pass_on(int *raw_flag, int *output)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(*raw_flag);
    if (blockIdx.x == 0) {
        payload = 42;
        flag.store(1, cuda::memory_order_release);
    } else {
        while (flag.load(cuda::memory_order_acquire) == 0)
            ;
        *output = payload;
    }
}

int main()
{
    int *flag = device_zeros<int>(1), *output = device_zeros<int>(1), result[1];
    pass_on<<<2, 1>>>(flag, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 42);
    CHECK(cudaFree(flag));
    CHECK(cudaFree(output));
    return 0;
}

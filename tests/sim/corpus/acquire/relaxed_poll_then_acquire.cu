// Polling relaxed is cheap; one acquire of the flag, or one fence, behind the loop makes the message certain.
#include <cuda/atomic>

#include "../corpus.h"

__global__ void pass_on(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> to_flag(*flag);
        data[0] = 42;
        to_flag.store(1, cuda::memory_order_release);
        data[1] = 43;
        to_flag.store(2, cuda::memory_order_release);
    } else {
        cuda::atomic_ref<int, cuda::thread_scope_device> to_flag(*flag);
        while (to_flag.load(cuda::memory_order_relaxed) == 0)
            ;
        if (to_flag.load(cuda::memory_order_acquire) == 1)
            output[0] = data[0];
        while (to_flag.load(cuda::memory_order_relaxed) != 2)
            ;
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        output[1] = data[1];
    }
}

int main()
{
    int *data = device_zeros<int>(2), *flag = device_zeros<int>(1), *output = device_zeros<int>(2), result[2];
    pass_on<<<2, 1>>>(data, flag, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[2 - 1] == 43);
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    CHECK(cudaFree(output));
    return 0;
}

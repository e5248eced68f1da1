// The flag is released in due form, but looked at by a relaxed load.
#include <cuda/atomic>

#include "../corpus.h"

__global__ void pass_on(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        *data = 42;
        cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(1, cuda::memory_order_release);
    } else {
        cuda::atomic_ref<int, cuda::thread_scope_device> to_flag(*flag);
        while (to_flag.load(cuda::memory_order_relaxed) == 0) // expect: race(warning) a
            ;
        *output = *data; // expect: race(warning) a
    }
}

int main()
{
    int *data = device_zeros<int>(1), *flag = device_zeros<int>(1), *output = device_zeros<int>(1), result[1];
    pass_on<<<2, 1>>>(data, flag, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[1 - 1] == 42);
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    CHECK(cudaFree(output));
    return 0;
}

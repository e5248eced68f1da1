// Release and acquire of block scope used between blocks.
#include "../corpus.h"
#include <cuda/atomic>

__device__ int payload;

__global__ void pass_on(int *raw_flag, int *output)
{
    cuda::atomic_ref<int, cuda::thread_scope_block> flag(*raw_flag);
    if (blockIdx.x == 0) {
        payload = 42;                              // expect: race a
        flag.store(1, cuda::memory_order_release); // expect: race b
    } else {
        while (flag.load(cuda::memory_order_acquire) == 0) // expect: race b
            ;
        *output = payload; // expect: race a
    }
}

int main()
{
    int *flag = device_zeros<int>(1), *output = device_zeros<int>(1);
    pass_on<<<2, 1>>>(flag, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(flag));
    CHECK(cudaFree(output));
    return 0;
}

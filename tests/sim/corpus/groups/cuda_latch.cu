// Threads of a block and of two blocks wait at latches before they read what the others wrote.
#include <cuda/latch>
#include <new>

#include "../corpus.h"

typedef cuda::latch<cuda::thread_scope_block> block_latch;
typedef cuda::latch<cuda::thread_scope_device> device_latch;

__global__ void turn(int *data)
{
    __shared__ int tile[64];
    __shared__ alignas(block_latch) unsigned char memory[sizeof(block_latch)];
    block_latch *latch = reinterpret_cast<block_latch *>(memory);
    if (threadIdx.x == 0)
        new (latch) block_latch(64);
    __syncthreads();
    tile[threadIdx.x] = data[threadIdx.x];
    latch->arrive_and_wait();
    data[threadIdx.x] = tile[63 - threadIdx.x];
}

__device__ device_latch both(64);

__global__ void exchange(int *data)
{
    data[blockIdx.x * 32 + threadIdx.x] = blockIdx.x;
    both.count_down();
    both.wait();
    int other = data[(1 - blockIdx.x) * 32 + threadIdx.x];
    data[64 + blockIdx.x * 32 + threadIdx.x] = 10 * other + both.try_wait();
}

int main()
{
    int *data = device_ramp<int>(64, 0, 1), turned[64];
    int *pairs = device_zeros<int>(128), exchanged[128];
    turn<<<1, 64>>>(data);
    fetch(turned, data);
    REQUIRE(turned[0] == 63 && turned[63] == 0);
    exchange<<<2, 32>>>(pairs);
    fetch(exchanged, pairs);
    REQUIRE(exchanged[64] == 11 && exchanged[127] == 1);
    CHECK(cudaFree(data));
    CHECK(cudaFree(pairs));
    return 0;
}

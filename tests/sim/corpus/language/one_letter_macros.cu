// flags: -DA=1 -DC=2 -DK=3 -DM=64 -DF=int -DP. Macros of one letter from the command line mean nothing to CUDA's headers.
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <mma.h>

__device__ unsigned lane()
{
    unsigned number;
    asm("mov.u32 %0, %%laneid;" : "=r"(number));
    return number;
}

__global__ void sum(F *out)
{
    auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
    F total = cooperative_groups::reduce(tile, F(A + C + K + P), cooperative_groups::plus<F>());
    cuda::atomic_ref<F, cuda::thread_scope_device> word(*out);
    if (lane() == 0)
        word.fetch_add(total, cuda::memory_order_relaxed);
}

int main()
{
    F *out = device_zeros<F>(1), result[1];
    sum<<<1, M>>>(out);
    fetch(result, out);
    REQUIRE(result[0] == M * (1 + 2 + 3 + 1));
    CHECK(cudaFree(out));
    return 0;
}

// Threads of two warps read a word and count themselves by cuda::atomic_ref; who sees all of them counted may write it.
#include "../corpus.h"

#include <cuda/atomic>

__global__ void hand_over(int *word, int *readers, int *output)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> counted(*readers);
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    output[i] = *word;
    if (counted.fetch_add(1, cuda::memory_order_acq_rel) == all - 1)
        *word = 7;
}

int main()
{
    int *word = device_zeros<int>(1), *readers = device_zeros<int>(1), *output = device_zeros<int>(128), result[1];
    hand_over<<<2, 64>>>(word, readers, output);
    CHECK(cudaGetLastError());
    fetch(result, word);
    REQUIRE(result[0] == 7);
    cudaFree(word), cudaFree(readers), cudaFree(output);
}

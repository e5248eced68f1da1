// Threads of two warps read a word, meet at a cuda::barrier, and one of them writes it again: the barrier orders all of
// the reads before the write, without a fence anywhere in the program.
#include "../corpus.h"

#include <cuda/barrier>

__global__ void rounds(int *output)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> meeting;
    __shared__ int round;
    if (threadIdx.x == 0)
        init(&meeting, blockDim.x);
    __syncthreads();
    int sum = 0;
    for (int i = 1; i <= 3; i++) {
        if (threadIdx.x == 0)
            round = i;
        meeting.arrive_and_wait();
        sum += round;
        meeting.arrive_and_wait();
    }
    output[threadIdx.x] = sum;
}

int main()
{
    int *output = device_zeros<int>(64), result[64];
    rounds<<<1, 64>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 6 && result[63] == 6);
    cudaFree(output);
}

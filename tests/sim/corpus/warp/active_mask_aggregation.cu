// Warp-aggregated increment with __activemask, __popc and a broadcast from the first lane.
#include "../corpus.h"

__device__ int aggregated_increment(int *counter)
{
    unsigned active = __activemask();
    int leader = __ffs(active) - 1, lane = threadIdx.x % 32, first = 0;
    if (lane == leader)
        first = atomicAdd(counter, __popc(active));
    first = __shfl_sync(active, first, leader);
    return first + __popc(active & ((1u << lane) - 1));
}

__global__ void filter(const int *input, int *output, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && input[i] % 3 == 0)
        output[aggregated_increment(count)] = input[i];
}

int main()
{
    int *input = device_ramp(300, 0, 1), *output = device_zeros<int>(300), *count = device_zeros<int>(1);
    int kept[300], total[1], sum = 0;
    filter<<<3, 128>>>(input, output, count, 300);
    CHECK(cudaGetLastError());
    fetch(kept, output);
    fetch(total, count);
    REQUIRE(total[0] == 100);
    for (int i = 0; i < 100; i++)
        sum += kept[i];
    REQUIRE(sum == 3 * 99 * 100 / 2);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    CHECK(cudaFree(count));
    return 0;
}

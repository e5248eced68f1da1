// A coalesced group in a branch takes one place for all its threads with a single atomic.
#include "../corpus.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ int next_place(int *count)
{
    cg::coalesced_group active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0)
        first = atomicAdd(count, (int)active.size());
    return active.shfl(first, 0) + active.thread_rank();
}

__global__ void odd(const int *input, int *output, int *count)
{
    int value = input[threadIdx.x];
    if (value % 2)
        output[next_place(count)] = value;
}

int main()
{
    int *input = device_ramp(96, 0, 1), *output = device_zeros<int>(96), *count = device_zeros<int>(1);
    int kept[96], total[1], sum = 0;
    odd<<<1, 96>>>(input, output, count);
    CHECK(cudaGetLastError());
    fetch(kept, output);
    fetch(total, count);
    for (int i = 0; i < 48; i++)
        sum += kept[i];
    REQUIRE(total[0] == 48 && sum == 48 * 48);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    CHECK(cudaFree(count));
    return 0;
}

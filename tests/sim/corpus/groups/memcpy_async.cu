// cooperative_groups::memcpy_async and wait.
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

namespace cg = cooperative_groups;

__global__ void reverse(const int *input, int *output)
{
    __shared__ int tile[128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, input, sizeof tile);
    cg::wait(block);
    output[threadIdx.x] = tile[127 - threadIdx.x];
}

int main()
{
    int *input = device_ramp(128, 0, 1), *output = device_zeros<int>(128), result[128];
    reverse<<<1, 128>>>(input, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 128; i++)
        REQUIRE(result[i] == 127 - i);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}

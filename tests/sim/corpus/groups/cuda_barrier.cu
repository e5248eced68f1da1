// cuda::barrier: arrive and wait, split and together.
#include "../corpus.h"
#include <cuda/barrier>
#include <utility>

__global__ void reverse(int *data)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    tile[t] = data[t];
    auto token = bar.arrive();
    int own = t * 2;
    bar.wait(std::move(token));
    int other = tile[63 - t];
    bar.arrive_and_wait();
    tile[t] = own + other;
    bar.arrive_and_wait();
    data[t] = tile[63 - t];
}

int main()
{
    int *data = device_ramp(64, 0, 1), result[64];
    reverse<<<1, 64>>>(data);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == 2 * (63 - i) + i);
    CHECK(cudaFree(data));
    return 0;
}

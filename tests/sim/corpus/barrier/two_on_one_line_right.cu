// Two barriers on one line that all threads pass, one after the other, in a loop that the compiler may unroll.
#include "../corpus.h"

__global__ void rotate(int *data)
{
    __shared__ int box[64];
    int t = threadIdx.x, value = data[t];
#pragma unroll
    for (int round = 0; round < 4; round++) {
        // clang-format off
        box[t] = value; __syncthreads(); value = box[(t + 1) % 64]; int all = __syncthreads_and(value >= 0);
        // clang-format on
        value += all;
    }
    data[t] = value;
}

int main()
{
    int *data = device_ramp(64, 0, 1), result[64];
    rotate<<<1, 64>>>(data);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == (i + 4) % 64 + 4);
    CHECK(cudaFree(data));
    return 0;
}

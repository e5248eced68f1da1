// A warp of which 20 lanes have data is summed by shuffles down: a lane without a partner throws away what it gets.
#include "../corpus.h"

__global__ void sum(const int *input, int *output, int n)
{
    int lane = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned inside = __ballot_sync(0xffffffffu, i < n);
    if (i >= n)
        return;
    int value = input[i], again = 2 * value, count = __popc(inside);
    for (int step = 16; step > 0; step /= 2) {
        int other = __shfl_down_sync(inside, value, step), same = __shfl_down_sync(inside, again, step);
        if (lane + step < count) {
            value += other;
            again += same;
        }
    }
    if (lane == 0)
        output[i / 32] = value + again;
}

int main()
{
    int *input = device_ramp(102, 1, 1), *output = device_zeros<int>(4), result[4];
    sum<<<2, 64>>>(input, output, 84);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 3 * 32 * 33 / 2 && result[2] == 3 * (84 * 85 / 2 - 64 * 65 / 2));
    sum<<<2, 64>>>(input, output, 69);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[2] == 3 * (65 + 66 + 67 + 68 + 69));
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}

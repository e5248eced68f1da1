// The last lane inside the array reads from one outside and throws the value away: harmless.
#include "../corpus.h"

__global__ void pairs(const int *input, int *output, int n)
{
    int t = threadIdx.x;
    unsigned inside = __ballot_sync(0xffffffffu, t < n);
    if (t < n) {
        int next = __shfl_down_sync(inside, input[t], 1);
        output[t] = t + 1 < n ? input[t] + next : input[t];
    }
}

int main()
{
    int *input = device_ramp(32, 0, 1), *output = device_zeros<int>(32), result[32];
    pairs<<<1, 32>>>(input, output, 20);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == (i < 19 ? 2 * i + 1 : i == 19 ? 19 : 0));
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}

// __syncthreads_count, _and and _or.
#include "../corpus.h"

__global__ void vote(int *output)
{
    int t = threadIdx.x;
    int count = __syncthreads_count(t % 3 == 0);
    int all = __syncthreads_and(t < 96), none = __syncthreads_and(t < 95);
    int any = __syncthreads_or(t == 50), no = __syncthreads_or(t > 96);
    output[t] = count * 10000 + all * 1000 + none * 100 + any * 10 + no;
}

int main()
{
    int *output = device_zeros<int>(96), result[96];
    vote<<<1, 96>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 96; i++)
        REQUIRE(result[i] == 32 * 10000 + 1000 + 10);
    CHECK(cudaFree(output));
    return 0;
}

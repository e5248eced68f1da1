// Structures that a template with several arguments returns, stored by an index, by a pointer that steps on and into a
// variable of a namespace: every one is written, though the function is not inlined.
#include "../corpus.h"

struct state {
    float at[6];
};

namespace kept
{
__device__ state last;
}

template <typename T, int N> __device__ __noinline__ T scaled(int i)
{
    T made;
    for (int k = 0; k < 6; k++)
        made.at[k] = (float)(N * i + k);
    return made;
}

__device__ __noinline__ state plain(int i)
{
    return scaled<state, 3>(i);
}

__global__ void fill(float *output)
{
    __shared__ state products[32], stepped[32];
    int i = threadIdx.x;
    state *next = stepped + i;
    products[i] = scaled<state, 2>(i);
    *next++ = plain(i);
    if (i == 3)
        kept::last = plain(8);
    __syncthreads();
    output[i] = products[31 - i].at[1] + stepped[31 - i].at[2] + kept::last.at[3];
}

int main()
{
    float *output = device_zeros<float>(32), result[32];
    fill<<<1, 32>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == 2 * (31 - i) + 1 + 3 * (31 - i) + 2 + 3 * 8 + 3);
    CHECK(cudaFree(output));
    return 0;
}

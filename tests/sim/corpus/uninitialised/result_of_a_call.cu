// Structures that a function returns, stored where it was called: every one is written, though the function is not
// inlined.
#include "../corpus.h"

struct state {
    float at[6];
};
struct vector {
    float x, y, z;
};
union bits {
    float number;
    unsigned word;
};

__device__ __noinline__ float2 pair_of(int i)
{
    return make_float2((float)i, (float)-i);
}

__device__ __noinline__ state state_of(int i)
{
    state made;
    for (int k = 0; k < 6; k++)
        made.at[k] = (float)(i + k);
    return made;
}

struct row {
    int first;
    __device__ __noinline__ state operator[](int i) const
    {
        return state_of(first + i);
    }
};

__device__ __noinline__ vector operator+(const vector &a, const vector &b)
{
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}

__device__ __noinline__ bits bits_of(float number)
{
    bits made;
    made.number = number;
    return made;
}

__global__ void fill(float *output)
{
    __shared__ float2 pairs[32], chosen[32];
    __shared__ state states[32], first, indexed[32];
    __shared__ vector sums[32], *last;
    __shared__ bits words[32];
    int i = threadIdx.x, other = 31 - i;
    pairs[i] = pair_of(i);
    chosen[i] = i % 2 ? pair_of(i) : make_float2(0, 0);
    *(states + i) = state_of(i);
    words[i] = bits_of((float)i);
    const row from = {1};
    indexed[i] = from[i];
    const vector a = {1, 2, 3}, b = {(float)i, 0, 0};
    sums[i] = a + b;
    if (i == 0)
        first = state_of(7);
    if (i == 1)
        last = &sums[31];
    __syncthreads();
    if (i == 2)
        *last = a + b;
    __syncthreads();
    output[i] = pairs[other].y + chosen[other].x + states[other].at[5] + words[other].number + sums[31].x +
                first.at[0] + indexed[other].at[0];
}

int main()
{
    float *output = device_zeros<float>(32), result[32];
    fill<<<1, 32>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == -(31 - i) + ((31 - i) % 2 ? 31 - i : 0) + (31 - i + 5) + (31 - i) + 3 + 7 + (32 - i));
    CHECK(cudaFree(output));
    return 0;
}

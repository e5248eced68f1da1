// Shifts by as many bits as there are, and by more, shift everything out, as a GPU does. Whatever else looks like a
// shift, or is one of a constant, stays what it was.
#include "../corpus.h"

struct pair {
    int first;
    unsigned second : 5;
    __device__ pair operator<<(int count) const
    {
        return {first << count, second};
    }
};
template <class Type> struct box {
    Type value;
};
template <int Bits> __device__ int row(int index)
{
    __shared__ int table[1 << Bits];
    constexpr int size = 1 << Bits;
    if (index == 0)
        for (int i = 0; i < size; i++)
            table[i] = i << Bits;
    __syncthreads();
    return table[size - 1];
}

__global__ void shift(const int *counts, long long *output)
{
    int all = counts[0], one = counts[1];
    unsigned number = 0x80000001u;
    long long wide = -5;
    volatile unsigned char small = 3;
    pair both = {1, 31};
    box<box<int>> nested = {{7}};
    int k = 0;
    output[k++] = number << all;
    output[k++] = number >> all;
    output[k++] = -5 >> all;
    output[k++] = (1u << all) - 1;
    output[k++] = wide << 2 * all;
    output[k++] = wide >> 2 * all;
    output[k++] = wide << all >> all;
    output[k++] = small << all - 8 | one << one + 1;
    output[k++] = (both << one).first + (both.second << one) + (nested.value.value >> one);
    output[k++] = all == 32 ? number << one : number >> one;
    output[k++] = row<4>(threadIdx.x);
    auto twice = [=](int value) { return value << one; };
    output[k++] = twice(21);
}

int main()
{
    static const long long expected[] = {0, 0, -1, 0xffffffffll, 0, -1, -5, 3 << 24 | 4, 67, 2, 240, 42};
    const int counts[] = {32, 1};
    int *device = device_copy(counts);
    long long *output = device_zeros<long long>(12), result[12];
    shift<<<1, 1>>>(device, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 12; i++)
        REQUIRE(result[i] == expected[i]);
    CHECK(cudaFree(device));
    CHECK(cudaFree(output));
    return 0;
}

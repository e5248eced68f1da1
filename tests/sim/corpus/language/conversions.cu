// Numbers out of range become the nearest integer there is, NaN becomes 0, whatever the host does. Whatever else is
// cast or declared stays what it was: constants, pointers, enumerations, objects, bit-fields.
#include "../corpus.h"

#include <climits>
#include <cmath>
#include <cstdint>

enum class colour { red = 1, green = 7 };
struct money {
    float amount;
    __host__ __device__ operator int() const
    {
        return (int)(amount * 100);
    }
};
struct fields {
    unsigned low : 4;
};
__device__ int twice(int value)
{
    return 2 * value;
}
template <class Type, int Size> __device__ int rows(Type value)
{
    const int half = Size / (int)sizeof(Type), count = int(2.5f * Size);
    __shared__ Type table[half + (int)2.75f];
    int (*function)(int) = twice;
    table[0] = value;
    return function(int(table[0])) + half + count;
}

__global__ void convert(const float *in, long long *output)
{
    float large = in[0], small = in[1], nothing = in[2], one = in[3];
    fields bits = {5};
    money cash = {1.25f};
    int k = 0, a = large, b = small, *pointer = &a;
    unsigned c = small, d = (unsigned)large, e = nothing;
    long long offset = (long long)(pointer + 1) - (long long)pointer, wide = (double)large * large;
    output[k++] = a;
    output[k++] = b;
    output[k++] = c;
    output[k++] = d;
    output[k++] = e + (int)nothing + static_cast<unsigned>(nothing);
    output[k++] = offset;
    output[k++] = wide;
    output[k++] = (int)colour::green + (int)bits.low + int(bits.low) + static_cast<int>(colour::red);
    int coins = cash, again = (int)cash;
    output[k++] = coins + again + static_cast<int>(cash);
    output[k++] = rows<float, 32>(one);
    output[k++] = (uint8_t)(one * 300) + int8_t(-one) + std::uint16_t(one * 65537);
    output[k++] = lrintf(large) == LLONG_MAX ? 1 : lrintf(2.5f * one) + llround(2.5 * one);
    auto narrow = [=](float value) { return (short)value; };
    output[k++] = narrow(-3.75f) > (int)-one;
}

int main()
{
    static const long long expected[] = {INT_MAX,       INT_MIN, 0,          UINT_MAX,   0, 4, LLONG_MAX,
                                         7 + 5 + 5 + 1, 375,     2 + 8 + 80, 44 - 1 + 1, 5, 0};
    const float in[] = {1e12f, -1e12f, NAN, 1};
    float *device = device_copy(in);
    long long *output = device_zeros<long long>(13), result[13];
    convert<<<1, 1>>>(device, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 13; i++)
        REQUIRE(result[i] == expected[i]);
    CHECK(cudaFree(device));
    CHECK(cudaFree(output));
    return 0;
}

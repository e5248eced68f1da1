// Integers divided by zero: a GPU goes on, with all bits set for a quotient and the dividend for a remainder.
#include "../corpus.h"

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

template <class Type> __host__ __device__ Type ratio(Type a, Type b)
{
    return a / b; // expect: division-by-zero
}

__global__ void divide(const int *by, long long *output)
{
    int zero = by[0], k = 0, seven = 7;
    unsigned rest = 9;
    output[k++] = seven / zero; // expect: division-by-zero
    output[k++] = seven % zero; // expect: division-by-zero
    seven /= zero;              // expect: division-by-zero
    rest %= zero;               // expect: division-by-zero
    output[k++] = seven;
    output[k++] = rest;
    output[k++] = CEIL_DIV(8, zero); // expect: division-by-zero
    output[k++] = ratio(5, zero);
}

int main()
{
    static const long long expected[] = {-1, 7, -1, 9, -1, -1};
    const int zero[] = {0};
    int *by = device_copy(zero);
    long long *output = device_zeros<long long>(6), result[6];
    divide<<<1, 1>>>(by, output);
    SHOW(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 6; i++)
        REQUIRE(result[i] == expected[i]);
    REQUIRE(ratio(9, 3) + CEIL_DIV(7, 2) == 7);
    SHOW(cudaFree(by));
    SHOW(cudaFree(output));
    return 0;
}

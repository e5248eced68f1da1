// Variables of the card of every kind and size, used to their first and last bytes, by pointers and in functions.
#include "../corpus.h"

struct pair {
    char tag;
    double value;
};

__device__ int first[8];
__device__ char odd[7] = "device";
__device__ __align__(1024) double aligned[3];
__constant__ float weights[5] = {1, 2, 3, 4, 5};
__constant__ pair pairs[3] = {{'a', 1}, {'b', 2}, {'c', 3}};
__managed__ int counts[4];
static __device__ short small_ones[3] = {1, 2, 3};
__device__ int single = 5;
__device__ const char *name = "a literal";
__device__ int *where = first;
namespace inner
{
__device__ int nested[2][3] = {{1, 2, 3}, {4, 5, 6}};
}
template <class T> __device__ T of_template = T(7);
__device__ __align__(16) float large[5000];
__device__ const int steps[4] = {1, 0, -1, 0};
static __constant__ const char letters[] = "constant";
constexpr double factors[3] = {1, 2, 3};

template <class T> __device__ __noinline__ T total(const T *from, int count)
{
    T sum = 0;
    for (int i = 0; i < count; i++)
        sum += from[i];
    return sum;
}

__global__ void use(double *output)
{
    int *p = first, *q = &inner::nested[0][0];
    for (int i = 0; i < 8; i++)
        p[i] = i;
    for (int i = 0; i < 4; i++)
        counts[i] = i;
    const float4 *wide = (const float4 *)large;
    double sum = total(p, 8) + total(weights, 5) + total(small_ones, 3) + total(q, 6) + pairs[2].value + single;
    aligned[2] = sum;
    sum += total(aligned + 2, 1) + odd[5] + name[8] + where[7] + of_template<int> + wide[1249].w;
    const char *bytes = (const char *)pairs;
    sum += bytes[2 * sizeof(pair)] + total(counts, 4);
    const double *constants = factors;
    sum += total(steps, 4) + total(letters + 7, 1) + total(constants, 3);
    output[0] = sum;
}

int main()
{
    double *output = device_zeros<double>(1), host[1];
    use<<<1, 1>>>(output);
    CHECK(cudaDeviceSynchronize());
    fetch(host, output);
    REQUIRE(host[0] == 2 * (28 + 15 + 6 + 21 + 3 + 5) + 'e' + 'l' + 7 + 7 + 'c' + 6 + 't' + 6);
    REQUIRE(counts[3] == 3);
    float *start, ends[2];
    size_t bytes;
    CHECK(cudaGetSymbolAddress((void **)&start, large));
    CHECK(cudaGetSymbolSize(&bytes, large));
    CHECK(cudaMemset(start, 0, bytes));
    CHECK(cudaMemcpyFromSymbol(ends, large, sizeof ends, bytes - sizeof ends));
    REQUIRE(ends[1] == 0);
    CHECK(cudaFree(output));
    return 0;
}

// Variables of the card whose values constructors make from arguments.
#include "../corpus.h"

struct scale {
    int factor, offset;
    __host__ __device__ constexpr scale(int f, int o = 0) : factor(f), offset(o)
    {
    }
};

constexpr int SIZE = 6;
__device__ scale twice(2), half_of_size(SIZE / 2, 1);
__constant__ scale three(-3 + SIZE);

__global__ void apply(int *data)
{
    int t = threadIdx.x;
    data[t] = data[t] * twice.factor * three.factor + half_of_size.factor + half_of_size.offset;
    if (t == 0)
        twice.offset = 5;
}

int main()
{
    int host[32], *data = device_ramp(32, 0, 1);
    apply<<<1, 32>>>(data);
    fetch(host, data);
    for (int i = 0; i < 32; i++)
        REQUIRE(host[i] == i * 6 + 4);
    scale back(0);
    CHECK(cudaMemcpyFromSymbol(&back, twice, sizeof back));
    REQUIRE(back.factor == 2 && back.offset == 5);
    CHECK(cudaFree(data));
    return 0;
}

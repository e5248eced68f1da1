// Variables of the card whose type is named with struct, or written out where they are declared.
#include "../corpus.h"

struct params {
    int a;
    float b[8];
};
__constant__ struct params given;
__device__ struct params kept[4];
__managed__ struct {
    int sum;
} total;
__device__ enum shade { DARK, LIGHT } seen;

__global__ void use(int *output)
{
    kept[1].a = given.a;
    seen = LIGHT;
    total.sum = kept[1].a + seen;
    *output = total.sum;
}

int main()
{
    struct params host = {3, {0}};
    int *output = device_zeros<int>(1), result[1];
    CHECK(cudaMemcpyToSymbol(given, &host, sizeof host));
    use<<<1, 1>>>(output);
    fetch(result, output);
    REQUIRE(result[0] == 4 && total.sum == 4);
    CHECK(cudaFree(output));
    return 0;
}

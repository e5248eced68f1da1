// A __managed__ variable used on both sides.
#include "../corpus.h"

__managed__ int counter;
__managed__ float table[32];

__global__ void count()
{
    atomicAdd(&counter, 1);
    table[threadIdx.x] *= 2;
}

int main()
{
    counter = 100;
    for (int i = 0; i < 32; i++)
        table[i] = (float)i;
    count<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
    REQUIRE(counter == 132);
    for (int i = 0; i < 32; i++)
        REQUIRE(table[i] == 2 * i);
    return 0;
}

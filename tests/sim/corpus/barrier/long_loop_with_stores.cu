// A long loop that ends: of all that it depends on, only a number in global memory changes from round to round.
#include "../corpus.h"

__global__ void count(int *number, int most)
{
    while (*number < most) {
        *number = *number + 1;
        asm volatile("" ::: "memory"); // no round is left out
    }
}

int main()
{
    int *number = device_zeros<int>(1), host[1];
    count<<<1, 1>>>(number, 8000000);
    fetch(host, number);
    REQUIRE(host[0] == 8000000);
    CHECK(cudaFree(number));
    return 0;
}

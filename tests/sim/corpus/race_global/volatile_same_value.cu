// Several blocks set a volatile mark, all to the same value: formally a race, but every order gives the same.
#include "../corpus.h"

__global__ void find(const int *input, volatile int *found)
{
    if (input[blockIdx.x] > 4)
        *found = 1; // expect: race(warning)
}

int main()
{
    int *input = device_ramp<int>(16, 0, 1), *found = device_zeros<int>(1), result[1];
    find<<<16, 1>>>(input, found);
    SHOW(cudaGetLastError());
    fetch(result, found);
    REQUIRE(result[0] == 1);
    CHECK(cudaFree(input));
    CHECK(cudaFree(found));
    return 0;
}

// A flag polled through volatile with fences around: works on every GPU, but the flag's own accesses race formally.
#include "../corpus.h"

__global__ void pass_on(int *data, volatile int *flag, int *output)
{
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1; // expect: race(warning) a
    } else {
        while (*flag == 0) // expect: race(warning) a
            ;
        __threadfence();
        *output = *data;
    }
}

int main()
{
    int *data = device_zeros<int>(1), *flag = device_zeros<int>(1), *output = device_zeros<int>(1), result[1];
    pass_on<<<2, 1>>>(data, flag, output);
    SHOW(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 42);
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    CHECK(cudaFree(output));
    return 0;
}

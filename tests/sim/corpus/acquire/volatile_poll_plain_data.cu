// A flag is polled through volatile, and the message behind it is read plainly.
#include "../corpus.h"

__global__ void pass_on(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (*(volatile int *)flag == 0) // expect: race(warning) a
            ;
        *output = *data; // expect: race(warning) a
    }
}

int main()
{
    int *data = device_zeros<int>(1), *flag = device_zeros<int>(1), *output = device_zeros<int>(1), result[1];
    pass_on<<<2, 1>>>(data, flag, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[1 - 1] == 42);
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    CHECK(cudaFree(output));
    return 0;
}

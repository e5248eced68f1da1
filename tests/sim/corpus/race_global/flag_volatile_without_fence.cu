// A volatile flag with no fence: the data may arrive after the flag.
#include "../corpus.h"

__global__ void pass_on(int *data, volatile int *flag, int *output)
{
    if (blockIdx.x == 0) {
        *data = 42; // expect: race a
        *flag = 1;  // expect: race(warning) b
    } else {
        while (*flag == 0) // expect: race(warning) b
            ;
        *output = *data; // expect: race a
    }
}

int main()
{
    int *data = device_zeros<int>(1), *flag = device_zeros<int>(1), *output = device_zeros<int>(1);
    pass_on<<<2, 1>>>(data, flag, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    CHECK(cudaFree(output));
    return 0;
}

// A flag between blocks with __threadfence_block: too narrow.
#include "../corpus.h"

__global__ void pass_on(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        *data = 42; // expect: race a
        __threadfence_block();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0)
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

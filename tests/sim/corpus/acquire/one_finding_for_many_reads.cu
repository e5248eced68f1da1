// Three reads behind one flag lack one fence: that is one finding, at the first of them.
#include "../corpus.h"

__global__ void pass_on(int *data, int *flag, int *output)
{
    if (blockIdx.x == 0) {
        for (int i = 0; i < 3; i++)
            data[i] = 42 + i;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) // expect: race(warning) a
            ;
        int first = data[0]; // expect: race(warning) a
        int second = data[1];
        output[0] = first;
        output[1] = second;
        output[2] = data[2];
    }
}

int main()
{
    int *data = device_zeros<int>(3), *flag = device_zeros<int>(1), *output = device_zeros<int>(3), result[3];
    pass_on<<<2, 1>>>(data, flag, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[3 - 1] == 44);
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    CHECK(cudaFree(output));
    return 0;
}

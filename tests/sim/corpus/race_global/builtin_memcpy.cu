// Every thread copies another value over the same twelve bytes.
#include "../corpus.h"

__global__ void scatter(int *output)
{
    int three[3] = {1, 2, (int)threadIdx.x};
    __builtin_memcpy(output, three, sizeof three); // expect: race
}

int main()
{
    int *output = device_zeros<int>(4), result[4];
    scatter<<<1, 64>>>(output);
    SHOW(cudaGetLastError());
    fetch(result, output);
    CHECK(cudaFree(output));
    return 0;
}

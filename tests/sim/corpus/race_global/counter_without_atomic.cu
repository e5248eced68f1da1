// Blocks add to one counter with a plain ++: its read and its write race with the writes of others. Which of the two is
// shown and which is told in the note is up to which blocks run at once.
// note: also seen as
// cure: __threadfence
#include "../corpus.h"

__global__ void count(const int *data, int *counter)
{
    if (data[blockIdx.x * blockDim.x + threadIdx.x] % 2 == 0)
        ++*counter; // expect: race
}

int main()
{
    int *data = device_ramp(256, 0, 1), *counter = device_zeros<int>(1);
    count<<<4, 64>>>(data, counter);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    CHECK(cudaFree(counter));
    return 0;
}

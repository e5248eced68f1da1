// cudaDeviceReset gives everything back: no leak.
#include "../corpus.h"

int main()
{
    int *data = NULL;
    CHECK(cudaMalloc(&data, 256));
    CHECK(cudaMemset(data, 0, 256));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDeviceReset());
    return 0;
}

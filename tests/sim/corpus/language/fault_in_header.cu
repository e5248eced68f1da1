// A fault inside an included header is found at the header's line.
#include "../corpus.h"
#include "fault_in_header.cuh"

int main()
{
    int *data = device_zeros<int>(1);
    racy_header<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}

// A launch inside an included header.
#include "../corpus.h"
#include "launch_in_header.cuh"

int main()
{
    int *data = device_ramp(32, 0, 1), result[32];
    run_from_header(data, 5);
    CHECK(cudaGetLastError());
    fetch(result, data);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == i + 5);
    CHECK(cudaFree(data));
    return 0;
}

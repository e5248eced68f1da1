// Calls that may fail are asked and their answer is used: nothing to report.
#include "../corpus.h"

int main()
{
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    REQUIRE(devices >= 1);
    REQUIRE(cudaSetDevice(devices + 7) == cudaErrorInvalidDevice); // allow: bad-call; allow: bad-call(warning)
    REQUIRE(cudaGetLastError() == cudaErrorInvalidDevice);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    CHECK(cudaSetDevice(0));
    return 0;
}

// Device properties and attributes make sense together.
#include "../corpus.h"
#include <string.h>

int main()
{
    cudaDeviceProp p;
    int value = 0, device = -1, driver = 0, runtime = 0;
    CHECK(cudaGetDeviceProperties(&p, 0));
    REQUIRE(strlen(p.name) > 0 && p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.multiProcessorCount > 0);
    REQUIRE(p.sharedMemPerBlock == 48 * 1024 && p.totalGlobalMem > (size_t)1 << 30 && p.major >= 7);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    REQUIRE(value == p.multiProcessorCount);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    REQUIRE((size_t)value == p.sharedMemPerBlockOptin);
    CHECK(cudaGetDevice(&device));
    REQUIRE(device == 0);
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    REQUIRE(driver >= runtime && runtime >= 11000);
    return 0;
}

// memcpy instead of cudaMemcpy.
#include "../corpus.h"
#include <string.h>

int main()
{
    int host[256], *data = device_zeros<int>(256);
    volatile size_t bytes = sizeof host;
    memset(host, 0, bytes);
    memcpy(data, host, bytes); // expect: device-pointer
    CHECK(cudaFree(data));
    return 0;
}

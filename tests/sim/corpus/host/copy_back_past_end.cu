// A copy from the card longer than the allocation.
#include "../corpus.h"

int main()
{
    static int host[128];
    int *data = device_zeros<int>(64);
    SHOW(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost)); // expect: out-of-bounds
    CHECK(cudaFree(data));
    return 0;
}

// main reads device memory directly.
#include "../corpus.h"

int main()
{
    int *data = device_zeros<int>(64);
    printf("%d\n", data[3]); // expect: device-pointer
    CHECK(cudaFree(data));
    return 0;
}

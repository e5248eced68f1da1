// One line of host code reads host memory before the first CUDA call, and device memory after it.
#include "../corpus.h"

__attribute__((noinline)) static int element(const int *data, int i)
{
    return data[i]; // expect: device-pointer
}

int main()
{
    int host[64] = {1};
    int sum = element(host, 0) + element(host, 63);
    int *data = device_zeros<int>(64);
    sum += element(data, 3);
    printf("%d\n", sum);
    CHECK(cudaFree(data));
    return 0;
}

// A pointer into the middle of an allocation is freed.
#include "../corpus.h"

int main()
{
    int *data = device_zeros<int>(64);
    SHOW(cudaFree(data + 1)); // expect: invalid-free
    SHOW(cudaFree(data));
    return 0;
}

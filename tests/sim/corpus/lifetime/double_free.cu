// The same pointer freed twice.
#include "../corpus.h"

int main()
{
    int *data = device_zeros<int>(64), *copy = data;
    SHOW(cudaFree(data));
    SHOW(cudaFree(copy)); // expect: invalid-free
    return 0;
}

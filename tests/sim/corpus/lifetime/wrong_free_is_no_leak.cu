// Memory that the program tried to free with a function that cannot is told of there, and not as a leak besides.
#include "../corpus.h"

int main()
{
    int *managed = NULL, *pinned = NULL, *device = device_zeros<int>(64), *middle = device_zeros<int>(64);
    CHECK(cudaMallocManaged(&managed, 256));
    CHECK(cudaMallocHost(&pinned, 256));
    free(managed);              // expect: invalid-free
    SHOW(cudaFree(pinned));     // expect: invalid-free
    SHOW(cudaFreeHost(device)); // expect: invalid-free
    SHOW(cudaFree(middle + 1)); // expect: invalid-free
    int *kept = NULL;
    CHECK(cudaMalloc(&kept, 256)); // expect: leak(warning)
    CHECK(cudaFree(middle));
    return 0;
}

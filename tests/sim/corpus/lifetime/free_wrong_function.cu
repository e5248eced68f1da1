// Pinned memory freed with cudaFree, device memory with cudaFreeHost.
#include "../corpus.h"

int main()
{
    int *pinned = NULL, *device = NULL;
    CHECK(cudaMallocHost(&pinned, 256));
    CHECK(cudaMalloc(&device, 256));
    SHOW(cudaFree(pinned));     // expect: invalid-free
    SHOW(cudaFreeHost(device)); // expect: invalid-free
    SHOW(cudaFreeHost(pinned));
    SHOW(cudaFree(device));
    return 0;
}

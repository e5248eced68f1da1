// What cudaPointerGetAttributes says of each kind of memory.
#include "../corpus.h"

int main()
{
    int *device = NULL, *pinned = NULL, *managed = NULL;
    cudaPointerAttributes attributes;
    CHECK(cudaMalloc(&device, 64));
    CHECK(cudaMallocHost(&pinned, 64));
    CHECK(cudaMallocManaged(&managed, 64));
    CHECK(cudaPointerGetAttributes(&attributes, device));
    REQUIRE(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == device);
    CHECK(cudaPointerGetAttributes(&attributes, pinned));
    REQUIRE(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == pinned);
    CHECK(cudaPointerGetAttributes(&attributes, managed));
    REQUIRE(attributes.type == cudaMemoryTypeManaged);
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(managed));
    return 0;
}

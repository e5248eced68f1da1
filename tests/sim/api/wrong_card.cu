// A card that does not exist, as a library's user sees it: every call says that there is no device, and nothing ends
// the program. As a program of its own, which this is not, it would end with 2.
#include "check.h"

extern "C" int calls_without_card(void)
{
    int count = -1;
    void *memory = nullptr;
    cudaStream_t stream = nullptr;
    GIVES(cudaErrorNoDevice, cudaGetDeviceCount(&count));
    GIVES(cudaErrorNoDevice, cudaMalloc(&memory, COUNT));
    GIVES(cudaErrorNoDevice, cudaStreamCreate(&stream));
    add_one<<<BLOCKS, BLOCK>>>(nullptr, 0);
    GIVES(cudaErrorNoDevice, cudaGetLastError());
    GIVES(cudaErrorNoDevice, cudaDeviceReset());
    GIVES(cudaErrorNoDevice, cudaDeviceSynchronize());
    return 0;
}

// A kernel makes a stream for its children: not simulated, and told at the kernel's own line.
#include "../corpus.h"

__global__ void parent()
{
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); // expect: unsupported
    cudaStreamDestroy(stream);
}

int main()
{
    parent<<<1, 1>>>();
    SHOW(cudaDeviceSynchronize());
    return 0;
}

// A symbol given as text, as CUDA 4 took it: the name of a variable, of one that is there no more, or of none at all.
#include "../corpus.h"

__device__ int counter = 5;
static __device__ int dropped = 5; // nothing uses it

__global__ void read(int *output)
{
    *output = counter;
}

int main()
{
    int value = 7, *output = device_zeros<int>(1);
    size_t bytes = 0;
    void *address = NULL;
    SHOW(cudaMemcpyToSymbol("counter", &value, sizeof value));   // expect: bad-call
    SHOW(cudaMemcpyToSymbol("dropped", &value, sizeof value));   // expect: bad-call
    SHOW(cudaMemcpyToSymbol("coutner", &value, sizeof value));   // expect: bad-call
    SHOW(cudaMemcpyToSymbol("no name", &value, sizeof value));   // expect: bad-call
    SHOW(cudaMemcpyFromSymbol(&value, "counter", sizeof value)); // expect: bad-call
    SHOW(cudaMemcpyFromSymbol(&value, "coutner", sizeof value)); // expect: bad-call
    SHOW(cudaGetSymbolAddress(&address, "counter"));             // expect: bad-call
    SHOW(cudaGetSymbolSize(&bytes, "counter"));                  // expect: bad-call
    read<<<1, 1>>>(output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    return value == 7 ? 0 : 1;
}

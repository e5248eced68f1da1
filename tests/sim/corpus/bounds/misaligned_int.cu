// An int read from an odd address of a packed record.
#include "../corpus.h"

__global__ void parse(const unsigned char *record, int *output)
{
    output[0] = *(const int *)(record + 1); // expect: misaligned
}

int main()
{
    unsigned char *record = device_ramp<unsigned char>(16, 0, 1);
    int *output = device_zeros<int>(1);
    parse<<<1, 1>>>(record, output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(record));
    SHOW(cudaFree(output));
    return 0;
}

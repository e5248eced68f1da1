// row * pitch overflows int for the last row: the index turns negative.
#include "../corpus.h"

__global__ void touch(float *data, int row, int pitch)
{
    int index = row * pitch + (int)threadIdx.x;
    data[index] = 1; // expect: out-of-bounds
}

// The product overflows, and the remainder of a negative number is negative: a compiler that takes an overflow for
// impossible concludes that it is not.
__global__ void hash(const unsigned char *letters, float *table)
{
    int product = letters[threadIdx.x] * 1100000000;
    table[product % 60] = 1; // expect: out-of-bounds
}

int main()
{
    float *data = device_zeros<float>(64);
    touch<<<1, 1>>>(data, 65537, 65535);
    SHOW(cudaDeviceReset());
    data = device_zeros<float>(64);
    const unsigned char letters[] = {2};
    hash<<<1, 1>>>(device_copy(letters), data);
    SHOW(cudaDeviceReset());
    return 0;
}

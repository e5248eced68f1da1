// A switch whose cases fall through and have several accesses each: the checks of these accesses make it long.
#include "../corpus.h"

#define ADD(sum, i, shift) sum += (unsigned)k[i] << shift ^ out[i] ^ out[i + 1] ^ out[i + 2] ^ (unsigned)lengths[i] / 64

__global__ void mix(const unsigned char *bytes, const int *lengths, unsigned *out)
{
    const unsigned char *k = bytes + threadIdx.x * 16;
    unsigned a = 1, b = 2, c = 3;
    switch (lengths[threadIdx.x]) {
    case 12: ADD(c, 11, 24);
    case 11: ADD(c, 10, 16);
    case 10: ADD(c, 9, 8);
    case 9: ADD(c, 8, 0);
    case 8: ADD(b, 7, 24);
    case 7: ADD(b, 6, 16);
    case 6: ADD(b, 5, 8);
    case 5: ADD(b, 4, 0);
    case 4: ADD(a, 3, 24);
    case 3: ADD(a, 2, 16);
    case 2: ADD(a, 1, 8);
    case 1: ADD(a, 0, 0);
    }
    out[16 + threadIdx.x] = a + b + c;
}

int main()
{
    unsigned char *bytes = device_zeros<unsigned char>(32 * 16);
    unsigned *out = device_zeros<unsigned>(64), found[64];
    int *lengths = device_ramp(32, 0, 1);
    mix<<<1, 32>>>(bytes, lengths, out);
    CHECK(cudaDeviceSynchronize());
    fetch(found, out);
    for (int i = 0; i < 32; i++)
        REQUIRE(found[16 + i] == 6);
    CHECK(cudaFree(bytes));
    CHECK(cudaFree(out));
    CHECK(cudaFree(lengths));
    return 0;
}

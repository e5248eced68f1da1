// Looks for a number n such that the SHA-256 of "heddle-n" begins with zero bits, as proof of work does. One thread per
// n.

#include <stdint.h>
#include <string.h>

#include "../05-first-kernels/cuda_check.h"

enum { BLOCKS = 64, THREADS = 128, ZERO_BITS = 12 };

__constant__ uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ uint32_t turn(uint32_t word, int places)
{
    return word >> places | word << (32 - places);
}

// The first 32 bits of the hash of a text of at most 55 bytes: one block of the standard (FIPS 180-4).
__device__ uint32_t hash(const char *text, int length)
{
    uint32_t w[64] = {0};
    for (int i = 0; i <= length; i++) // the text, then one bit
        w[i / 4] |= (uint32_t)(i < length ? (uint8_t)text[i] : 0x80) << (24 - i % 4 * 8);
    w[15] = (uint32_t)length * 8;
    for (int i = 16; i < 64; i++) {
        uint32_t a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    uint32_t a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f, f = 0x9b05688c,
             g = 0x1f83d9ab, h = 0x5be0cd19;
    for (int i = 0; i < 64; i++) {
        uint32_t one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + w[i];
        uint32_t two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + one;
        d = c;
        c = b;
        b = a;
        a = one + two;
    }
    return a + 0x6a09e667;
}

__global__ void search(unsigned int *smallest)
{
    unsigned int n = blockIdx.x * blockDim.x + threadIdx.x, rest = n;
    char text[32] = "heddle-", digits[10];
    int length = 7, count = 0;
    do
        digits[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    while (count > 0)
        text[length++] = digits[--count];
    if (hash(text, length) >> (32 - ZERO_BITS) == 0)
        atomicMin(smallest, n); // whoever comes first, the smallest wins: the same answer in every run
}

int main(void)
{
    unsigned int *device, smallest = ~0u;
    CUDA_CHECK(cudaMalloc(&device, sizeof smallest));
    CUDA_CHECK(cudaMemcpy(device, &smallest, sizeof smallest, cudaMemcpyHostToDevice));
    search<<<BLOCKS, THREADS>>>(device);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(&smallest, device, sizeof smallest, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
    if (smallest == ~0u)
        printf("none of %d\n", BLOCKS * THREADS);
    else
        printf("SHA-256 of \"heddle-%u\" begins with %d zero bits\n", smallest, ZERO_BITS);
    return 0;
}

// atomicCAS(address, expected, desired) stores only where `expected` still stands, and returns what it found. Every
// other atomic can be made of it: read, compute, try to swap, and where another thread was first, do it again with what
// that one left. Here a product modulo a prime, which no card has an instruction for.
//
// Cost: of n threads that try at a time one gets through, so that n of them make about n * n / 2 tries.
// 10_warp_first.cu is how to have fewer that try.

#include "program.h"

enum { BLOCKS = 8, THREADS = 64, ALL = BLOCKS * THREADS, PRIME = 65521 };

__device__ static void atomic_multiply(unsigned *product, unsigned factor)
{
    unsigned found = *(volatile unsigned *)product, assumed;
    do {
        assumed = found;
        found = atomicCAS(product, assumed, assumed * factor % PRIME);
    } while (found != assumed);
}

__global__ void multiply(unsigned *product)
{
    atomic_multiply(product, blockIdx.x * blockDim.x + threadIdx.x + 1);
}

int main()
{
    unsigned product = 1, expected = 1;
    unsigned *card = (unsigned *)to_card(&product, sizeof product);
    multiply<<<BLOCKS, THREADS>>>(card);
    from_card(&product, card, sizeof product);
    for (unsigned i = 1; i <= ALL; i++)
        expected = expected * i % PRIME;
    expect("factorial of 512, mod 65521", product, expected);
    return wrong_results > 0;
}

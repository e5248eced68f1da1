// atomicMax and atomicMin: the largest and smallest of what all threads have. Unlike a sum they give the same result in
// any order, whatever the numbers, and a thread that sees it cannot win need not try.

#include "program.h"

enum { BLOCKS = 32, THREADS = 128, ALL = BLOCKS * THREADS };

// Spread over the threads so that neither end stands at the first or last one.
__device__ static int value_of(int i)
{
    return (i * 37 + 1234) % ALL - ALL / 2;
}

__global__ void find(int *largest, int *smallest, unsigned *largest_unsigned, long long *largest_wide)
{
    int value = value_of(blockIdx.x * blockDim.x + threadIdx.x);
    atomicMax(largest, value);
    atomicMin(smallest, value);
    atomicMax(largest_unsigned, (unsigned)value); // negative ones are the largest here
    atomicMax(largest_wide, value * 10000000000ll);
}

int main()
{
    int largest = -ALL, smallest = ALL;
    unsigned largest_unsigned = 0;
    long long largest_wide = 0;
    int *card_largest = (int *)to_card(&largest, sizeof largest);
    int *card_smallest = (int *)to_card(&smallest, sizeof smallest);
    unsigned *card_unsigned = (unsigned *)to_card(&largest_unsigned, sizeof largest_unsigned);
    long long *card_wide = (long long *)to_card(&largest_wide, sizeof largest_wide);
    find<<<BLOCKS, THREADS>>>(card_largest, card_smallest, card_unsigned, card_wide);
    from_card(&largest, card_largest, sizeof largest);
    from_card(&smallest, card_smallest, sizeof smallest);
    from_card(&largest_unsigned, card_unsigned, sizeof largest_unsigned);
    from_card(&largest_wide, card_wide, sizeof largest_wide);
    expect("largest", largest, ALL / 2 - 1);
    expect("smallest", smallest, -ALL / 2);
    expect("largest, unsigned", largest_unsigned, 4294967295.0);
    expect("largest, 64 bits", (double)largest_wide, (ALL / 2 - 1) * 1e10);
    return wrong_results > 0;
}

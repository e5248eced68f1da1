// The largest of many floats. There is no atomicMax of floats, but two ways to make one: by atomicCAS, for any
// operation; and by the integer atomics, as floats of one sign are ordered as their bits are (and in the other
// direction where they are negative). NaN is left out: it is not larger than anything.

#include "program.h"

enum { BLOCKS = 32, THREADS = 64, ALL = BLOCKS * THREADS };

__device__ static void max_by_swapping(float *largest, float value)
{
    int *bits = (int *)largest, found = *(volatile int *)bits;
    while (value > __int_as_float(found)) { // a value that cannot win is not tried
        int assumed = found;
        found = atomicCAS(bits, assumed, __float_as_int(value));
        if (found == assumed)
            break;
    }
}

// Positive ones: the larger integer is the larger float. Negative ones: the smaller unsigned integer is, and every
// positive one is smaller still.
__device__ static void max_by_integers(float *largest, float value)
{
    if (!signbit(value))
        atomicMax((int *)largest, __float_as_int(value));
    else
        atomicMin((unsigned *)largest, __float_as_uint(value));
}

__device__ static float value_of(int i, float shift)
{
    return 0.25f * (float)((i * 37 + 1000) % ALL) + shift;
}

__global__ void find(float *largest, float *by_integers, float *negative)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    max_by_swapping(largest, value_of(i, -100.0f));
    max_by_integers(by_integers, value_of(i, -100.0f));
    max_by_integers(negative, value_of(i, -1000.0f));
}

int main()
{
    const float least = -3.0e38f, most = 0.25f * (ALL - 1);
    float largest = least, by_integers = least, negative = least;
    float *card_largest = (float *)to_card(&largest, sizeof largest);
    float *card_integers = (float *)to_card(&by_integers, sizeof by_integers);
    float *card_negative = (float *)to_card(&negative, sizeof negative);
    find<<<BLOCKS, THREADS>>>(card_largest, card_integers, card_negative);
    from_card(&largest, card_largest, sizeof largest);
    from_card(&by_integers, card_integers, sizeof by_integers);
    from_card(&negative, card_negative, sizeof negative);
    expect("largest, by swapping", largest, most - 100.0f);
    expect("largest, by integers", by_integers, most - 100.0f);
    expect("largest of negative ones", negative, most - 1000.0f);
    return wrong_results > 0;
}

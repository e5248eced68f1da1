// atomicAdd of float and of double, and the double one made of atomicCAS, as cards before Pascal needed it. Whole
// numbers give the same sum in any order. Others do not: a float sum is rounded after every addition, so its last bits
// depend on who came first, and differ from run to run.
//
// Compiled for an old card (sm_5x) the native double addition is missing, and the one by CAS stands in.

#include "program.h"

enum { BLOCKS = 16, THREADS = 64, ALL = BLOCKS * THREADS };

// A double has no compare-and-swap of its own: its 64 bits are swapped as an integer. The comparison is of bits, so
// that it ends for NaN too.
__device__ static double add_by_swapping(double *address, double value)
{
    unsigned long long *bits = (unsigned long long *)address, found = *(volatile unsigned long long *)bits, assumed;
    do {
        assumed = found;
        double sum = __longlong_as_double((long long)assumed) + value;
        found = atomicCAS(bits, assumed, (unsigned long long)__double_as_longlong(sum));
    } while (found != assumed);
    return __longlong_as_double((long long)found);
}

__global__ void add(float *whole, float *tenths, double *native, double *by_swapping)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(whole, (float)i);
    atomicAdd(tenths, 0.1f * (float)i);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
    atomicAdd(native, 0.5 * i);
#else
    add_by_swapping(native, 0.5 * i);
#endif
    add_by_swapping(by_swapping, 0.5 * i);
}

int main()
{
    float whole = 0, tenths = 0;
    double native = 0, by_swapping = 0, sum = ALL * (ALL - 1) / 2;
    float *card_whole = (float *)to_card(&whole, sizeof whole), *card_tenths = (float *)to_card(&tenths, sizeof tenths);
    double *card_native = (double *)to_card(&native, sizeof native);
    double *card_swapping = (double *)to_card(&by_swapping, sizeof by_swapping);
    add<<<BLOCKS, THREADS>>>(card_whole, card_tenths, card_native, card_swapping);
    from_card(&whole, card_whole, sizeof whole);
    from_card(&tenths, card_tenths, sizeof tenths);
    from_card(&native, card_native, sizeof native);
    from_card(&by_swapping, card_swapping, sizeof by_swapping);
    expect("float, whole numbers", whole, sum);
    expect("double", native, 0.5 * sum);
    expect("double by swapping", by_swapping, 0.5 * sum);
    // Rounded once an addition: at most half a unit in the last place of the sum for each.
    double off = tenths - 0.1 * sum, most = ALL * 0.1 * sum * 0x1p-24;
    printf("%-28s %.9g, off by %.2g\n", "float, tenths", tenths, off);
    expect("within its roundings", off < most && -off < most, 1);
    return wrong_results > 0;
}

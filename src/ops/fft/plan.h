// How a transform of n numbers is cut: into passes, each of which transforms lines of one factor of n, and a pass into
// radices. Shared by the CPU, where lines should fit in the cache, and the GPU, where lines must fit in a block.
#pragma once

#include "ops/fft/fft.h"

enum {
    FFT_PASSES = 8,   // 7^11 is the longest chain of factors below 2^31 that must be cut often
    FFT_RADICES = 20, // 3^19 and 2 * 3^18 have the most below 2^31
};

typedef struct fft_plan {
    int count;
    int factor[FFT_PASSES]; // each at most the given limit; their product is n
} fft_plan;

// The smallest divisor of n from `least` to `most`; 0: there is none.
static inline int fft_divisor(int n, int least, int most)
{
    for (int divisor = least; divisor <= most; divisor++)
        if (n % divisor == 0)
            return divisor;
    return 0;
}

// Whether power^count reaches n.
static inline bool fft_reaches(int root, int count, int n)
{
    long long power = 1;
    for (int i = 0; i < count && power < n; i++)
        power *= root;
    return power >= n;
}

// The fewest factors of n (a product of 2, 3, 5 and 7) that are at most `most` (at least 7), nearly equal.
static inline fft_plan fft_plan_of(int n, int most)
{
    fft_plan plan = {0, {0}};
    for (int count = 1; count <= FFT_PASSES; count++) {
        int rest = n;
        for (plan.count = 0; plan.count < count; plan.count++) {
            int root = 1, left = count - plan.count;
            while (root < most && !fft_reaches(root, left, rest))
                root++;
            int factor = fft_divisor(rest, root, most < rest ? most : rest);
            if (factor == 0)
                break;
            plan.factor[plan.count] = factor;
            rest /= factor;
        }
        if (rest == 1 && plan.count == count)
            return plan;
    }
    return plan;
}

// The radices of a pass of n numbers, a product of them, as they are listed; returns how many, FFT_RADICES at most.
static inline int fft_radices_of(int n, const int *radices, int kinds, int *radix)
{
    int count = 0;
    for (int i = 0; i < kinds; i++)
        while (n % radices[i] == 0 && count < FFT_RADICES) {
            radix[count++] = radices[i];
            n /= radices[i];
        }
    return count;
}

// Pass number `index` of a job whose lines lie one after another: Stockham's algorithm, with factors for radices. Each
// pass before has left its numbers in the order that this one reads, with neighbouring lines adjacent.
static inline void fft_pass_lines(const fft_plan *plan, int index, int n, heddle_fft_lines *from, heddle_fft_lines *to)
{
    int factor = plan->factor[index], lines = n / factor, before = 1;
    for (int i = 0; i < index; i++)
        before *= plan->factor[i];
    heddle_fft_lines reads = {lines, n, 1, lines, factor};
    heddle_fft_lines writes = {before, (long long)before * factor, 1, before, factor};
    *from = reads;
    *to = writes;
}

// The power of two for Bluestein's algorithm: a convolution of n numbers with 2n - 1, of which n are correct.
static inline long long fft_bluestein_length(int n)
{
    long long length = 1;
    while (length < 2LL * n - 1)
        length *= 2;
    return length;
}

static inline bool fft_is_contiguous(heddle_fft_lines lines, int length)
{
    return lines.inner == 1 && lines.stride == 1 && lines.outer_stride == length && lines.length == length;
}

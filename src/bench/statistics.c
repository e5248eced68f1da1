// Medians and their spread, the order of a round, and ratios of times that were taken in the same round.

#include "bench/statistics.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double heddle_bench_quantile(double *values, int count, double share)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[(int)(share * (count - 1) + 0.5)];
}

double heddle_bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

// From the middle half of the values, which one slow launch does not widen.
double heddle_bench_median_spread(double *values, int count)
{
    const double deviations_a_quartile_range = 1.349, median_to_mean = 1.2533; // of a normal distribution
    double median = heddle_bench_median(values, count);
    double low = heddle_bench_quantile(values, count, 0.25), high = heddle_bench_quantile(values, count, 0.75);
    double deviation = (high - low) / deviations_a_quartile_range;
    return median > 0 ? median_to_mean * deviation / sqrt(count) / median : 0;
}

// A Williams design: the zigzag 0, 1, -1, 2, -2, ... (mod count) has every difference between neighbours once, so that
// its rotations have every pair of neighbours once. For an odd count that takes the zigzag read backwards as well.
int heddle_bench_turn(int count, int round, int position)
{
    if (count % 2 == 1 && round % 2 == 1)
        position = count - 1 - position;
    int step = position % 2 == 1 ? (position + 1) / 2 : count - position / 2;
    return (step + round) % count;
}

double heddle_bench_paired_ratio(const double *above, const double *below, int rounds, double *scratch)
{
    int count = 0;
    for (int i = 0; i < rounds; i++)
        if (above[i] > 0 && below[i] > 0)
            scratch[count++] = above[i] / below[i];
    return count > 0 ? heddle_bench_median(scratch, count) : NAN;
}

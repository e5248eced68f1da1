// Moments of patches: sums from the kernels, joined in double.

#include "ops/stem_block/moments.h"

#include <string.h>

#include "ops/across.h"

void heddle_moments_of_image(const heddle_cpu_kernels *kernels, const heddle_cpu_planes *image, const double *centre,
                             heddle_moments *moments)
{
    int patch = HEDDLE_CONV_BLOCK_TAPS * image->channels;
    double sums[HEDDLE_STEM_BLOCK_MOST_PATCH];
    double products[HEDDLE_STEM_BLOCK_MOST_PATCH * HEDDLE_STEM_BLOCK_MOST_PATCH];
    kernels->stem_moments(image, sums, products);
    moments->count = (double)image->height * image->width;
    for (int d = 0; d < patch; d++) {
        double mean = sums[d] / moments->count;
        moments->mean[d] = mean + centre[d / HEDDLE_CONV_BLOCK_TAPS];
        for (int e = d; e < patch; e++)
            moments->scatter[d][e] = products[d * patch + e] - mean * sums[e];
    }
}

void heddle_moments_join(heddle_moments *total, const heddle_moments *more, int patch)
{
    if (total->count == 0) {
        *total = *more;
        return;
    }
    double count = total->count + more->count, share = more->count / count;
    double difference[HEDDLE_STEM_BLOCK_MOST_PATCH];
    for (int d = 0; d < patch; d++)
        difference[d] = more->mean[d] - total->mean[d];
    for (int d = 0; d < patch; d++) {
        total->mean[d] += share * difference[d];
        double factor = total->count * share * difference[d];
        for (int e = d; e < patch; e++)
            total->scatter[d][e] += more->scatter[d][e] + factor * difference[e];
    }
    total->count = count;
}

heddle_status heddle_moments_share(const heddle_call *call, heddle_moments *moments, int patch)
{
    enum { MOST = HEDDLE_STEM_BLOCK_MOST_PATCH };
    double values[1 + MOST + MOST * (MOST + 1) / 2];
    double *products = values + 1 + patch;
    int used = 0;
    if (!heddle_across_several(call))
        return HEDDLE_OK;
    // Raw moments, in double: pixels are close enough to their mean that no digits are lost.
    values[0] = moments->count;
    for (int d = 0; d < patch; d++) {
        values[1 + d] = moments->count * moments->mean[d];
        for (int e = d; e < patch; e++)
            products[used++] = moments->scatter[d][e] + moments->count * moments->mean[d] * moments->mean[e];
    }
    HEDDLE_TRY(heddle_across_sum(call, values, 1 + patch + used));
    moments->count = values[0];
    used = 0;
    for (int d = 0; d < patch; d++)
        moments->mean[d] = values[1 + d] / moments->count;
    for (int d = 0; d < patch; d++)
        for (int e = d; e < patch; e++)
            moments->scatter[d][e] = products[used++] - moments->count * moments->mean[d] * moments->mean[e];
    return HEDDLE_OK;
}

void heddle_moments_save(const heddle_moments *moments, int patch, double *operand)
{
    memcpy(operand, moments->mean, sizeof(double) * patch);
    for (int d = 0; d < patch; d++)
        for (int e = 0; e < patch; e++)
            operand[(d + 1) * patch + e] = (d < e ? moments->scatter[d][e] : moments->scatter[e][d]) / moments->count;
}

double heddle_moments_filter_mean(const double *operand, int patch, const float *filter)
{
    double sum = 0;
    for (int d = 0; d < patch; d++)
        sum += operand[d] * (double)filter[d];
    return sum;
}

void heddle_moments_filter_covariance(const double *operand, int patch, const float *filter, double *covariance)
{
    for (int d = 0; d < patch; d++) {
        covariance[d] = 0;
        for (int e = 0; e < patch; e++)
            covariance[d] += operand[(d + 1) * patch + e] * (double)filter[e];
    }
}

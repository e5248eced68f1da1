// First and second moments of a first layer's patches, computed image by image and joined without cancellation.
#pragma once

#include "ops/cpu/kernels.h"
#include "ops/stem_block/stem_block.h"

// Of `count` patches of D elements: their mean, and the sums of products of their differences from it.
typedef struct heddle_moments {
    double count;
    double mean[HEDDLE_STEM_BLOCK_MOST_PATCH];
    double scatter[HEDDLE_STEM_BLOCK_MOST_PATCH][HEDDLE_STEM_BLOCK_MOST_PATCH]; // e >= d
} heddle_moments;

// The moments of one image, with `centre` (one per channel) subtracted from its planes, border included.
void heddle_moments_of_image(const heddle_cpu_kernels *kernels, const heddle_cpu_planes *image, const double *centre,
                             heddle_moments *moments);
// Adds the patches of `more` to total (Chan, Golub and LeVeque's update).
void heddle_moments_join(heddle_moments *total, const heddle_moments *more, int patch);
// Joins the moments of all processes that have a part of the batch.
heddle_status heddle_moments_share(const heddle_call *call, heddle_moments *moments, int patch);
// The operand: mean, then the full covariance.
void heddle_moments_save(const heddle_moments *moments, int patch, double *operand);

// What the moments say about a filter w over patches: its mean w·m, and Cov w.
double heddle_moments_filter_mean(const double *operand, int patch, const float *filter);
void heddle_moments_filter_covariance(const double *operand, int patch, const float *filter, double *covariance);

// The batchnorm in the middle of a conv block, as numbers per channel: what the fast rungs of conv_block and stem_block
// compute between their passes over the images. Everything is in double; arrays for the kernels are padded with zeros.
#pragma once

#include "ops/conv_block/conv_block.h"

// Of one channel of the convolution without bias.
typedef struct heddle_channel_statistics {
    double mean, variance; // population variance
} heddle_channel_statistics;

// Joins `images` of equal size: means and sums of squares around them, (images, 2, channels) as the kernel `statistics`
// leaves them, in image order.
heddle_channel_statistics heddle_batchnorm_join(const float *statistics, int images, int channels, int channel,
                                                double pixels_per_image);

// Joins the statistics of `channels` channels (at most HEDDLE_ACROSS_CHUNK) over all processes that have a part of the
// batch; *pixels changes from this process's number to the total.
heddle_status heddle_batchnorm_share(const heddle_call *call, heddle_channel_statistics *statistics, int channels,
                                     double *pixels);

// Writes the saved statistics of channel k and updates the running ones. `pixels` counts the whole batch.
void heddle_batchnorm_save(const heddle_conv_block_shape *shape, const heddle_conv_block_forward_operands *operands,
                           int k, heddle_channel_statistics statistics, double pixels);

// Batchnorm of channel k as y = z · scale + shift, where z is the convolution without bias.
typedef struct heddle_channel_affine {
    double scale, shift;
} heddle_channel_affine;
heddle_channel_affine heddle_batchnorm_training(const heddle_conv_block_shape *shape,
                                                const heddle_conv_block_forward_operands *operands, int k,
                                                heddle_channel_statistics statistics);
heddle_channel_affine heddle_batchnorm_inference(const heddle_conv_block_shape *shape,
                                                 const heddle_conv_block_inference_operands *operands, int k);

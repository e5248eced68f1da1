// Batchnorm's arithmetic per channel.

#include "ops/conv_block/batchnorm.h"

#include <math.h>

#include "ops/across.h"

heddle_channel_statistics heddle_batchnorm_join(const float *statistics, int images, int channels, int channel,
                                                double pixels_per_image)
{
    double sum = 0, squares = 0;
    for (int n = 0; n < images; n++)
        sum += (double)statistics[(size_t)2 * n * channels + channel];
    double mean = sum / images;
    for (int n = 0; n < images; n++) {
        double difference = (double)statistics[(size_t)2 * n * channels + channel] - mean;
        squares +=
            (double)statistics[((size_t)2 * n + 1) * channels + channel] + pixels_per_image * difference * difference;
    }
    return (heddle_channel_statistics){.mean = mean, .variance = squares / (images * pixels_per_image)};
}

static double inverse_std(double variance, float epsilon)
{
    return 1 / sqrt(variance + (double)epsilon);
}

heddle_status heddle_batchnorm_share(const heddle_call *call, heddle_channel_statistics *statistics, int channels,
                                     double *pixels)
{
    double values[1 + 2 * HEDDLE_ACROSS_CHUNK];
    if (!heddle_across_several(call))
        return HEDDLE_OK;
    // Raw moments: in double they lose no digit of a float.
    values[0] = *pixels;
    for (int k = 0; k < channels; k++) {
        double mean = statistics[k].mean;
        values[1 + 2 * k] = *pixels * mean;
        values[2 + 2 * k] = *pixels * (statistics[k].variance + mean * mean);
    }
    HEDDLE_TRY(heddle_across_sum(call, values, 1 + 2 * channels));
    *pixels = values[0];
    for (int k = 0; k < channels; k++) {
        double mean = values[1 + 2 * k] / *pixels, variance = values[2 + 2 * k] / *pixels - mean * mean;
        statistics[k] = (heddle_channel_statistics){.mean = mean, .variance = variance < 0 ? 0 : variance};
    }
    return HEDDLE_OK;
}

void heddle_batchnorm_save(const heddle_conv_block_shape *shape, const heddle_conv_block_forward_operands *operands,
                           int k, heddle_channel_statistics statistics, double pixels)
{
    double momentum = (double)shape->momentum;
    operands->mean[k] = (float)statistics.mean;
    operands->inverse_std[k] = (float)inverse_std(statistics.variance, shape->epsilon);
    if (operands->running_mean) {
        double mean = statistics.mean + (operands->bias ? (double)operands->bias[k] : 0);
        double running = (double)operands->running_mean[k];
        operands->running_mean[k] = (float)(running + momentum * (mean - running));
    }
    if (operands->running_var) {
        double unbiased = statistics.variance * pixels / (pixels - 1), running = (double)operands->running_var[k];
        operands->running_var[k] = (float)(running + momentum * (unbiased - running));
    }
}

heddle_channel_affine heddle_batchnorm_training(const heddle_conv_block_shape *shape,
                                                const heddle_conv_block_forward_operands *operands, int k,
                                                heddle_channel_statistics statistics)
{
    double scale = (double)operands->gamma[k] * inverse_std(statistics.variance, shape->epsilon);
    return (heddle_channel_affine){.scale = scale, .shift = (double)operands->beta[k] - statistics.mean * scale};
}

heddle_channel_affine heddle_batchnorm_inference(const heddle_conv_block_shape *shape,
                                                 const heddle_conv_block_inference_operands *operands, int k)
{
    double scale = (double)operands->gamma[k] * inverse_std((double)operands->running_var[k], shape->epsilon);
    double centre = (double)operands->running_mean[k] - (operands->bias ? (double)operands->bias[k] : 0);
    return (heddle_channel_affine){.scale = scale, .shift = (double)operands->beta[k] - centre * scale};
}

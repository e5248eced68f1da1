// stem_block in float64: conv_block's reference on a convolution that is not saved. Statistics follow from its values,
// not from the patches' moments, so that the moments' algebra in the rungs is compared with something independent.

#include <math.h>
#include <stdlib.h>

#include "ops/stem_block/stem_block.h"

typedef heddle_conv_block_shape block_shape;

// Element `d` = (channel, r, s) of the patch under output pixel (y, x); 0 over the border.
static double patch_element(const block_shape *shape, const double *input, int n, int y, int x, int d)
{
    int c = d / HEDDLE_CONV_BLOCK_TAPS, iy = y + d % HEDDLE_CONV_BLOCK_TAPS / 3 - 1, ix = x + d % 3 - 1;
    if (iy < 0 || iy >= shape->h || ix < 0 || ix >= shape->w)
        return 0;
    const size_t plane = (size_t)shape->h * shape->w, pixel = (size_t)iy * shape->w + ix;
    const double *image = input + n * plane * shape->c;
    return shape->input_channels_last ? image[pixel * shape->c + c] : image[c * plane + pixel];
}

static double patch_mean(const block_shape *shape, const double *input, int d)
{
    double sum = 0;
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h; y++)
            for (int x = 0; x < shape->w; x++)
                sum += patch_element(shape, input, n, y, x, d);
    return sum / heddle_conv_block_pixels(shape);
}

static double patch_covariance(const block_shape *shape, const double *input, const double *mean, int d, int e)
{
    double sum = 0;
    for (int n = 0; n < shape->n; n++)
        for (int y = 0; y < shape->h; y++)
            for (int x = 0; x < shape->w; x++)
                sum += (patch_element(shape, input, n, y, x, d) - mean[d]) *
                       (patch_element(shape, input, n, y, x, e) - mean[e]);
    return sum / heddle_conv_block_pixels(shape);
}

static double *convolution_room(const block_shape *shape)
{
    return malloc(sizeof(double) * shape->n * shape->h * shape->w * shape->k);
}

void heddle_stem_block_reference_forward(const void *shape_, const double *const *input, double *const *output)
{
    const block_shape *shape = shape_;
    const int patch = heddle_stem_block_patch(shape);
    double *moments = output[1], *convolution = convolution_room(shape);
    for (int d = 0; d < patch; d++)
        moments[d] = patch_mean(shape, input[0], d);
    for (int d = 0; d < patch; d++)
        for (int e = 0; e < patch; e++)
            moments[(size_t)(d + 1) * patch + e] = patch_covariance(shape, input[0], moments, d, e);

    double *const outputs[] = {output[0], convolution, output[2], output[3], output[4], output[5], output[6]};
    output[0][0] = NAN; // a value that no rung gives, if memory runs out
    if (convolution)
        heddle_conv_block_reference_forward(shape, input, outputs);
    free(convolution);
}

void heddle_stem_block_reference_backward(const void *shape, const double *const *input, double *const *output)
{
    double *convolution = convolution_room(shape);
    const double *const inputs[] = {input[0], input[1], input[2], input[3], convolution,
                                    input[5], input[6], input[7], input[8]};
    double *const outputs[] = {NULL, output[0], output[1], output[2], output[3]}; // grad_input: none
    output[0][0] = NAN;
    if (convolution) {
        heddle_conv_block_reference_convolution(shape, input[0], input[1], convolution);
        heddle_conv_block_reference_backward(shape, inputs, outputs);
    }
    free(convolution);
}

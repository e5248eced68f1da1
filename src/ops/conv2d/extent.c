// The size of a convolution's output, for its table and for the rungs below it.

#include "ops/conv2d/conv2d.h"

int heddle_conv2d_out_h(const heddle_conv2d_shape *shape)
{
    return heddle_conv2d_extent(shape, shape->h, shape->r);
}

int heddle_conv2d_out_w(const heddle_conv2d_shape *shape)
{
    return heddle_conv2d_extent(shape, shape->w, shape->s);
}

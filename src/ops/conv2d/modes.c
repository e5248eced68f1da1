// The modes of a convolution, full, same and valid, as a padding for conv2d and a window of its output.

#include "heddle/ops.h"
#include "ops/conv2d/conv2d.h"

// Zeros before and after the image along one axis.
typedef struct sides {
    int before, behind;
} sides;

static sides sides_of(heddle_conv2d_mode mode, int filter)
{
    switch (mode) {
    case HEDDLE_CONV2D_FULL: return (sides){filter - 1, filter - 1};
    case HEDDLE_CONV2D_SAME: return (sides){(filter - 1) / 2, filter / 2};
    case HEDDLE_CONV2D_VALID: break;
    }
    return (sides){0, 0};
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

heddle_status heddle_conv2d_set_mode(heddle_conv2d_shape *shape, heddle_conv2d_mode mode, heddle_conv2d_window *window)
{
    *window = (heddle_conv2d_window){0};
    if (shape->stride != 1 || shape->dilation != 1)
        return heddle_fail(HEDDLE_INVALID,
                           "conv2d: full, same and valid are for stride and dilation 1 (stride=%d dilation=%d); set "
                           "the padding yourself",
                           shape->stride, shape->dilation);
    if (mode < HEDDLE_CONV2D_FULL || mode > HEDDLE_CONV2D_VALID)
        return heddle_fail(HEDDLE_INVALID, "conv2d: there is no mode %d; they are full, same and valid", (int)mode);
    sides down = sides_of(mode, shape->r), across = sides_of(mode, shape->s);
    heddle_conv2d_shape padded = *shape;
    padded.padding = larger(larger(down.before, down.behind), larger(across.before, across.behind));
    HEDDLE_TRY(heddle_conv2d_validate(&padded));
    window->rows = shape->h + down.before + down.behind - shape->r + 1;
    window->columns = shape->w + across.before + across.behind - shape->s + 1;
    if (window->rows < 1 || window->columns < 1)
        return heddle_fail(HEDDLE_INVALID, "conv2d: a %dx%d filter is never inside a %dx%d image: no mode 'valid'",
                           shape->r, shape->s, shape->h, shape->w);
    window->top = padded.padding - down.before;
    window->left = padded.padding - across.before;
    shape->padding = padded.padding;
    return HEDDLE_OK;
}

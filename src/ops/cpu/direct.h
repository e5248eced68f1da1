// A direct convolution of one image, without unfolding it. With channels last, the inputs under one row of a filter are
// adjacent, so an output row is a matrix product whose left side is the image itself, read with a stride. Layouts,
// threads and pieces are left to the rungs.
#pragma once

#include "heddle/ops.h"
#include "ops/cpu/image.h"
#include "ops/cpu/kernels.h"
#include "ops/cpu/scratch.h"

// Sizes that follow from a shape. A tap is what one step of the product covers: a whole row of the filter if its
// columns are adjacent (dilation 1), else one of its places.
typedef struct heddle_direct {
    heddle_conv2d_shape shape;
    int out_h, out_w;
    int outputs; // k padded to whole panels
    int taps, depth;
    heddle_image_frame frame; // of the padded input
    ptrdiff_t image_row;      // floats
    size_t image;             // floats of the framed input, and what may be read after it
    size_t weights;           // floats of packed weights: (outputs / 16, taps, depth, 16)
} heddle_direct;

enum { HEDDLE_DIRECT_MOST_TAPS = 64 }; // a dilated 8×8 filter; a larger one is not worth the table
bool heddle_direct_supports(const heddle_conv2d_shape *shape);
heddle_direct heddle_direct_plan(const heddle_conv2d_shape *shape);
// The plan whose forward is this one's gradient of the input: k channels in, c out. Only for stride 1 and a padding
// that stays inside the filter; false for others.
bool heddle_direct_has_transpose(const heddle_conv2d_shape *shape);
heddle_direct heddle_direct_transpose(const heddle_conv2d_shape *shape);

// --- weights, (k, c, r, s) for the caller; a task is a panel of 16 channels -----------------------------------------

void heddle_direct_pack(const heddle_direct *plan, const float *weight, int panel, float *packed);
// For the transposed plan, from the weights of the original one.
void heddle_direct_pack_transposed(const heddle_direct *transposed, const float *weight, int panel, float *packed);
// grad_weight, the panel's part of it = sum of `parts` arrays packed like weights, in order.
void heddle_direct_add_parts(const heddle_direct *plan, const float *part, int parts, int panel, float *grad_weight);

// --- one image ------------------------------------------------------------------------------------------------------

// output (out_h, out_w, outputs) from the framed image.
void heddle_direct_forward(const heddle_direct *plan, const heddle_cpu_kernels *kernels, const float *image,
                           const float *packed, float *output);
// sums (packed like weights) += this image's weight gradient; grad (out_h, out_w, outputs), rows grad_row apart.
void heddle_direct_backward_weight(const heddle_direct *plan, const heddle_cpu_kernels *kernels, const float *image,
                                   const float *grad, ptrdiff_t grad_row, float *sums);

// A 3×3 convolution (stride 1, padding 1) of one image by Winograd's F(2×2, 3×3), and its gradients: what the rungs of
// conv_block and conv2d share. Tiles are taken in blocks of whole tile rows, small enough that a block's transformed
// points stay in the L2 cache between the transforms and the sixteen matrix products.
#pragma once

#include "ops/cpu/image.h"
#include "ops/cpu/kernels.h"
#include "ops/cpu/scratch.h"

// Sizes that follow from a shape. Channels are padded to whole panels.
typedef struct heddle_winograd {
    int c, h, w, k;
    int inputs, outputs;           // padded c and k
    int tile_rows, tile_columns;   // of an image
    int block_rows;                // tile rows per block, at most
    heddle_image_frame frame;      // of the padded input, and of its gradient
    ptrdiff_t image_row;           // floats
    ptrdiff_t in_point, out_point; // floats from one transformed point to the next
    ptrdiff_t weight_point;        // likewise of packed weights
    size_t weights;                // floats of packed weights, in either layout
} heddle_winograd;

heddle_winograd heddle_winograd_plan(int c, int h, int w, int k);

// What a worker needs for a block.
typedef struct heddle_winograd_scratch {
    float *image;      // frame
    float *in_points;  // (16, tiles, inputs): the transformed input, then its gradient
    float *out_points; // (16, tiles, outputs)
} heddle_winograd_scratch;
heddle_winograd_scratch heddle_winograd_take(const heddle_winograd *plan, heddle_scratch *scratch);

// Blocks of an image, and what block `index` covers: its first tile row, and its tiles in the kernels' terms.
int heddle_winograd_blocks(const heddle_winograd *plan);
int heddle_winograd_block(const heddle_winograd *plan, int index, heddle_cpu_tiles *inputs, heddle_cpu_tiles *outputs);

// --- weights, (k, c, 3, 3) for the caller; a task is a panel of 16 channels -----------------------------------------

// packed (16, outputs / 16, inputs, 16) = G g Gᵀ, for the convolution. `scale` (k), which may be NULL, multiplies
// filters.
void heddle_winograd_pack(const heddle_winograd *plan, const float *weight, const float *scale, int panel,
                          float *packed);
// packed (16, inputs / 16, outputs, 16): the same transposed, for the gradient of the input.
void heddle_winograd_pack_transposed(const heddle_winograd *plan, const float *weight, int panel, float *packed);
// part (outputs / 16, inputs, 9, 16) = Gᵀ grad G of grad (16, outputs / 16, inputs, 16).
void heddle_winograd_grad_weights(const heddle_winograd *plan, const float *grad, float *part);
// grad_weight (k, c, 3, 3), the panel's part of it = sum of `parts` of them, in order.
void heddle_winograd_add_parts(const heddle_winograd *plan, const float *part, int parts, int panel,
                               float *grad_weight);
size_t heddle_winograd_part_floats(const heddle_winograd *plan);

// --- the sixteen products of a block --------------------------------------------------------------------------------

void heddle_winograd_forward(const heddle_winograd *plan, const heddle_cpu_kernels *kernels, int tiles,
                             const float *in_points, const float *packed, float *out_points);
void heddle_winograd_backward_data(const heddle_winograd *plan, const heddle_cpu_kernels *kernels, int tiles,
                                   const float *out_points, const float *packed_transposed, float *in_points);
// grad (16, outputs / 16, inputs, 16) +=
void heddle_winograd_backward_weight(const heddle_winograd *plan, const heddle_cpu_kernels *kernels, int tiles,
                                     const float *in_points, const float *out_points, float *grad);

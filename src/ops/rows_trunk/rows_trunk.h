// rows_trunk: its operators, and the sizes of its stages.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const heddle_op heddle_op_rows_trunk_forward, heddle_op_rows_trunk_backward;

enum {
    HEDDLE_ROWS_TRUNK_FILTER = 7,          // largest side of a filter
    HEDDLE_ROWS_TRUNK_CHANNELS = 64,       // most that a stage gives
    HEDDLE_ROWS_TRUNK_SHARED = 226 * 1024, // bytes of shared memory that a block may ask for: on Hopper, all but one KB
    HEDDLE_ROWS_TRUNK_BLOCKS = 512,        // most blocks that leave sums of gradients, if there are fewer parts
};

// The places of operands in a call's inputs and outputs; a stage's bias follows its weight.
enum {
    HEDDLE_TRUNK_DATASET,
    HEDDLE_TRUNK_ORDER,
    HEDDLE_TRUNK_CURSOR,
    HEDDLE_TRUNK_DATASET_LABELS, // forward
    HEDDLE_TRUNK_FIRST_WEIGHT,
    HEDDLE_TRUNK_GRAD_OUTPUT = HEDDLE_TRUNK_DATASET_LABELS, // backward
    HEDDLE_TRUNK_ACTIVATIONS_OF,
    HEDDLE_TRUNK_SECOND_WEIGHT, // backward needs no weight of the first stage, and no bias
};
enum { HEDDLE_TRUNK_OUTPUT, HEDDLE_TRUNK_ACTIVATIONS, HEDDLE_TRUNK_LABELS };               // of forward
enum { HEDDLE_TRUNK_FIRST_GRADIENT, HEDDLE_TRUNK_ARRIVED = 2 * HEDDLE_ROWS_TRUNK_STAGES }; // of backward

// What a stage reads and leaves of one image; all 0 for a stage that is not there.
typedef struct heddle_trunk_size {
    int c, h, w;
    int out_h, out_w;   // of the convolution
    int next_h, next_w; // after pooling
    int kept_h, kept_w; // results of the convolution that are in a window
    int kept;           // where they begin in the image's row of `activations`, (k, kept_h, kept_w)
} heddle_trunk_size;

// The first is always there.
static inline int heddle_trunk_stages(const heddle_rows_trunk_shape *shape)
{
    int count = 1;
    while (count < HEDDLE_ROWS_TRUNK_STAGES && shape->stage[count].k > 0)
        count++;
    return count;
}

static inline heddle_trunk_size heddle_trunk_size_of(const heddle_rows_trunk_shape *shape, int index)
{
    heddle_trunk_size size;
    int kept = 0;
    size.c = shape->c, size.next_h = shape->h, size.next_w = shape->w;
    size.out_h = size.out_w = size.kept_h = size.kept_w = size.h = size.w = size.kept = 0;
    for (int i = 0; i <= index; i++) {
        const heddle_rows_trunk_stage *stage = &shape->stage[i];
        const int window = stage->window > 0 ? stage->window : 1;
        if (i > 0)
            size.c = shape->stage[i - 1].k;
        size.h = size.next_h, size.w = size.next_w;
        size.out_h = size.h + 2 * stage->padding - stage->r + 1;
        size.out_w = size.w + 2 * stage->padding - stage->r + 1;
        size.next_h = size.out_h / window, size.next_w = size.out_w / window;
        size.kept_h = size.next_h * window, size.kept_w = size.next_w * window;
        size.kept = kept;
        kept += stage->k * size.kept_h * size.kept_w;
    }
    return size;
}

// Floats that an image has in `activations`.
static inline int heddle_trunk_kept(const heddle_rows_trunk_shape *shape)
{
    const int last = heddle_trunk_stages(shape) - 1;
    const heddle_trunk_size size = heddle_trunk_size_of(shape, last);
    return size.kept + shape->stage[last].k * size.kept_h * size.kept_w;
}

// Channels of the output, and columns of a row of it.
static inline int heddle_trunk_channels(const heddle_rows_trunk_shape *shape)
{
    return (shape->stage[heddle_trunk_stages(shape) - 1].k + 7) / 8 * 8;
}

static inline int heddle_trunk_columns(const heddle_rows_trunk_shape *shape)
{
    const heddle_trunk_size size = heddle_trunk_size_of(shape, heddle_trunk_stages(shape) - 1);
    return size.next_h * size.next_w * heddle_trunk_channels(shape);
}

// Elements of a stage's weight, (k, c, r, r).
static inline int heddle_trunk_weights(const heddle_rows_trunk_shape *shape, int index)
{
    const heddle_rows_trunk_stage *stage = &shape->stage[index];
    return stage->k * (index > 0 ? shape->stage[index - 1].k : shape->c) * stage->r * stage->r;
}

// Images of a part; the last one may have fewer, or none.
static inline int heddle_trunk_part(const heddle_rows_trunk_shape *shape)
{
    return (shape->n + shape->parts - 1) / shape->parts;
}

#ifdef __cplusplus
}
#endif

// --- reference.c -----------------------------------------------------------------------------------------------------

void heddle_trunk_forward_reference(const void *shape, const double *const *input, double *const *output);
void heddle_trunk_backward_reference(const void *shape, const double *const *input, double *const *output);

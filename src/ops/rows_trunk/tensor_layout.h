// rows_trunk on tensor cores: what a block keeps in shared memory, and into how many products its work is cut. Computed
// on the host, for the rungs and for the question whether a shape fits.
#pragma once

#include "ops/rows_trunk/layout.h"

enum {
    TENSOR_MOST_WARPS = 32,  // on a multiprocessor: what registers suffice for
    TENSOR_WARPS = 16,       // of a block where there are more images than multiprocessors; else it has all
    TENSOR_CHUNK = 16,       // bytes of eight channels: a row of a matrix of ldmatrix
    TENSOR_FRAGMENT = 256,   // bytes of the lanes' elements of the right side of a product, 16 by 8
    TENSOR_PLACE = 16,       // bytes of what a window finds
    TENSOR_SUM = 512,        // bytes of the lanes' results of a product, 16 by 8
    TENSOR_ROWS_PER_TURN = 4 // results of a lane group in two products
};

// Offsets and sizes are in bytes. The elements of pixels, weights and gradients are fp16. A pixel has its channels side
// by side, in an odd number of chunks, so that eight neighbours are in different banks. The image alone has a plane per
// channel, and all of that twice: the second copy begins one column later, so that two neighbouring columns are always
// one aligned word of one of them.
typedef struct tensor_stage {
    heddle_rows_trunk_stage of;
    heddle_trunk_size size;
    int taps;   // lines times columns of the filter
    int chunks; // of eight channels of the input
    int tiles;  // of eight channels of the results
    int input, pitch, pixel, plane, copy;
    int windows;              // where each window finds what
    int weight, weight_lower; // backward, for the gradient of the input; how far the lower halves are from the upper
    int bias;                 // forward
    int steps;                // forward: products, one behind another, that make a result; even
    int offsets;              // where the columns of a product are in the input

    // Backward: gradient of the results, within a frame of zeros that the filter reaches into.
    int gradient, gradient_pitch, gradient_pixel, frame;
    int halves;                 // of 16 channels of the results
    int places;                 // where each result is in gradient and input; of the first stage, where each tap is
    int reach, back_steps;      // where each tap finds the gradient; products that make the gradient of a pixel
    int rows, units, splits;    // of the weight's gradient: products side by side, and threads' shares
    int slots, lines_per_split; // where their sums are
} tensor_stage;

typedef struct tensor_layout {
    int stages;
    tensor_stage stage[HEDDLE_ROWS_TRUNK_STAGES];
    int lower;         // pairs: how far the lower half of an element is from its upper one
    int zeros;         // a pixel without a gradient
    int back;          // backward: the inverse of the scale of gradients
    int halves, bytes; // bytes of fp16, and in all
} tensor_layout;

// Room for `bytes` more; returns where it begins.
static inline int tensor_take(int *used, int bytes)
{
    const int at = *used;
    *used += trunk_round(bytes, 16);
    return at;
}

static inline int tensor_odd_chunks(int chunks)
{
    return TENSOR_CHUNK * (chunks + (chunks % 2 == 0));
}

// The columns of a product of the first stage: (c, r, r rounded up to be even).
static inline int tensor_first_columns(const tensor_stage *stage)
{
    return stage->size.c * stage->of.r * trunk_round(stage->of.r, 2);
}

static inline void tensor_set_input(tensor_stage *stage, int is_first, int *used)
{
    const heddle_trunk_size *size = &stage->size;
    const int h = size->h + 2 * stage->of.padding, w = size->w + 2 * stage->of.padding;
    const int half = 2;
    if (is_first) {
        const int columns = trunk_larger(w + 2, trunk_round(size->kept_w, 16) + stage->of.r + 1);
        stage->pitch = half * trunk_round(columns, 2);
        stage->plane = h * stage->pitch;
        stage->copy = trunk_round(size->c * stage->plane, 16);
        stage->input = tensor_take(used, 2 * stage->copy);
    } else {
        stage->pixel = tensor_odd_chunks(stage->chunks);
        stage->pitch = w * stage->pixel;
        stage->input = tensor_take(used, h * stage->pitch);
    }
}

static inline void tensor_set_forward(tensor_stage *stage, int is_first, int *used)
{
    stage->steps = trunk_round(is_first ? tensor_first_columns(stage) : 8 * stage->taps * stage->chunks, 32) / 16;
    const int bytes = stage->tiles * stage->steps * TENSOR_FRAGMENT;
    stage->weight = tensor_take(used, is_first ? 2 * bytes : bytes); // the first stage's have lower halves always
    stage->weight_lower = bytes;
}

static inline void tensor_set_backward(tensor_stage *stage, int is_first, int *used)
{
    const heddle_trunk_size *size = &stage->size;
    const int across = stage->of.r - 1;
    stage->halves = (stage->of.k + 15) / 16;
    if (is_first) {
        stage->gradient_pixel = tensor_odd_chunks(stage->tiles);
        stage->gradient_pitch = trunk_round(size->kept_w, 16) * stage->gradient_pixel;
        stage->gradient = tensor_take(used, size->kept_h * stage->gradient_pitch);
    } else {
        stage->gradient_pixel = tensor_odd_chunks(2 * stage->halves);
        stage->gradient_pitch = (size->w + across) * stage->gradient_pixel;
        stage->frame = across - stage->of.padding;
        stage->gradient = tensor_take(used, (size->h + across) * stage->gradient_pitch);
        stage->back_steps = trunk_round(stage->taps * stage->halves, 4);
        stage->weight = tensor_take(used, stage->chunks * stage->back_steps * TENSOR_FRAGMENT);
    }
}

// The sums of the weight's gradient. After the first stage a product has 16 channels of the results by a tap's eight
// of the input, and a warp computes two of them; one more is for the bias. In the first stage it has 16 taps by eight
// channels of the results, and warps share the lines; one more tap is for the bias.
static inline void tensor_set_sums(tensor_stage *stage, int is_first, int warps, int *used)
{
    const int lines = stage->size.kept_h, pixels = lines * stage->size.kept_w;
    if (is_first) {
        stage->rows = (stage->size.c * stage->taps + 1 + 15) / 16;
        stage->units = stage->tiles;
        const int side_by_side = stage->rows * stage->units;
        const int splits = side_by_side < warps ? warps / side_by_side : 1;
        stage->lines_per_split = (lines + splits - 1) / splits;
        stage->splits = (lines + stage->lines_per_split - 1) / stage->lines_per_split;
        stage->slots = tensor_take(used, stage->splits * side_by_side * TENSOR_SUM);
        stage->places = tensor_take(used, stage->rows * 16 * (int)sizeof(int));
    } else {
        stage->rows = stage->halves;
        stage->units = (stage->taps * stage->chunks + 1 + 1) / 2;
        stage->splits = 1;
        stage->slots = tensor_take(used, 2 * stage->rows * stage->units * TENSOR_SUM);
        stage->places = tensor_take(used, trunk_round(pixels, 32) * 2 * (int)sizeof(int));
        stage->reach = tensor_take(used, (stage->back_steps + 4) * (int)sizeof(int));
        stage->offsets = tensor_take(used, 2 * stage->units * (int)sizeof(int));
    }
}

static inline tensor_layout tensor_layout_of(const heddle_rows_trunk_shape *shape, int is_backward, int warps)
{
    tensor_layout layout;
    int used = 0, pixel = 0;
    memset(&layout, 0, sizeof layout);
    layout.stages = heddle_trunk_stages(shape);
    for (int i = 0; i < layout.stages; i++) {
        tensor_stage *stage = &layout.stage[i];
        stage->of = shape->stage[i];
        stage->size = heddle_trunk_size_of(shape, i);
        stage->taps = stage->of.r * stage->of.r;
        stage->chunks = (stage->size.c + 7) / 8;
        stage->tiles = (stage->of.k + 7) / 8;
        tensor_set_input(stage, i == 0, &used);
        if (is_backward)
            tensor_set_backward(stage, i == 0, &used);
        else
            tensor_set_forward(stage, i == 0, &used);
        pixel = trunk_larger(pixel, stage->gradient_pixel);
    }
    layout.zeros = tensor_take(&used, pixel);
    layout.halves = used;
    layout.lower = shape->pairs ? used : 0;
    used += layout.lower;
    for (int i = 0; i < layout.stages; i++) {
        tensor_stage *stage = &layout.stage[i];
        stage->windows = tensor_take(&used, stage->size.next_h * stage->size.next_w * TENSOR_PLACE);
        if (i > 0 || shape->pairs)
            stage->weight_lower = layout.lower;
        if (is_backward) {
            tensor_set_sums(stage, i == 0, warps, &used);
            continue;
        }
        stage->bias = tensor_take(&used, 8 * stage->tiles * (int)sizeof(float));
        stage->offsets = tensor_take(&used, 8 * stage->steps * (int)sizeof(int));
    }
    layout.back = tensor_take(&used, (int)sizeof(float));
    layout.bytes = used;
    return layout;
}

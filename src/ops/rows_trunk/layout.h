// rows_trunk: what a block keeps in shared memory, and how its threads share the work. Computed on the host, for the
// rungs and for the question whether a shape fits.
#pragma once

#include "ops/rows_trunk/rows_trunk.h"

enum {
    TRUNK_THREADS = 256,
    TRUNK_STRIP = 4,          // neighbouring results of a line that a thread computes together
    TRUNK_FORWARD_BLOCKS = 3, // per multiprocessor: what registers suffice for
    TRUNK_BACKWARD_BLOCKS = 2,
};

// One convolution in shared memory: input (c, lines + r - 1, pitch) to `splits` shares of the output, each (k, lines,
// STRIP * strips) and a sum over `share` of the channels. A thread computes a strip of `group` channels.
typedef struct trunk_conv {
    int c, k, r, lines, strips;
    int pitch, plane; // of the input: floats per line and channel
    int shift;        // columns of the input before the first that counts
    int group, groups, splits, share, items;
    int out_pitch, out_plane, out_share;
    int weights; // floats: (groups, c, r, r, group padded to a multiple of 4)
} trunk_conv;

// The gradient of a weight: a thread has `taps` neighbouring taps of `group` channels, and every splits-th line.
typedef struct trunk_sums {
    int taps, rows; // rows: of taps, r * r / taps
    int group, groups, splits, items;
} trunk_sums;

// Offsets are in floats.
typedef struct trunk_stage {
    heddle_rows_trunk_stage of;
    heddle_trunk_size size;
    trunk_conv forward, backward; // backward: the gradient of the stage's input
    trunk_sums sums;
    int halo, left;                      // zeros around the gradient of the convolution's results: lines, columns
    int grad_pitch, grad_plane;          // of that gradient
    int input, weight, slots, bias_sums; // where these are in shared memory
    int gradient;                        // where the stage's sums begin in what a block leaves
} trunk_stage;

typedef struct trunk_layout {
    int stages;
    trunk_stage stage[HEDDLE_ROWS_TRUNK_STAGES];
    int shares;   // outputs of convolutions
    int row;      // forward: the row of the output
    int gradient; // backward: of the results of the current stage's convolution
    int gradient_floats;
    int floats; // in all
    int left;   // floats of sums that a block leaves
} trunk_layout;

static inline int trunk_round(int value, int multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

static inline int trunk_larger(int a, int b)
{
    return a > b ? a : b;
}

// Floats of a line: an odd number of vectors, so that neighbouring lines are in different banks.
static inline int trunk_pitch(int columns)
{
    const int vectors = trunk_round(columns, 4) / 4;
    return 4 * (vectors + (vectors % 2 == 0));
}

static inline int trunk_group_room(int group)
{
    return trunk_round(group, 4);
}

// How a convolution is shared among threads: by counting the instructions that all warps of a block issue, and those of
// the longest thread.
static inline void trunk_share_conv(trunk_conv *conv)
{
    const int is_fixed = conv->r == 3 || conv->r == 5;
    const int lines = conv->lines * conv->strips;
    double least = 0;
    for (int group = 4; group <= (is_fixed ? 8 : 4); group += 2)
        for (int share = conv->c; share >= 1; share--) {
            const int groups = (conv->k + group - 1) / group, splits = (conv->c + share - 1) / share;
            const int items = lines * groups * splits, warps = (items + 31) / 32;
            const int rounds = (items + TRUNK_THREADS - 1) / TRUNK_THREADS;
            const double loop = 4.0 * conv->r * group + 2 * conv->r + 6;
            const double cost = share * conv->r * loop * (warps + 8.0 * rounds) + 4.0 * splits * conv->k * lines / 32;
            if ((share == conv->c && group == 4) || cost < least) {
                least = cost;
                conv->group = group, conv->groups = groups;
                conv->share = share, conv->splits = splits, conv->items = items;
            }
        }
    conv->out_pitch = TRUNK_STRIP * conv->strips;
    conv->out_plane = conv->lines * conv->out_pitch;
    conv->out_share = conv->k * conv->out_plane;
    conv->weights = conv->groups * conv->c * conv->r * conv->r * trunk_group_room(conv->group);
}

// Columns that the strips of a line read.
static inline int trunk_columns_read(const trunk_conv *conv)
{
    return TRUNK_STRIP * (conv->strips - 1) + trunk_round(conv->shift + conv->r + TRUNK_STRIP - 1, 4);
}

static inline void trunk_share_sums(trunk_stage *stage)
{
    trunk_sums *sums = &stage->sums;
    const int r = stage->of.r, is_fixed = r == 3 || r == 5;
    sums->taps = is_fixed ? r : 1;
    sums->rows = r * r / sums->taps;
    sums->group = is_fixed && stage->of.k % 4 != 0 && stage->of.k % 3 == 0 ? 3 : 4;
    sums->groups = (stage->of.k + sums->group - 1) / sums->group;
    const int rows = sums->rows * stage->size.c * sums->groups, lines = stage->size.out_h;
    int splits = rows < TRUNK_THREADS ? TRUNK_THREADS / rows : 1;
    if (splits > lines)
        splits = lines;
    const int lines_each = (lines + splits - 1) / splits;
    sums->splits = (lines + lines_each - 1) / lines_each; // none is without a line
    sums->items = rows * sums->splits;
}

static inline void trunk_set_stage(const heddle_rows_trunk_shape *shape, int index, trunk_stage *stage)
{
    stage->of = shape->stage[index];
    stage->size = heddle_trunk_size_of(shape, index);
    const heddle_trunk_size *size = &stage->size;
    const int r = stage->of.r;
    trunk_conv *forward = &stage->forward, *backward = &stage->backward;
    forward->c = size->c, forward->k = stage->of.k, forward->r = r;
    forward->lines = size->out_h, forward->strips = trunk_round(size->out_w, TRUNK_STRIP) / TRUNK_STRIP;
    forward->shift = 0;
    forward->pitch = trunk_pitch(trunk_larger(size->w + 2 * stage->of.padding, trunk_columns_read(forward)));
    forward->plane = (size->h + 2 * stage->of.padding) * forward->pitch;
    trunk_share_conv(forward);
    trunk_share_sums(stage);
    // The first stage's input has no gradient, and that of its results needs no zeros around it.
    stage->halo = index > 0 ? r - 1 - stage->of.padding : 0;
    stage->left = trunk_round(stage->halo, 4);
    int columns = stage->left + trunk_larger(TRUNK_STRIP * forward->strips, size->out_w + stage->halo);
    if (index > 0) {
        backward->c = stage->of.k, backward->k = size->c, backward->r = r;
        backward->lines = size->h, backward->strips = trunk_round(size->w, TRUNK_STRIP) / TRUNK_STRIP;
        backward->shift = stage->left - stage->halo;
        columns = trunk_larger(columns, trunk_columns_read(backward));
    }
    stage->grad_pitch = trunk_pitch(columns);
    stage->grad_plane = (size->out_h + 2 * stage->halo) * stage->grad_pitch;
    if (index > 0) {
        backward->pitch = stage->grad_pitch, backward->plane = stage->grad_plane;
        trunk_share_conv(backward);
    }
}

// Room for `floats` more; returns where it begins.
static inline int trunk_take(trunk_layout *layout, int floats)
{
    const int at = layout->floats;
    layout->floats += trunk_round(floats, 4);
    return at;
}

static inline trunk_layout trunk_layout_of(const heddle_rows_trunk_shape *shape, int is_backward)
{
    trunk_layout layout;
    int shares = 0;
    layout.stages = heddle_trunk_stages(shape);
    layout.floats = layout.left = layout.gradient_floats = 0;
    for (int i = 0; i < layout.stages; i++) {
        trunk_stage *stage = &layout.stage[i];
        trunk_set_stage(shape, i, stage);
        const trunk_conv *conv = is_backward ? &stage->backward : &stage->forward;
        const int has_conv = !is_backward || i > 0;
        shares = has_conv ? trunk_larger(shares, conv->splits * conv->out_share) : shares;
        stage->input = trunk_take(&layout, stage->size.c * stage->forward.plane);
        stage->weight = trunk_take(&layout, has_conv ? conv->weights : 0);
        stage->slots = trunk_take(&layout, is_backward ? stage->sums.items * stage->sums.group * stage->sums.taps : 0);
        stage->bias_sums = trunk_take(&layout, stage->of.k); // forward: the biases themselves
        layout.gradient_floats =
            trunk_larger(layout.gradient_floats, stage->sums.groups * stage->sums.group * stage->grad_plane);
        stage->gradient = layout.left;
        layout.left += trunk_round(heddle_trunk_weights(shape, i) + stage->of.k, 4);
    }
    layout.shares = trunk_take(&layout, shares);
    layout.row = trunk_take(&layout, is_backward ? 0 : heddle_trunk_columns(shape));
    layout.gradient = trunk_take(&layout, is_backward ? layout.gradient_floats : 0);
    return layout;
}

static inline double trunk_bytes(const heddle_rows_trunk_shape *shape, int is_backward)
{
    const trunk_layout layout = trunk_layout_of(shape, is_backward);
    return (double)layout.floats * sizeof(float);
}

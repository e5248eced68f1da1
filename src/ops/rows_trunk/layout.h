// rows_trunk: what a block keeps in shared memory, and how its threads share the work. Computed on the host, for the
// rungs and for the question whether a shape fits.
#pragma once

#include <string.h>

#include "ops/rows_trunk/rows_trunk.h"

enum {
    TRUNK_THREADS = 256,
    TRUNK_GROUP = 4,          // most channels of the input whose gradients a thread computes together
    TRUNK_STRIP = 4,          // neighbouring results of a line that a thread computes together
    TRUNK_FORWARD_BLOCKS = 3, // per multiprocessor: what registers suffice for
    TRUNK_BACKWARD_BLOCKS = 2,
    TRUNK_SET_UP = 100, // instructions of a thread before and after its sums
};

// A convolution in shared memory: input (c, lines + r - 1, pitch) to `splits` shares of the output, each (k, lines,
// strips, STRIP) and a sum over `share` of the input's channels. A thread computes a strip of `group` channels.
typedef struct trunk_conv {
    int strips;
    int pitch, plane; // of the input: floats per line and channel
    int group, groups, splits, share, items;
    int weights; // floats: (groups, c, r, r, group padded to a multiple of 4)
} trunk_conv;

// The gradient of its input: shares of (c, h, strips, room). A thread multiplies a strip of a line of the output's
// gradient by the filter's line, which gives `room` columns, for `group` channels; strips overlap.
typedef struct trunk_spread {
    int room;
    int group, groups, splits, share, items; // share: of the output's channels
    int pitch, weights;                      // (groups, pitch): k, r, r, GROUP, and a vector, for other banks
} trunk_spread;

// The gradient of the weight: a thread has `taps` neighbouring taps of `group` channels, and every splits-th line.
typedef struct trunk_sums {
    int taps, rows;   // rows: of taps, r * r / taps
    int pitch, plane; // of the output's gradient
    int group, groups, splits, items;
} trunk_sums;

// Offsets are in floats.
typedef struct trunk_stage {
    heddle_rows_trunk_stage of;
    heddle_trunk_size size;
    trunk_conv forward;
    trunk_spread backward;
    trunk_sums sums;
    int input, weight, slots, bias; // where these are in shared memory; backward, bias is the sum of its gradients
} trunk_stage;

typedef struct trunk_layout {
    int stages;
    trunk_stage stage[HEDDLE_ROWS_TRUNK_STAGES];
    int shares;   // outputs of convolutions
    int row;      // forward: the row of the output
    int gradient; // backward: of the results of the current stage's convolution
    int floats;   // in all
} trunk_layout;

// The sums that a block leaves: of each stage those of the weight, (k, c, r, r), and of the bias.
typedef struct trunk_left {
    int stages;
    struct {
        int begin, weights, k;
    } stage[HEDDLE_ROWS_TRUNK_STAGES];
    int floats;
} trunk_left;

static inline int trunk_round(int value, int multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

static inline int trunk_larger(int a, int b)
{
    return a > b ? a : b;
}

static inline trunk_left trunk_left_of(const heddle_rows_trunk_shape *shape)
{
    trunk_left left;
    memset(&left, 0, sizeof left);
    left.stages = heddle_trunk_stages(shape);
    for (int i = 0; i < left.stages; i++) {
        left.stage[i].begin = left.floats;
        left.stage[i].weights = heddle_trunk_weights(shape, i);
        left.stage[i].k = shape->stage[i].k;
        left.floats += trunk_round(left.stage[i].weights + left.stage[i].k, 4);
    }
    return left;
}

// Filters that kernels know at compile time.
static inline int trunk_is_fixed(int r)
{
    return r == 3 || r == 5;
}

// Floats of a line of at least so many columns: an odd number of vectors, so that neighbouring lines are in different
// banks.
static inline int trunk_pitch(int columns)
{
    const int vectors = trunk_round(columns, 4) / 4;
    return 4 * (vectors + (vectors % 2 == 0));
}

// The same where threads read all strips of a line and then those of the next, in eight banks of vectors.
static inline int trunk_strip_pitch(int columns, int strips)
{
    int vectors = trunk_round(columns, 4) / 4;
    while (vectors % 8 != strips % 8)
        vectors++;
    return 4 * vectors;
}

// Instructions of a convolution's threads: those that all warps of a block issue, and those of the longest thread.
static inline double trunk_cost(int items, double each)
{
    const int warps = (items + 31) / 32, rounds = (items + TRUNK_THREADS - 1) / TRUNK_THREADS;
    return each * (warps + 8.0 * rounds);
}

// How the convolution is shared among threads.
static inline void trunk_share_conv(trunk_stage *stage)
{
    trunk_conv *conv = &stage->forward;
    const int r = stage->of.r, c = stage->size.c, lines = stage->size.out_h * conv->strips;
    double least = 0;
    conv->group = 0;
    for (int group = 4; group <= (trunk_is_fixed(r) ? 8 : 4); group += 2)
        for (int share = c; share >= 1; share--) {
            const int groups = (stage->of.k + group - 1) / group, splits = (c + share - 1) / share;
            const double adding = 8.0 * splits * stage->of.k * lines * TRUNK_STRIP / 32;
            const double each = share * r * (4.0 * r * group + 2 * r + 6) + TRUNK_SET_UP;
            const double cost = trunk_cost(lines * groups * splits, each) + adding;
            if (conv->group > 0 && cost >= least)
                continue;
            least = cost;
            conv->group = group, conv->groups = groups, conv->share = share, conv->splits = splits;
        }
    conv->items = lines * conv->groups * conv->splits;
    conv->weights = conv->groups * c * r * r * trunk_round(conv->group, 4);
}

static inline void trunk_share_spread(trunk_stage *stage)
{
    trunk_spread *spread = &stage->backward;
    const int r = stage->of.r, c = stage->size.c, k = stage->of.k, lines = stage->size.h * stage->forward.strips;
    const int fewest = trunk_is_fixed(r) ? TRUNK_GROUP - 1 : TRUNK_GROUP;
    double least = 0;
    spread->room = trunk_round(r + TRUNK_STRIP - 1, 4);
    spread->group = 0;
    for (int group = fewest; group <= TRUNK_GROUP; group++)
        for (int share = k; share >= 1; share--) {
            // cppcheck-suppress zerodiv ; a group has 3 or 4 channels
            const int groups = (c + group - 1) / group, splits = (k + share - 1) / share;
            const double adding = 16.0 * splits * c * lines * TRUNK_STRIP / 32;
            const double each = share * r * (4.0 * r * group + r + 6) + TRUNK_SET_UP;
            const double cost = trunk_cost(lines * groups * splits, each) + adding;
            if (spread->group > 0 && cost >= least)
                continue;
            least = cost;
            spread->group = group, spread->groups = groups, spread->share = share, spread->splits = splits;
        }
    spread->items = lines * spread->groups * spread->splits;
    spread->pitch = k * r * r * TRUNK_GROUP + 4;
    spread->weights = spread->groups * spread->pitch;
}

static inline void trunk_share_sums(trunk_stage *stage)
{
    trunk_sums *sums = &stage->sums;
    const int r = stage->of.r, lines = stage->size.out_h;
    double least = 0;
    sums->taps = trunk_is_fixed(r) ? r : 1;
    sums->rows = r * r / sums->taps;
    sums->pitch = trunk_pitch(TRUNK_STRIP * stage->forward.strips);
    sums->plane = lines * sums->pitch;
    sums->group = 0;
    for (int group = 2; group <= 4; group += 2) {
        const int groups = (stage->of.k + group - 1) / group, rows = sums->rows * stage->size.c * groups;
        int splits = rows < TRUNK_THREADS ? TRUNK_THREADS / rows : 1;
        splits = splits < lines ? splits : lines;
        const int lines_each = (lines + splits - 1) / splits;
        splits = (lines + lines_each - 1) / lines_each; // none is without a line
        const double each = lines_each * stage->forward.strips * (4.0 * group * sums->taps + group + 6) + TRUNK_SET_UP;
        const double cost = trunk_cost(rows * splits, each);
        if (sums->group > 0 && cost >= least)
            continue;
        least = cost;
        sums->group = group, sums->groups = groups, sums->splits = splits, sums->items = rows * splits;
    }
}

static inline void trunk_set_stage(const heddle_rows_trunk_shape *shape, int index, int is_backward, trunk_stage *stage)
{
    stage->of = shape->stage[index];
    stage->size = heddle_trunk_size_of(shape, index);
    const heddle_trunk_size *size = &stage->size;
    trunk_conv *conv = &stage->forward;
    conv->strips = trunk_round(size->out_w, TRUNK_STRIP) / TRUNK_STRIP;
    const int read = TRUNK_STRIP * (conv->strips - 1) + trunk_round(stage->of.r + TRUNK_STRIP - 1, 4);
    const int columns = trunk_larger(size->w + 2 * stage->of.padding, read);
    conv->pitch = is_backward ? trunk_pitch(columns) : trunk_strip_pitch(columns, conv->strips);
    conv->plane = (size->h + 2 * stage->of.padding) * conv->pitch;
    trunk_share_conv(stage);
    trunk_share_spread(stage);
    trunk_share_sums(stage);
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
    int shares = 0, gradient = 0;
    memset(&layout, 0, sizeof layout);
    layout.stages = heddle_trunk_stages(shape);
    for (int i = 0; i < layout.stages; i++) {
        trunk_stage *stage = &layout.stage[i];
        trunk_set_stage(shape, i, is_backward, stage);
        const trunk_sums *sums = &stage->sums;
        const int forward = stage->forward.splits * stage->of.k * stage->size.out_h * stage->forward.strips;
        const int backward = i == 0 ? 0 // the images have no gradient
                                    : stage->backward.splits * stage->size.c * stage->size.h * stage->forward.strips;
        shares = trunk_larger(shares, is_backward ? backward * stage->backward.room : forward * TRUNK_STRIP);
        gradient = trunk_larger(gradient, sums->groups * sums->group * sums->plane);
        stage->input = trunk_take(&layout, stage->size.c * stage->forward.plane);
        stage->weight = trunk_take(&layout, !is_backward ? stage->forward.weights
                                            : i > 0      ? stage->backward.weights
                                                         : 0);
        stage->slots = trunk_take(&layout, is_backward ? sums->items * sums->group * sums->taps : 0);
        stage->bias = trunk_take(&layout, stage->of.k);
    }
    layout.shares = trunk_take(&layout, shares);
    layout.row = trunk_take(&layout, is_backward ? 0 : heddle_trunk_columns(shape));
    layout.gradient = trunk_take(&layout, is_backward ? gradient : 0);
    return layout;
}

static inline double trunk_bytes(const heddle_rows_trunk_shape *shape, int is_backward)
{
    const trunk_layout layout = trunk_layout_of(shape, is_backward);
    return (double)layout.floats * sizeof(float);
}

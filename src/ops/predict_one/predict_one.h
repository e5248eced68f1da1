// predict_one: its operator, and the steps of a network: what each reads, leaves and where.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle/op.h"
#include "heddle/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const heddle_op heddle_op_predict_one;

enum {
    HEDDLE_PREDICT_STEPS = 24,    // the most that a network may have
    HEDDLE_PREDICT_CHUNK = 16,    // columns of a weight that a warp multiplies at a time
    HEDDLE_PREDICT_TILE = 16,     // pixels of a unit of work
    HEDDLE_PREDICT_WARPS = 8,     // of a block; they share the columns of a unit
    HEDDLE_PREDICT_VECTOR = 4096, // floats of shared memory for what a unit reads
    HEDDLE_PREDICT_CLASSES = 32,  // most classes
    HEDDLE_PREDICT_UNITS = 128,   // units of work that a layer should have, for as many blocks
    HEDDLE_PREDICT_TAPS = 1536,   // fours of columns of all convolutions that differ in what they read or the filter
    HEDDLE_PREDICT_TURNS = 512,   // most blocks: each has an integer of the state, before its two banks
};

// What a step multiplies.
typedef enum heddle_predict_kind {
    HEDDLE_PREDICT_CONV,   // a filter over what it reads
    HEDDLE_PREDICT_LINEAR, // all of what it reads
    HEDDLE_PREDICT_MEANS,  // the means of the channels of what it reads
} heddle_predict_kind;

// A product with what follows it: bias, the way around of a residual, a function, pooling. A row of the table
// `network`, which is in host memory.
typedef struct heddle_predict_step {
    int kind;     // a heddle_predict_kind
    int from;     // the step whose result it reads; -1: the image
    int around;   // the step whose result is added before the function; -1: none
    int channels; // that it gives
    int r, stride, padding, dilation;
    int function, window, average;
    // heddle_predict_place sets the rest.
    int c, h, w;            // what it reads
    int out_h, out_w;       // of the product
    int next_h, next_w;     // after pooling
    int edge, border;       // zeros around what it reads, and around its result
    int phase;              // steps of a phase do not read each other's results
    int columns;            // of its weight, padding included
    int parts;              // a linear layer leaves so many sums for each channel, for its reader to add up
    int taps;               // where the table of a convolution's columns begins
    int weight, bias, left; // where they begin among the weights, and its result among the activations
} heddle_predict_step;
enum { HEDDLE_PREDICT_FIELDS = sizeof(heddle_predict_step) / sizeof(int) };

// Channels of activations: a multiple of four floats.
static inline int heddle_predict_padded(int channels)
{
    return (channels + 3) / 4 * 4;
}

// Lines and pixels that a row of a step's weight has for each channel.
static inline int heddle_predict_lines(const heddle_predict_step *step)
{
    return step->kind == HEDDLE_PREDICT_CONV ? step->r : step->kind == HEDDLE_PREDICT_MEANS ? 1 : step->h;
}
static inline int heddle_predict_pixels(const heddle_predict_step *step)
{
    return step->kind == HEDDLE_PREDICT_CONV ? step->r : step->kind == HEDDLE_PREDICT_MEANS ? 1 : step->w;
}

// A column of a convolution's weight is a tap's channel, in the order of a window of (h, w, channels padded); of a
// linear layer an element of what it reads, in the order in which that lies there: (h, w, channels padded) with the
// zeros around it, or (channels, h, w) of the image.
static inline int heddle_predict_column(const heddle_predict_step *step, int channel, int y, int x)
{
    const int padded = heddle_predict_padded(step->c);
    if (step->kind == HEDDLE_PREDICT_MEANS)
        return channel;
    if (step->kind == HEDDLE_PREDICT_CONV)
        return (y * step->r + x) * padded + channel;
    return step->from < 0 ? (channel * step->h + y) * step->w + x
                          : ((y + step->edge) * (step->w + 2 * step->edge) + x + step->edge) * padded + channel;
}

// Columns that are not padding.
static inline int heddle_predict_read(const heddle_predict_step *step)
{
    const int padded = heddle_predict_padded(step->c);
    return step->kind == HEDDLE_PREDICT_CONV    ? step->r * step->r * padded
           : step->kind == HEDDLE_PREDICT_MEANS ? padded
           : step->from < 0                     ? step->c * step->h * step->w
                                                : (step->h + 2 * step->edge) * (step->w + 2 * step->edge) * padded;
}

// Where the weight of `row` at `column` is among a step's weights. They lie as the lanes of a warp read them: lane
// 4 * i + j has four columns of row i of eight.
static inline long long heddle_predict_place_of(const heddle_predict_step *step, int row, int column)
{
    const int chunk = column / HEDDLE_PREDICT_CHUNK, inside = column % HEDDLE_PREDICT_CHUNK;
    const long long chunks = step->columns / HEDDLE_PREDICT_CHUNK;
    return ((row / 8 * chunks + chunk) * 8 + row % 8) * HEDDLE_PREDICT_CHUNK + inside;
}

// Sets what follows from the first fields of the steps, and of the shape `steps`, `weights` and `activations`; the
// image's and the classes are given. false: not a network that the operator computes.
bool heddle_predict_place(heddle_predict_step *steps, int count, heddle_predict_one_shape *shape);

// The integers of the operand `state`, and what it begins with: no turns yet, zeros around results, and results that
// are missing.
static inline int heddle_predict_state(const heddle_predict_one_shape *shape)
{
    return HEDDLE_PREDICT_TURNS + 2 * shape->activations;
}
void heddle_predict_begin(const heddle_predict_step *steps, const heddle_predict_one_shape *shape, int32_t *state);

#ifdef __cplusplus
}
#endif

// What the kernels of cnn_step's CUDA rungs hand to each other: sizes of the course's network, and where each
// intermediate lies in the workspace. One step is these launches, each a header of its own, in this order:
//
//   prepare.h          moments of the batch's pixels → batchnorm 1's statistics; weights rounded and packed
//   forward.h          conv1 + batchnorm 1 + relu + pool, conv2 + its statistics; an image at a time, never leaving
//   chip hidden.h           batchnorm 2 + relu + pool, and the first linear layer on what comes out head.h relu, second
//   linear layer, cross-entropy and its gradient, down to the hidden layer hidden_backward.h  gradient through the
//   first linear layer: its weights, and the pooled activations 2 backward.h         gradient through block 2 and block
//   1, an image at a time finish.h           sums of what the blocks left; gradients in the layers' own layout; running
//   statistics
//
// Nothing is added by floating-point atomics: blocks leave partial sums, and whoever needs them adds them in a fixed
// order, so that a step gives the same bits every time. Pixels are (h, w, channels), channels last.
#ifndef HEDDLE_OPS_CNN_STEP_LAYOUT_H
#define HEDDLE_OPS_CNN_STEP_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "ops/cnn_step/cnn_step.h"

enum {
    CNN_SIDE = 28, // of an image
    CNN_PIXELS = CNN_SIDE * CNN_SIDE,
    CNN_TAPS = 9,
    CNN_CHANNELS1 = 32,
    CNN_SIDE1 = CNN_SIDE / 2, // after block 1
    CNN_PIXELS1 = CNN_SIDE1 * CNN_SIDE1,
    CNN_CHANNELS2 = 64,
    CNN_SIDE2 = CNN_SIDE1 / 2, // after block 2
    CNN_PIXELS2 = CNN_SIDE2 * CNN_SIDE2,
    CNN_FEATURES = CNN_PIXELS2 * CNN_CHANNELS2, // what the first linear layer takes
    CNN_HIDDEN = 128,
    CNN_MOST_CLASSES = 16,
    CNN_PATCH = CNN_TAPS * CNN_CHANNELS1, // products behind one output of conv2

    CNN_NO_WINNER = 4, // code of a pooling window that relu closed; else 0 1 over 2 3

    // Moments of the 3×3 patches of a batch: 9 sums of pixels, then the 45 sums of products of two, i <= j.
    CNN_MOMENTS = CNN_TAPS + CNN_TAPS * (CNN_TAPS + 1) / 2,

    // Most blocks of each launch that leaves partial sums: what the workspace has room for. Multiprocessors of the
    // largest cards (160), once or twice.
    CNN_PREPARE_BLOCKS = 128,
    CNN_FORWARD_BLOCKS = 320,
    CNN_HIDDEN_TILE = 64,            // samples that a block of hidden.h and hidden_backward.h takes at a time
    CNN_HIDDEN_SPLITS = CNN_PIXELS2, // most parts that hidden.h cuts the features into, each a range of pixels
    CNN_HEAD_SAMPLES = 8,            // of a block of head.h: a warp each
    CNN_BACKWARD_SPLITS = 8,         // most parts that hidden_backward.h cuts the batch into
    CNN_BACKWARD_BLOCKS = 160,

    // What a block of head.h leaves: gradients of output_weight (classes, hidden), hidden_bias, output_bias, then the
    // sum of its losses and the number of its right answers.
    CNN_HEAD_PARTIAL = CNN_MOST_CLASSES * CNN_HIDDEN + CNN_HIDDEN + CNN_MOST_CLASSES + 2,
    CNN_STEM_SUMS = 10, // of a channel: sums of dz * pixel under each tap, and of dz, over the windows' winners
};

// Moment of taps i <= j; tap i alone is moment i.
#define CNN_MOMENT(i, j) (CNN_TAPS + (i)*CNN_TAPS - (i) * ((i)-1) / 2 + ((j) - (i)))

// Which part of hidden.h and hidden_backward.h's work is cut how, from the batch alone, so that every kernel knows.
typedef struct cnn_cuts {
    int tiles;           // of CNN_HIDDEN_TILE samples
    int hidden_splits;   // parts of the features: split s has pixels [s * 49 / splits, (s + 1) * 49 / splits)
    int backward_splits; // parts of the batch, whole tiles each: split s has tiles [s * tiles / splits, ...)
} cnn_cuts;

static inline cnn_cuts cnn_cuts_of(int n)
{
    // 132 blocks or so fill a card once. Few tiles are cut into many parts, many into few.
    const int wanted = 132;
    cnn_cuts cuts;
    cuts.tiles = (n + CNN_HIDDEN_TILE - 1) / CNN_HIDDEN_TILE;
    cuts.hidden_splits = wanted / cuts.tiles < 1                   ? 1
                         : wanted / cuts.tiles > CNN_HIDDEN_SPLITS ? CNN_HIDDEN_SPLITS
                                                                   : wanted / cuts.tiles;
    cuts.backward_splits = cuts.tiles / 4 < 1                         ? 1
                           : cuts.tiles / 4 > CNN_BACKWARD_SPLITS / 2 ? CNN_BACKWARD_SPLITS / 2
                                                                      : cuts.tiles / 4;
    return cuts;
}

// Statistics of batchnorm 2 and what follows from them.
typedef struct cnn_statistics {
    float mean[CNN_CHANNELS2], inverse_std[CNN_CHANNELS2], variance[CNN_CHANNELS2]; // variance: biased
} cnn_statistics;

// The intermediates of one step. `Operand` is what products take (float, __half or __nv_bfloat16), `Convolution` what
// conv2's output is kept in. Counters start at zero (prepare.h clears them, or the block that used one last).
//
// Packed weights, all rounded to Operand:
//   conv2_forward  [64 out][9 taps][32 in]
//   conv2_backward [32 in][9 taps, turned by 180 degrees][64 out]
//   hidden         [128][49 pixels][64 channels]: hidden_weight with its columns in the order of `pooled2`
//   conv1          conv1's weight times gamma1 * inverse_std / 255, with beta1 - mean * ... as the bias; fragments of
//                  forward.h's products, written by prepare.h
template <typename Operand, typename Convolution> struct cnn_workspace {
    unsigned *counters;          // [16]
    unsigned long long *moments; // [CNN_PREPARE_BLOCKS][CNN_MOMENTS] of each block of prepare.h
    float *stem_statistics;      // [3][32] mean, inverse_std, variance of conv1's output, without its bias
    double *stem_moments;        // [CNN_MOMENTS] of the whole batch, pixels as 0..255
    uint32_t *conv1;             // [1024] packed
    Operand *conv2_forward;      // [64][9][32]
    Operand *conv2_backward;     // [32][9][64]
    Operand *hidden;             // [128][49][64]
    Operand *pooled1;            // [n][14][14][32]
    uint8_t *code1;              // [n][14][14][32]
    Convolution *convolution2;   // [n][14][14][64] without its bias
    float *statistics2_partial;  // [CNN_FORWARD_BLOCKS][2][64] sums and sums of squares of each block
    cnn_statistics *statistics2; // by the last block of forward.h
    Operand *pooled2;            // [n][49][64]
    uint8_t *code2;              // [n][49][64]
    float *hidden_partial;       // [splits][tiles * 64][128] without the bias
    Operand *grad_hidden;        // [tiles * 64][128] before relu's input; rows past n are zero. Times n * scale
    float *head_partial;         // [ceil(n / CNN_HEAD_SAMPLES)][CNN_HEAD_PARTIAL]. Times n
    Operand *grad_pooled2;       // [n][49][64], already zero where relu closed the window. Times n * scale
    float *sums2_partial;        // [49 * splits][2][64] sums of grad_pooled2 and of it times the normalised value
    float *sums2;                // [2][64] the same, added up by the last block of hidden_backward.h. Times n * scale
    float *grad_hidden_partial;  // [splits][128][49][64] gradient of the packed hidden weight. Times n * scale
    float *grad_conv2_partial;   // [CNN_BACKWARD_BLOCKS][64 out][9][32 in]. Times n * scale
    float *stem_sums_partial;    // [CNN_BACKWARD_BLOCKS][32][CNN_STEM_SUMS]. Times n * scale, pixels as 0..255
};

// Lays it out from `memory` on and returns the bytes it takes; `memory` NULL: the bytes alone.
template <typename Operand, typename Convolution>
static size_t cnn_workspace_place(int n, void *memory, cnn_workspace<Operand, Convolution> *workspace)
{
    const cnn_cuts cuts = cnn_cuts_of(n);
    const size_t samples = (size_t)n, rows = (size_t)cuts.tiles * CNN_HIDDEN_TILE;
    size_t offset = 0;
#define CNN_PLACE(field, count)                                                                                        \
    do {                                                                                                               \
        workspace->field = (decltype(workspace->field))((char *)memory + offset);                                      \
        offset += ((size_t)(count) * sizeof *workspace->field + 255) / 256 * 256;                                      \
    } while (0)
    CNN_PLACE(counters, 16);
    CNN_PLACE(moments, CNN_PREPARE_BLOCKS * CNN_MOMENTS);
    CNN_PLACE(stem_statistics, 3 * CNN_CHANNELS1);
    CNN_PLACE(stem_moments, CNN_MOMENTS);
    CNN_PLACE(conv1, 1024);
    CNN_PLACE(conv2_forward, CNN_CHANNELS2 * CNN_PATCH);
    CNN_PLACE(conv2_backward, CNN_CHANNELS2 * CNN_PATCH);
    CNN_PLACE(hidden, CNN_HIDDEN * CNN_FEATURES);
    CNN_PLACE(pooled1, samples * CNN_PIXELS1 * CNN_CHANNELS1);
    CNN_PLACE(code1, samples * CNN_PIXELS1 * CNN_CHANNELS1);
    CNN_PLACE(convolution2, samples * CNN_PIXELS1 * CNN_CHANNELS2);
    CNN_PLACE(statistics2_partial, CNN_FORWARD_BLOCKS * 2 * CNN_CHANNELS2);
    CNN_PLACE(statistics2, 1);
    CNN_PLACE(pooled2, samples * CNN_FEATURES);
    CNN_PLACE(code2, samples * CNN_FEATURES);
    CNN_PLACE(hidden_partial, cuts.hidden_splits * rows * CNN_HIDDEN);
    CNN_PLACE(grad_hidden, rows * CNN_HIDDEN);
    CNN_PLACE(head_partial, (samples + CNN_HEAD_SAMPLES - 1) / CNN_HEAD_SAMPLES * CNN_HEAD_PARTIAL);
    CNN_PLACE(grad_pooled2, samples * CNN_FEATURES);
    CNN_PLACE(sums2_partial, CNN_PIXELS2 * cuts.backward_splits * 2 * CNN_CHANNELS2);
    CNN_PLACE(sums2, 2 * CNN_CHANNELS2);
    CNN_PLACE(grad_hidden_partial, (size_t)cuts.backward_splits * CNN_HIDDEN * CNN_FEATURES);
    CNN_PLACE(grad_conv2_partial, CNN_BACKWARD_BLOCKS * CNN_CHANNELS2 * CNN_PATCH);
    CNN_PLACE(stem_sums_partial, CNN_BACKWARD_BLOCKS * CNN_CHANNELS1 * CNN_STEM_SUMS);
#undef CNN_PLACE
    return offset;
}

// What every kernel of the step is given.
template <typename Operand, typename Convolution> struct cnn_arguments {
    int n, classes;
    float epsilon, momentum;
    int forward_blocks, backward_blocks; // of the launches whose partial sums others add up
    heddle_cnn_step_operands operands;
    cnn_workspace<Operand, Convolution> workspace;
};

#endif

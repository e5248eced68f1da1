// What the kernels of cnn_step's CUDA rungs hand to each other: sizes of the MNIST CNN, and where each intermediate
// lies in the workspace. A step is seven launches. Each has a header, and most have a second one for Hopper:
//
//   launch           mma.sync (03, 04)    wgmma (05 to 08)           what it does
//   prepare          prepare.h            the same                   moments of the batch's pixels; weights rounded and
//                                                                    packed
//   forward          forward.h            forward_wgmma.h            conv1 + batchnorm 1 + relu + pool, conv2 + its
//                                                                    statistics, one image at a time
//   hidden           hidden.h             hidden_wgmma.h (16 bits),  batchnorm 2 + relu + pool, and the first linear
//                                         hidden.h (floats)          layer on what comes out
//   head             head.h               the same                   relu, second linear layer, cross-entropy and its
//                                                                    gradient, down to the hidden layer
//   hidden_backward  hidden_backward.h    hidden_backward_winners.h  gradient through the first linear layer: its
//                                         (16 bits),                 weights, and the pooled activations 2
//                                         hidden_backward_wgmma.h
//                                         (floats)
//   backward         backward.h           backward_wgmma.h           gradient through block 2 and block 1, one image at
//                                                                    a time
//   finish           finish.h             the same                   sums of the blocks' results; gradients in the
//                                                                    layers' own layout; running statistics
//
// What these include:
//
//   arithmetic.h                  tf32x3, tf32, fp16, bf16: rounding, products by mma.sync, loads and stores
//   kernels.h, step.h             the launches as a table; a rung of cnn_step
//   forward_stem.h                conv1 of both forward kernels, batchnorm 1 folded into it
//   forward_statistics.h          batchnorm 2's statistics: stored by forward, added by hidden
//   forward_wgmma_stem.h          conv1 of forward_wgmma.h
//   forward_wgmma_products.h      its products
//   forward_wgmma_output.h        its epilogue of conv2: stores, winners of the windows, sums
//   hidden_wgmma_products.h       products and maps of the hidden layer's kernels for Hopper
//   sums2.h                       batchnorm 2's two sums: stored by hidden_backward, added by backward
//   backward_products.h           tiles and products of backward.h
//   backward_stage.h              its warps that load the next image
//   backward_wgmma_tiles.h        layout of shared memory in backward_wgmma.h
//   backward_wgmma_begin.h        what a block of it does before its first image
//   backward_wgmma_stage.h        its warps that load the next image
//   backward_wgmma_products.h     its instructions, shared with hidden_backward_wgmma.h
//   backward_wgmma_stem.h         its sums for conv1's gradient
//   backward_wgmma_few.h          the same kernel if no block has a second image
//   backward_wgmma_few_begin.h    and what a block of that does first
//   update.h                      what finish.h does with an element of a gradient: stores it, or updates the parameter
//
// cnn_train's rungs (../cnn_train/train.h) have the same kernels. There finish.h updates the parameters with the
// gradients, packs them again and folds batchnorm 1 into conv1 for the step after; head.h takes the moments of the
// batch after this one, and so only the first step has a prepare.h.
//
// Nothing is added by floating-point atomics: blocks leave partial sums, and whoever needs them adds them in a fixed
// order, so that a step gives the same bits every time. Pixels are (h, w, channels), channels last.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ops/cnn_step/cnn_step.h"
#include "ops/cnn_train/cnn_train.h"

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
    CNN_PATCH = CNN_TAPS * CNN_CHANNELS1, // products per output of conv2

    CNN_NO_WINNER = 4, // code of a pooling window that relu closed; else 0 1 over 2 3

    // Moments of the 3×3 patches of a batch: 9 sums of pixels, then the 45 sums of products of two, i <= j.
    CNN_MOMENTS = CNN_TAPS + CNN_TAPS * (CNN_TAPS + 1) / 2,

    // pooled1 and the gradient of conv2's output in shared memory: an image with a border. Products take rows of eight
    // pixels, so those at the end of the last row reach two pixels further.
    CNN_TILE_SIDE = CNN_SIDE1 + 2,
    CNN_TILE_PIXELS = CNN_TILE_SIDE * CNN_TILE_SIDE + 2,

    CNN_COUNTERS = 16, // for the kernels whose last block does something

    // The largest number of blocks of each launch that stores partial sums, for which the workspace has room: the SMs
    // of the largest GPUs (160), once or twice.
    CNN_PREPARE_BLOCKS = 256,
    CNN_FORWARD_BLOCKS = 320,
    CNN_HIDDEN_TILE = 64,            // samples that a block of hidden.h and hidden_backward.h takes at a time
    CNN_HIDDEN_SPLITS = CNN_PIXELS2, // most parts that hidden.h splits the features into, each a range of pixels
    CNN_SPLITS_OF_PAIRS = 4,         // of backward_splits, where two blocks share an SM
    CNN_SPLITS_OF_ONE = 2,           // and if a block has the SM to itself (cnn_cuts_for)
    CNN_HEAD_WARPS = 8,              // of a block of head.h: one or more a sample
    CNN_HEAD_BLOCKS = 256,           // most blocks of head.h; more samples than they take at a time are taken in turns
    CNN_BACKWARD_BLOCKS = 160,

    // What a block of head.h stores, and where: gradients of output_weight (classes, hidden), hidden_bias, output_bias,
    // then the sum of its losses and the number of its correct answers.
    CNN_HEAD_HIDDEN_BIAS = CNN_MOST_CLASSES * CNN_HIDDEN,
    CNN_HEAD_OUTPUT_BIAS = CNN_HEAD_HIDDEN_BIAS + CNN_HIDDEN,
    CNN_HEAD_LOSS = CNN_HEAD_OUTPUT_BIAS + CNN_MOST_CLASSES,
    CNN_HEAD_CORRECT,
    CNN_HEAD_PARTIAL,

    // What finish.h stores of a channel of conv1 for the next step: the weight with batchnorm 1 folded in, and the
    // rest.
    CNN_FOLDED_BIAS = CNN_TAPS,
    CNN_FOLDED_MEAN,
    CNN_FOLDED_INVERSE_STD,
    CNN_FOLDED_VARIANCE,
    CNN_FOLDED,
    CNN_STEM_SUMS = 10, // of a channel: sums of dz * pixel under each tap, and of dz, over the windows' winners
};

// Moment of taps i <= j; tap i alone is moment i.
#define CNN_MOMENT(i, j) (CNN_TAPS + (i)*CNN_TAPS - (i) * ((i)-1) / 2 + ((j) - (i)))

// How the work of hidden.h and hidden_backward.h is split, from the batch alone, so that every kernel knows.
typedef struct cnn_cuts {
    int tiles;           // of CNN_HIDDEN_TILE samples
    int hidden_splits;   // parts of the features: split s has pixels [s * 49 / splits, (s + 1) * 49 / splits)
    int backward_splits; // parts of the batch, whole stages of hidden_backward.h each
    int head_samples;    // that a block of head.h takes at a time: 1, 2, 4 or 8
    int head_blocks;     // each leaves one row of head_partial
} cnn_cuts;

static inline cnn_cuts cnn_cuts_of(int n)
{
    // 132 blocks or so fill a GPU once. Few tiles are split into many parts, many into few.
    const int wanted = 132;
    cnn_cuts cuts;
    cuts.tiles = (n + CNN_HIDDEN_TILE - 1) / CNN_HIDDEN_TILE;
    cuts.hidden_splits = wanted / cuts.tiles < 1                   ? 1
                         : wanted / cuts.tiles > CNN_HIDDEN_SPLITS ? CNN_HIDDEN_SPLITS
                                                                   : wanted / cuts.tiles;
    // 49 blocks per part, two of them per SM; each further part is more to add afterwards.
    cuts.backward_splits = cuts.tiles >= 32 ? 5 : cuts.tiles >= 16 ? CNN_SPLITS_OF_PAIRS : cuts.tiles >= 4 ? 2 : 1;
    // Few samples have several warps each, so that many blocks share the reading of their partial sums; many are taken
    // in turn, by two blocks per SM.
    cuts.head_samples = 1;
    while (cuts.head_samples < CNN_HEAD_WARPS && n > cuts.head_samples * CNN_HEAD_BLOCKS / 2)
        cuts.head_samples *= 2;
    cuts.head_blocks = (n + cuts.head_samples - 1) / cuts.head_samples;
    if (cuts.head_blocks > CNN_HEAD_BLOCKS)
        cuts.head_blocks = CNN_HEAD_BLOCKS;
    return cuts;
}

// Blocks of forward_wgmma.h, and so rows of statistics2_partial: two per image if there are enough SMs.
static inline int cnn_wgmma_blocks(int n, int multiprocessors)
{
    const int most = multiprocessors < CNN_FORWARD_BLOCKS ? multiprocessors : CNN_FORWARD_BLOCKS;
    return 2 * n <= most ? 2 * n : n < most ? n : most;
}

// Statistics of batchnorm 2 and what follows from them.
typedef struct cnn_statistics {
    float mean[CNN_CHANNELS2], inverse_std[CNN_CHANNELS2], variance[CNN_CHANNELS2]; // variance: biased
} cnn_statistics;

// The intermediates of one step, FIELD(type, name, count): `Operand` is what products take (float, __half or
// __nv_bfloat16), `Convolution` what conv2's output is kept in; `samples` is n, `rows` n rounded up to whole tiles,
// `cuts` what cnn_cuts_of(n) says. "Times n" are gradients of the sum of losses, not of their mean.
//
//   counters             [CNN_COUNTERS], cleared by prepare.h and, between two steps, by finish.h
//   moments              [2][blocks][CNN_MOMENTS] of each block of prepare.h, lower and upper halves of 64 bits
//   stem_statistics      [3][32] mean, inverse_std, variance of conv1's output, without its bias: forward.h
//   stem_moments         of the whole batch, pixels as 0..255: forward.h
//   folded, next_moments [CNN_FOLDED][32] and stem_moments of the step after, in cnn_train: finish.h
//   conv2_forward        conv2's weight, rounded: [16-byte chunks along 9 taps, 32 in][64 out], rows as in prepare.h
//   conv2_parts          the same for Hopper, [part][16-byte chunks along 9 taps, 32 in][64 out]: rounded 16-bit
//                        operands; or, of float operands, times conv2_scale as one half, or two that add up to it
//   conv2_scale          [64], the same power of two
//   conv2_backward       [32 in][9 taps, turned by 180 degrees][64 out]
//   hidden               hidden_weight with its columns in the order of pooled2: [128][49 pixels][64 channels]. Where
//                        arguments.in_halves, this, pooled2 and grad_hidden are halves times a power of two, one or
//                        two that add up to it, [part][...], and grad_hidden has n rows
//   pooled1, code1       [n][14][14][32]; pooled1 of float operands forward_wgmma.h leaves as backward_wgmma.h takes
//                        it, halves times a power of two, [part][n][14][14][32]
//   convolution2         [n][14][14][64] without its bias
//   statistics2_partial  [blocks][2][64] sums and sums of squares of each block of forward.h
//   statistics2          by the first block of hidden.h
//   winner2              [n][49][64] of convolution2, where forward_wgmma.h finds the windows' winners
//   pooled2, code2       [n][49][64]; with winner2 there, code2 is its place whether or not relu closes the window, and
//                        where hidden_wgmma.h reads it, pooled2 is not left
//   hidden_partial       [splits][rows][128] without the bias
//   grad_hidden          [rows][128] before relu's input; rows past n are zero. Times n
//   hidden_scale         [1] the power of two that grad_hidden is multiplied by where it is halves: head.h
//   head_partial         [head_blocks][CNN_HEAD_PARTIAL]. Times n
//   grad_pooled2         [n][49][64], already zero where relu closed the window. Times n
//   sums2_partial        [49 * splits][2][64] sums of grad_pooled2 and of it times the normalised value. Times n
//   sums2                [2][64] the same, added up: by the first block of backward.h
//   grad_hidden_partial  [splits][128][49][64] gradient of the packed hidden weight. Times n
//   grad_conv2_partial   [blocks][64 out][9][32 in]. Times n
//   stem_sums_partial    [blocks][32][CNN_STEM_SUMS]. Times n, pixels as 0..255
// clang-format off
#define CNN_WORKSPACE_FIELDS(FIELD, Operand, Convolution)                                                              \
    FIELD(unsigned, counters, CNN_COUNTERS)                                                                            \
    FIELD(uint32_t, moments, 2 * CNN_PREPARE_BLOCKS * CNN_MOMENTS)                                                     \
    FIELD(float, stem_statistics, 3 * CNN_CHANNELS1)                                                                   \
    FIELD(double, stem_moments, CNN_MOMENTS)                                                                           \
    FIELD(float, folded, CNN_CHANNELS1 * CNN_FOLDED)                                                                   \
    FIELD(double, next_moments, CNN_MOMENTS)                                                                           \
    FIELD(Operand, conv2_forward, CNN_CHANNELS2 * CNN_PATCH)                                                           \
    FIELD(uint16_t, conv2_parts, 2 * CNN_CHANNELS2 * CNN_PATCH)                                                        \
    FIELD(float, conv2_scale, CNN_CHANNELS2)                                                                           \
    FIELD(Operand, conv2_backward, CNN_CHANNELS2 * CNN_PATCH)                                                          \
    FIELD(Operand, hidden, CNN_HIDDEN * CNN_FEATURES)                                                                  \
    FIELD(Operand, pooled1, samples * CNN_PIXELS1 * CNN_CHANNELS1)                                                     \
    FIELD(uint8_t, code1, samples * CNN_PIXELS1 * CNN_CHANNELS1)                                                       \
    FIELD(Convolution, convolution2, samples * CNN_PIXELS1 * CNN_CHANNELS2)                                            \
    FIELD(float, statistics2_partial, CNN_FORWARD_BLOCKS * 2 * CNN_CHANNELS2)                                          \
    FIELD(cnn_statistics, statistics2, 1)                                                                              \
    FIELD(Convolution, winner2, samples * CNN_FEATURES)                                                                \
    FIELD(Operand, pooled2, samples * CNN_FEATURES)                                                                    \
    FIELD(uint8_t, code2, samples * CNN_FEATURES)                                                                      \
    FIELD(float, hidden_partial, cuts.hidden_splits * rows * CNN_HIDDEN)                                               \
    FIELD(Operand, grad_hidden, rows * CNN_HIDDEN)                                                                     \
    FIELD(float, hidden_scale, 1)                                                                                      \
    FIELD(float, head_partial, cuts.head_blocks * CNN_HEAD_PARTIAL)                                                    \
    FIELD(Operand, grad_pooled2, samples * CNN_FEATURES)                                                               \
    FIELD(float, sums2_partial, CNN_PIXELS2 * cuts.backward_splits * 2 * CNN_CHANNELS2)                                \
    FIELD(float, sums2, 2 * CNN_CHANNELS2)                                                                             \
    FIELD(float, grad_hidden_partial, cuts.backward_splits * CNN_HIDDEN * CNN_FEATURES)                                \
    FIELD(float, grad_conv2_partial, CNN_BACKWARD_BLOCKS * CNN_CHANNELS2 * CNN_PATCH)                                  \
    FIELD(float, stem_sums_partial, CNN_BACKWARD_BLOCKS * CNN_CHANNELS1 * CNN_STEM_SUMS)
// clang-format on

// Bytes of `count` elements in the workspace: fields begin at multiples of more than any access needs.
static inline size_t cnn_workspace_room(size_t count, size_t size)
{
    const size_t alignment = 256;
    return (count * size + alignment - 1) / alignment * alignment;
}

#ifdef __cplusplus

template <typename Operand, typename Convolution> struct cnn_workspace {
#define CNN_FIELD(type, name, count) type *name;
    CNN_WORKSPACE_FIELDS(CNN_FIELD, Operand, Convolution)
#undef CNN_FIELD
};

// The split of one arithmetic's hidden_backward.h. In nearly fp32 a block of it has an SM to itself, so that more than
// two parts of 49 blocks would run one after the other.
template <typename Arithmetic> static cnn_cuts cnn_cuts_for(int n)
{
    cnn_cuts cuts = cnn_cuts_of(n);
    if (sizeof(typename Arithmetic::convolution) == 4 && cuts.backward_splits == CNN_SPLITS_OF_PAIRS)
        cuts.backward_splits = CNN_SPLITS_OF_ONE;
    return cuts;
}

// Lays it out at `memory` and returns its bytes; `memory` NULL: only the bytes.
template <typename Operand, typename Convolution>
static size_t cnn_workspace_place(int n, void *memory, cnn_workspace<Operand, Convolution> *workspace)
{
    const cnn_cuts cuts = cnn_cuts_of(n);
    const size_t samples = (size_t)n, rows = (size_t)cuts.tiles * CNN_HIDDEN_TILE;
    size_t offset = 0;
#define CNN_PLACE(type, name, count)                                                                                   \
    workspace->name = (type *)((char *)memory + offset);                                                               \
    offset += cnn_workspace_room((size_t)(count), sizeof(type));
    CNN_WORKSPACE_FIELDS(CNN_PLACE, Operand, Convolution)
#undef CNN_PLACE
    return offset;
}

// What cnn_train has and cnn_step does not. There operands.gradients are the parameters themselves, to be updated, and
// operands.cursor is this step's row of `cursors`, except for the first, which is in flight while prepare.h writes
// them.
enum cnn_optimizer { CNN_NO_UPDATE = -1, CNN_SGD, CNN_MOMENTUM, CNN_ADAMW }; // as in heddle_cnn_train_shape
struct cnn_training {
    heddle_cnn_train_operands operands;
    cnn_optimizer optimizer;
    int schedule_length, order_length, steps;
    bool another;     // step follows this one: its weights are packed, and its batch's moments taken
    int64_t *cursors; // (steps + 1, HEDDLE_CURSOR_COUNT), of each step and after the last; prepare.h writes them
    float *hypers;    // (steps + 1, HEDDLE_HYPER_COUNT) likewise: rows of the schedule
    float *hyper;     // this step's
    int64_t *next;    // the row after this step's
};

// What a launch returns if the driver cannot make a map for TMA; heddle's last error says why.
#define CNN_NO_MAP cudaErrorNotSupported

// The arguments of every kernel of the step.
template <typename Operand, typename Convolution> struct cnn_arguments {
    int n, classes;
    float epsilon, momentum;
    int multiprocessors;                 // to spread the batch over
    int forward_blocks, backward_blocks; // of the launches whose partial sums others add
    int sums2_rows;                      // likewise: of sums2_partial
    bool in_halves;                      // the hidden layer's operands are: floats, for Hopper (see hidden above)
    heddle_cnn_step_operands operands;
    cnn_workspace<Operand, Convolution> workspace;
    cnn_training training;
};

#endif

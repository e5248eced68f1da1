// The shape structs of heddle's operators. `heddle ops NAME` prints the operands that go with each.
#ifndef HEDDLE_OPS_H
#define HEDDLE_OPS_H

#include "heddle/op.h"

#ifdef __cplusplus
extern "C" {
#endif

// matmul: output (m, n) = alpha * a (m, k) * b (k, n) + beta * output. A transposed operand is stored (k, m) or (n, k).
typedef struct heddle_matmul_shape {
    int m, n, k;
    int transpose_a, transpose_b;
    float alpha, beta;
} heddle_matmul_shape;

// matmul_batched: the same for `batch` products of one shape, whose matrices lie one behind another.
typedef struct heddle_matmul_batched_shape {
    int batch, m, n, k;
    int transpose_a, transpose_b;
    float alpha, beta;
} heddle_matmul_batched_shape;

// matmul_int8: output (m, n) = scale_a (m) * scale_b (n) * a (m, k) * b (n, k)ᵀ, of bytes, summed in int32
typedef struct heddle_matmul_int8_shape {
    int m, n, k;
} heddle_matmul_int8_shape;

// matmul_fp8: output (m, n) = scale_a (1) * scale_b (1) * a (m, k) * b (n, k)ᵀ, of e4m3, summed in float32, output bf16
typedef struct heddle_matmul_fp8_shape {
    int m, n, k;
} heddle_matmul_fp8_shape;

// matmul_int4: output (m, n) = input (m, k) * weight (n, k)ᵀ, of fp16 and 4 bits, summed in float32. Weight p of row j
// stands for scale (j, p / group) * (weight - zero (j, p / group)); scales are fp16, zero points bytes. `group` is a
// multiple of 32, and the last group of a row may be short. With zero points of 8, weights go from -8 to 7.
//
// A row of weights is whole chunks of 32 in 16 bytes; what is behind the last of k counts for nothing. A chunk is four
// little-endian words of 32 bits with eight weights each, the even ones in its lower half:
//
//     bits     31-28  27-24  23-20  19-16  15-12  11-8   7-4    3-0
//     weight     7      5      3      1      6      4      2      0
//
// So (word >> 4 * i) & 0x000f000f are weights 2 * i and 2 * i + 1, in the two halves of a register.
typedef struct heddle_matmul_int4_shape {
    int m, n, k;
    int group;
} heddle_matmul_int4_shape;
// Packs values (n, k), each below 16, into weight (n, bytes of whole chunks).
HEDDLE_API void heddle_matmul_int4_pack(const heddle_matmul_int4_shape *shape, const uint8_t *values, uint8_t *weight);

// matmul_host: output (m, n) = a (m, k) * b (k, n), all in host memory; `memory` KiB on the device are for tiles
typedef struct heddle_matmul_host_shape {
    int m, n, k;
    int memory;
} heddle_matmul_host_shape;

// gemv: y (m) = a (m, n) * x (n); transposed, y (n) = aᵀ * x (m). `a` is stored (m, n) either way.
typedef struct heddle_gemv_shape {
    int m, n;
    int transpose;
} heddle_gemv_shape;

// linear: output (n, out) = input (n, in) * weight (out, in)ᵀ + bias (out)
typedef struct heddle_linear_shape {
    int n, in, out;
} heddle_linear_shape;

// conv2d: input (n, c, h, w), weight (k, c, r, s), bias (k), output (n, k, ho, wo)
typedef struct heddle_conv2d_shape {
    int n, c, h, w;
    int k, r, s;
    int stride, padding, dilation;
} heddle_conv2d_shape;
HEDDLE_API int heddle_conv2d_out_h(const heddle_conv2d_shape *shape);
HEDDLE_API int heddle_conv2d_out_w(const heddle_conv2d_shape *shape);

// conv2d_grouped: the channels before and after are in `groups` groups one behind another, and a filter reads its own
// group alone: weight (k, c / groups, r, s). As many groups as channels: depthwise.
typedef struct heddle_conv2d_grouped_shape {
    heddle_conv2d_shape conv;
    int groups;
} heddle_conv2d_grouped_shape;

// How much of a convolution with stride and dilation 1 is wanted.
typedef enum heddle_conv2d_mode {
    HEDDLE_CONV2D_FULL,  // wherever filter and image touch: h + r - 1 rows
    HEDDLE_CONV2D_SAME,  // as many as the image has: zeros before are (r - 1) / 2, behind r / 2, as PyTorch's
    HEDDLE_CONV2D_VALID, // where the filter is inside the image: h - r + 1 rows
} heddle_conv2d_mode;

// Rows [top, top + rows) and columns [left, left + columns) of conv2d's output.
typedef struct heddle_conv2d_window {
    int top, left, rows, columns;
} heddle_conv2d_window;

// Sets shape->padding for a mode, and says which window of the output is the mode's result. Often it is all of it; but
// padding is one number for four sides, and where r is not s, or `same` has an even filter, some sides need less.
HEDDLE_API heddle_status heddle_conv2d_set_mode(heddle_conv2d_shape *shape, heddle_conv2d_mode mode,
                                                heddle_conv2d_window *window);

// batchnorm2d: input (n, c, h, w); momentum is the weight of the new value in the running statistics
typedef struct heddle_batchnorm2d_shape {
    int n, c, h, w;
    float epsilon, momentum;
} heddle_batchnorm2d_shape;

// maxpool2d, avgpool2d: input (n, c, h, w); padding counts as absent (max) and is not averaged over (average)
typedef struct heddle_pool2d_shape {
    int n, c, h, w;
    int window, stride, padding;
} heddle_pool2d_shape;
HEDDLE_API int heddle_pool2d_out_h(const heddle_pool2d_shape *shape);
HEDDLE_API int heddle_pool2d_out_w(const heddle_pool2d_shape *shape);

// globalavgpool: input (n, c, h, w), output (n, c), the mean of each plane
typedef struct heddle_globalavgpool_shape {
    int n, c, h, w;
} heddle_globalavgpool_shape;

// relu, tanh, sigmoid, elu, gelu, softplus, swish, add, multiply, sum, dot, scan, shift: n elements
// sort: keys (n) in ascending order in sorted_keys; sorted_values has the value of each key, from values (n). Equal
// keys keep their order. -0 equals 0. A NaN comes before -infinity or after infinity, depending on its sign; NaNs are
// ordered by their bits.
typedef struct heddle_elements_shape {
    int n;
} heddle_elements_shape;

// hello_index: which thread of which block has element i, in a grid of blocks of `threads` threads.
typedef struct heddle_hello_index_shape {
    int n, threads;
} heddle_hello_index_shape;

// histogram: how many of n values, each in [0, bins), fall into each bin
typedef struct heddle_histogram_shape {
    int n, bins;
} heddle_histogram_shape;

// select: the elements of input (n) that are above the threshold, in their order, in output (n), whose rest is 0; count
// (1) is their number. NaN is not above anything.
typedef struct heddle_select_shape {
    int n;
    float threshold;
} heddle_select_shape;

// saxpy: y = alpha * x + y
typedef struct heddle_saxpy_shape {
    int n;
    float alpha;
} heddle_saxpy_shape;

// stencil: output[i] is the sum of input[i - radius] to input[i + radius]; there is nothing beyond the ends.
typedef struct heddle_stencil_shape {
    int n, radius;
} heddle_stencil_shape;

// softmax, log_softmax, cross_entropy: a row a sample; transpose, quantise, dequantise
typedef struct heddle_rows_shape {
    int rows, cols;
} heddle_rows_shape;

// attention: softmax(q kᵀ / sqrt(size)) v for each head of each sample; q (batch, heads, queries, size), k and v
// (batch, heads, keys, size). causal: query i sees keys 0 to i alone. Backward needs the log of each query's sum of
// exponentials.
typedef struct heddle_attention_shape {
    int batch, heads;
    int queries, keys;
    int size; // of a head, 1 to 128
    int causal;
} heddle_attention_shape;

// layernorm: each row of input (rows, cols) normalised; gamma and beta (cols)
// rmsnorm: each row divided by the root of the mean of its squares plus epsilon; weight (cols)
typedef struct heddle_layernorm_shape {
    int rows, cols;
    float epsilon;
} heddle_layernorm_shape;

// rope: rotary position embedding of input (batch, sequence, heads, size). In each head, elements i and i + size / 2
// are turned by (start + position) * base^(-2 i / size), position being the place in the sequence: x cos - y sin and y
// cos + x sin. With inverse 1 they are turned back, which is the gradient too.
typedef struct heddle_rope_shape {
    int batch, sequence, heads, size;
    int start;
    int inverse;
    float base;
} heddle_rope_shape;

// embedding: output (n, cols) is the row of table (vocabulary, cols) that each of tokens (n) names. A token that is no
// row is an error on cpu; a GPU makes its output NaN, and adds nothing for it in the gradient.
typedef struct heddle_embedding_shape {
    int n, vocabulary, cols;
} heddle_embedding_shape;

// topk: values and indices (rows, k) of the k largest elements of each row of input (rows, cols), largest first. NaN
// counts as the largest, and of equal elements the first comes first. k is at most 64.
typedef struct heddle_topk_shape {
    int rows, cols, k;
} heddle_topk_shape;

// dropout: each element is zero with this probability, else divided by 1 - probability.
// Its `random` operand is {seed, sequence, position} of a heddle_random; element i uses word position + i.
typedef struct heddle_dropout_shape {
    int n;
    float probability;
} heddle_dropout_shape;

// random_bits, random_uniform, random_normal: n numbers of Philox 4x32-10. The `random` operand is {seed, sequence,
// position} as dropout's. Blocks of four words come from `sequences` sequences in turn, a power of two: 1 is one
// stream, element i its word position + i, as cuRAND's device API counts after curand_init(seed, sequence, position);
// 65536, from sequence 0, is the order of cuRAND's host API at offset `position`.
typedef struct heddle_random_bits_shape {
    int n, sequences;
} heddle_random_bits_shape;

// low + (high - low) * u in float32, u being cuRAND's number above 0 and up to 1: from low, which is only given where a
// number rounds to it, to high. Both limits and their difference are finite.
typedef struct heddle_random_uniform_shape {
    int n, sequences;
    float low, high;
} heddle_random_uniform_shape;

typedef struct heddle_random_normal_shape {
    int n, sequences;
    float mean, deviation;
} heddle_random_normal_shape;

// fft: output[k] = scale * Σ input[q] exp(∓2πi q k / n), minus forward and plus inverse, for `batch` lines of n complex
// numbers, (batch, n, 2). Neither direction divides: with scale 1 / n the inverse undoes the other.
// rfft: the same of real numbers. Forward (batch, n) to (batch, n / 2 + 1, 2), the rest being conjugates; inverse back,
// where the imaginary parts of the first number and, n even, of the last count as zero.
typedef struct heddle_fft_shape {
    int batch, n;
    int inverse;
    float scale;
} heddle_fft_shape;

// fft2d: along both axes of `batch` images of h by w complex numbers, (batch, h, w, 2)
typedef struct heddle_fft2d_shape {
    int batch, h, w;
    int inverse;
    float scale;
} heddle_fft2d_shape;

// sgd_update, momentum_update, adamw_update: n parameters, the last `undecayed` of them without weight decay. The
// `hyper` operand holds HEDDLE_HYPER_COUNT floats in device memory, so that a captured step follows a learning-rate
// schedule.
typedef struct heddle_update_shape {
    int n, undecayed;
} heddle_update_shape;
typedef enum heddle_hyper {
    HEDDLE_HYPER_LEARNING_RATE,
    HEDDLE_HYPER_WEIGHT_DECAY,
    HEDDLE_HYPER_MOMENTUM, // momentum, and AdamW's beta 1
    HEDDLE_HYPER_BETA2,
    HEDDLE_HYPER_EPSILON,
    HEDDLE_HYPER_CORRECTION1, // 1 - beta1^t
    HEDDLE_HYPER_CORRECTION2, // 1 - beta2^t
    HEDDLE_HYPER_COUNT,
} heddle_hyper;

// conv_block: 3×3 convolution (stride 1, padding 1), batchnorm, relu, 2×2 max pooling, as one operator.
// stem_block: the same for a first layer, whose input needs no gradient: the convolution's output is never stored.
// Activations are (n, c, h, w), or (n, h, w, c) where channels_last says so; weight is (k, c, 3, 3).
typedef struct heddle_conv_block_shape {
    int n, c, h, w, k;
    int input_channels_last, output_channels_last;
    float epsilon, momentum;
} heddle_conv_block_shape;

// cnn_step: the loss of the course's network on a batch, and the gradient of every parameter, in one operator:
// [conv 3×3, batchnorm, relu, max pooling 2] twice, linear, relu, linear, cross-entropy. The batch is gathered on the
// device: image i of it is row order[*cursor + i] of a dataset that lies there as bytes, 255 meaning 1.
typedef struct heddle_cnn_step_shape {
    int n;              // samples of the batch
    int count;          // images of the dataset: images (count, c, h, w), labels (count)
    int length;         // of `order`; *cursor + n is at most that
    int c, h, w;        // one image
    int k1, k2, hidden; // channels of the two convolutions, outputs of the first linear layer
    int classes;
    float epsilon, momentum; // of both batchnorms
} heddle_cnn_step_shape;

// cnn_train: `steps` whole training steps of that network, one after another: cnn_step, the optimiser's update,
// step_end. The schedule's row cursor[1] is the first step's; an order of which nothing is left begins anew at the
// first place from which it can be used up by calls like this. All parameters lie in one buffer, conv1's weight and
// bias, gamma1, beta1, the same of block 2, then the linear layers', each beginning at a multiple of 64 floats; the
// optimiser's moments likewise; `statistics` are running mean and variance of both batchnorms.
typedef struct heddle_cnn_train_shape {
    int n, count, length; // as cnn_step's; *cursor + steps * n is at most length
    int steps;
    int rows;      // of `schedule`
    int optimizer; // 0: sgd, 1: momentum, 2: AdamW
    int bias;      // 1: the convolutions have biases
    int c, h, w, k1, k2, hidden, classes;
    float epsilon, momentum;
} heddle_cnn_train_shape;

// gather: images and labels of a batch out of a dataset that lies on the device as bytes.
// images[i] = dataset[order[*cursor + i]] / 255, labels likewise
typedef struct heddle_gather_shape {
    int n;      // samples of the batch
    int count;  // samples of the dataset
    int length; // of `order`; *cursor + n is at most that
    int pixels; // of one sample, all channels
    int h, w;   // of an image, which is moved as `moves` (length, HEDDLE_MOVE_COUNT) says; 0 or no moves: as it is
} heddle_gather_shape;

// How an image is moved, in this order. A window of its size is cut out so far down and to the right, black outside of
// the image; it is mirrored left to right if `flip` is 1; it is shifted down and to the right, and the pixels of its
// border are repeated where nothing is left.
enum {
    HEDDLE_MOVE_CROP_DOWN,
    HEDDLE_MOVE_CROP_RIGHT,
    HEDDLE_MOVE_FLIP,
    HEDDLE_MOVE_SHIFT_DOWN,
    HEDDLE_MOVE_SHIFT_RIGHT,
    HEDDLE_MOVE_COUNT
};

// step_end: what the host would do between two steps, done on the device: adds loss and right answers to the epoch's
// tally, moves the cursor on by n, and takes the next step's row of `schedule` (length, HEDDLE_HYPER_COUNT) as hyper.
// cursor is {position in the order, steps done}; tally {sum of loss * n, right answers, steps whose loss is not finite,
// the latest such loss or 0, steps left out}. Steps past the end of the schedule keep its last row. Where `grad`, an
// element of the step's gradients, is given: NaN there says that the step was left out, and AdamW's corrections are
// taken as many rows before as steps have been.
typedef struct heddle_step_end_shape {
    int n;
    int length;
} heddle_step_end_shape;
enum { HEDDLE_CURSOR_COUNT = 2, HEDDLE_TALLY_COUNT = 5 };

// --- rows: networks in 16 bits ---------------------------------------------------------------------------------------
// Activations as a matrix of bf16, of fp16 where a shape's `half` is 1, or of pairs of fp16 (HEDDLE_F16_PAIR) where its
// `pairs` is 1: one row per pixel and one column per channel. Channels are padded to a multiple of 8, with zeros in
// weights, so that what is in other operands does not count. Where a shape's `int8` is 1, elements are signed bytes and
// channels a multiple of 16: forward operators alone, for inference. What bytes mean is up to the caller, who puts the
// scales of input and output into `scale` and `bias`; results of tanh and sigmoid are stored times 127. A frame of n
// images has h + gap lines of w + gap rows for each image: `gap` lines below the image and `gap` rows to the right of
// each line. Where a convolution reads the frame these are zero, so that every tap of its filter is a shift by a fixed
// number of rows. Features are images of one pixel, without a gap. On Hopper a product may read its weights before the
// kernel that was queued just before it has ended: at least one other kernel must lie between it and the one that wrote
// them.

// What follows a sum: out = function(z).
typedef enum heddle_rows_function {
    HEDDLE_ROWS_IDENTITY,
    HEDDLE_ROWS_RELU,
    HEDDLE_ROWS_TANH,
    HEDDLE_ROWS_SIGMOID,
    HEDDLE_ROWS_FUNCTIONS,
} heddle_rows_function;

// rows_conv: a convolution of stride 1 in one frame, input (rows, c) to output (rows, k), both with the same lines and
// gaps; a linear layer has h = w = r = s = 1. Row p of the output is the sum over taps of input row p + shift(tap)
// times the tap's weights, (k, r * s, c); rows outside of the frame count as zero. Results are in the first h + 2
// padding - r + 1 lines and w + 2 padding - s + 1 rows of each image.
// rows_conv_pool: the same with pooling, for inference: the largest or the mean of each window's results, side by side,
// as a frame with a gap of its own.
typedef struct heddle_rows_conv_shape {
    int n, h, w, gap;
    int c, k; // multiples of 8
    int r, s, padding;
    int function;  // forward: of the output; backward_data: the one whose results the input was, by which it multiplies
    int zero_gaps; // 1: rows of the output without a result are zero
    int parts;     // backward_weight: its sums are over this many parts of the rows, for rows_update to add up
    int half;      // 1: elements are IEEE halves
    int pairs;     // 1: elements are pairs of them, HEDDLE_F16_PAIR
    int int8;      // 1: elements are bytes; a result is sum * scale + bias, with the sum of products in int32
    // rows_conv_pool alone.
    int window, average; // of the pooling; 1: the mean, else the largest
    int next_gap;        // of the output
    int flat;            // 1: a row of the output is a whole image
} heddle_rows_conv_shape;

// rows_norm: batchnorm of what a convolution left, plus `add` (the way around a residual block), a function of that,
// pooling over windows side by side, into another frame. Each of these may be absent.
typedef struct heddle_rows_norm_shape {
    int n, h, w;           // lines and rows of an image that hold results
    int pitch, image_rows; // rows from line to line and from image to image of the input
    int c;
    int normalise; // 1: batchnorm by `sums` over n * h * w results
    int function;
    int window, average; // pooling: 1 is none; 0: the largest, 1: the mean
    int gap;             // of the output's frame of h / window lines
    int flat;            // 1: a row of the output is an image, as a linear layer reads it; matters to pairs alone
    float epsilon, momentum;
    int half, pairs, int8;
    float scale, add_scale; // int8: factors of the input and of `add`
} heddle_rows_norm_shape;

// rows_patches: each row of the output has what a filter sees at one place, (r, s, c), from a frame (rows, c). A
// convolution of any kind is then a product.
typedef struct heddle_rows_patches_shape {
    int n, h, w, gap, c;
    int r, s, stride, padding, dilation;
    int half, pairs, int8;
} heddle_rows_patches_shape;

// rows_gather: patches (c, r, s) of the images of a batch, out of a dataset of bytes (count, c, h, w), as gather finds
// them; `columns` is padded to a multiple of 8. A filter as large as the image makes one row of features of each.
typedef struct heddle_rows_gather_shape {
    int n, count, length;
    int c, h, w;
    int r, s, stride, padding, dilation;
    int columns;
    int half, pairs;
    int int8; // 1: pixels minus 128, outside of an image too
} heddle_rows_gather_shape;

// rows_trunk: the small convolutions that a network begins with, one after another, from the images of a batch (found
// as rows_gather's) to one row of features per image, (next_h * next_w, k) of the last stage with k padded to a
// multiple of 8. A stage is a convolution of stride 1, a function of its results, and pooling over windows side by
// side. Sums and `activations`, the results of each stage before its pooling, are float32.
enum { HEDDLE_ROWS_TRUNK_STAGES = 3 };
typedef struct heddle_rows_trunk_stage {
    int k;               // channels that it gives; 0: there is no such stage
    int r, padding;      // lines and columns of the filter; zeros around an image, fewer than r
    int function;        // a heddle_rows_function
    int window, average; // pooling: 1 is none; 0: the largest, 1: the mean
} heddle_rows_trunk_stage;
typedef struct heddle_rows_trunk_shape {
    int n, count, length;
    int c, h, w;
    heddle_rows_trunk_stage stage[HEDDLE_ROWS_TRUNK_STAGES];
    int parts; // backward: gradients are sums over this many parts of the batch, for rows_update to add up
    int half, pairs;
    int int8; // 1: the output is bytes
} heddle_rows_trunk_shape;

// rows_stem: the first layer of a network in use, in one kernel: a convolution over images as rows_gather finds them, a
// function, pooling over windows side by side, into a frame with `gap`. The weight is (k, columns).
typedef struct heddle_rows_stem_shape {
    int n, count, length;
    int c, h, w;
    int r, s, stride, padding, dilation;
    int columns, k; // columns: c * r * s, padded to a multiple of 16; k: a multiple of 8
    int function;
    int window, average; // pooling: 1 is none; 0: the largest, 1: the mean
    int gap;
    int half, pairs;
    int int8; // 1: the output is bytes, and the weight fp16
} heddle_rows_stem_shape;

// rows_loss: the mean cross-entropy of logits (n, k), of which the first `classes` count, and its gradient as rows.
typedef struct heddle_rows_loss_shape {
    int n, classes, k;
    int half, pairs;
    int scale; // gradients are times 2 to the power of scale
} heddle_rows_loss_shape;

// rows_head: the last linear layer, input (n, c) by weight (k, c), the loss of its logits, and the gradients of both,
// for few classes. `function` is the one that made the input, whose gradient goes through it.
typedef struct heddle_rows_head_shape {
    int n, c, k, classes;
    int function;
    int half, pairs;
    int scale; // gradients are times 2 to the power of scale
} heddle_rows_head_shape;

// rows_classify: the last linear layer, input (n, c) by weight (k, c), and the probabilities of its first `classes`
// columns in float32, for few classes. With labels, also the mean cross-entropy and the number of correct answers.
typedef struct heddle_rows_classify_shape {
    int n, c, k, classes;
    int half, pairs;
    int int8; // 1: logits are sum * scale + bias
} heddle_rows_classify_shape;

// predict_one: probabilities of one image by a whole network, in one kernel. `network` has a row for each product with
// what follows it; `weights` and the results in between are laid out for the kernel (ops/predict_one/predict_one.h).
typedef struct heddle_predict_one_shape {
    int steps; // products
    int c, h, w, classes;
    int weights, activations; // floats of weights and biases, and of what the steps leave
} heddle_predict_one_shape;

// rows_weights, rows_collect, rows_update: between the parameters, float32 in one buffer in PyTorch's layout, and what
// products take and leave: bf16 copies of weights and parts of gradients. `table` has a row of HEDDLE_SEGMENT_FIELDS
// for each parameter. Element (row, tap, channel) of k * taps * c, each padded, is parameter (row * c + channel) * taps
// + tap.
typedef struct heddle_rows_update_shape {
    int segments;
    int tiles;      // of all segments, in which blocks take them
    int parameters; // floats
    int parts;      // floats
    int copies;     // bf16 elements
    int vectors;    // floats of biases that are padded
    int optimizer;  // 0: sgd, 1: momentum, 2: AdamW
    int half;       // copies are IEEE halves
    int pairs;      // copies are pairs of IEEE halves, so that `copies` counts both
    int scale;      // parts of gradients are times 2 to the power of scale
} heddle_rows_update_shape;
typedef enum heddle_segment_field {
    HEDDLE_SEGMENT_FIRST,     // number of the segment's first tile
    HEDDLE_SEGMENT_PARAMETER, // where the parameter begins
    HEDDLE_SEGMENT_K,         // rows, channels and taps that it has
    HEDDLE_SEGMENT_C,
    HEDDLE_SEGMENT_TAPS,
    HEDDLE_SEGMENT_PADDED_K,
    HEDDLE_SEGMENT_PADDED_C,
    HEDDLE_SEGMENT_PARTS,   // of its gradient; 0: it is zero
    HEDDLE_SEGMENT_PART,    // where they begin
    HEDDLE_SEGMENT_COPY,    // where its copy (k, taps, c) begins; -1: it has none
    HEDDLE_SEGMENT_VECTOR,  // where its padded copy in float32 begins; -1: it has none
    HEDDLE_SEGMENT_COLUMNS, // c or taps * c: columns of a row of its copy; of pairs, all hi stand first, then all lo
    HEDDLE_SEGMENT_FIELDS,
} heddle_segment_field;

// rows_linear_step: the gradient of a linear layer's weight, grad_output (n, k) transposed times input (n, c), that of
// its bias, the optimiser's step with both, and new copies for products. Of k and c, the layer has `outputs` and
// `inputs`; the rest is padding.
typedef struct heddle_rows_linear_step_shape {
    int n;
    int c, k; // multiples of 8
    int inputs, outputs;
    int optimizer; // 0: sgd, 1: momentum, 2: AdamW
    int half;      // elements are IEEE halves
    int pairs;     // elements are pairs of them, HEDDLE_F16_PAIR
    int scale;     // grad_output is times 2 to the power of scale
} heddle_rows_linear_step_shape;

// polynomial: `rounds` times value * factor + addend, for each of n elements: a polynomial in `factor` by Horner's
// rule. As much arithmetic for the same bytes as one likes.
typedef struct heddle_polynomial_shape {
    int n;
    int rounds;
    float factor, addend;
} heddle_polynomial_shape;

// polynomial_activation: c0 + c1 x + ... + c7 x^7 of each of n elements; coefficients above `degree` do not count
typedef struct heddle_polynomial_activation_shape {
    int n;
    int degree;
    float c0, c1, c2, c3, c4, c5, c6, c7;
} heddle_polynomial_activation_shape;
enum { HEDDLE_POLYNOMIAL_DEGREE = 7 }; // the highest

// token_loss: the cross-entropy of each row of logits (rows, cols) with its label, for vocabularies of language models.
// A row whose label is `ignored` has loss 0 and gradient 0. Any other label that is no column is HEDDLE_INVALID on cpu;
// on a GPU, which cannot report it, loss and gradient of the row are NaN.
typedef struct heddle_token_loss_shape {
    int rows, cols;
    float ignored; // a whole number; it may be negative, which no int of a shape may
} heddle_token_loss_shape;

#ifdef __cplusplus
}
#endif
#endif

// The gradient through block 2 and block 1, an image at a time: batchnorm 2 and its pooling backward, conv2's weight
// and input, pooling 1, and the sums that conv1's gradient follows from. Of all these only sums leave the chip.
//
//   grad of conv2's output = gamma inverse_std (dz - mean(dz) - normalised mean(dz normalised)), where dz is
//   grad_pooled2 at each window's winner and zero elsewhere: dense, made anew from convolution2, code2 and sums2
//
// Reads grad_pooled2, code2, convolution2, statistics2, sums2, gamma2, pooled1, code1, conv2_backward and the images'
// bytes; writes, for each block, grad_conv2_partial and stem_sums_partial.
//
// A block takes every backward_blocks-th image. Its warps have three roles, which meet at barriers of their own:
//   weight  8 warps keep the gradient of conv2's weight in registers, from the first image to the last
//   data    4 warps make the gradient of conv2's input, an image's in registers, and take it on, masked by code1, into
//           conv1's sums: products of the winners' gradient and the pixels under each tap
//   stage   4 warps bring the next image: conv2's output gradient by way of their registers, the rest by copies
// Where there are fewer images than half the multiprocessors, two blocks share one: each has half of the weight's outputs
// and half of the input's channels, and both stage the whole image.
// With 16-bit operands all that is staged is there twice, and nobody waits but for data. With floats the gradient of
// conv2's output is there once: the stage warps hold the next one in registers until both others have done with it.
//
// Limited by: the tensor cores' rate at mma.sync, of whose fragments an eighth is padding (14 pixels taken as 16); then
// by shared memory, which gives about one 128-byte wavefront to every product.
#ifndef HEDDLE_OPS_CNN_STEP_BACKWARD_H
#define HEDDLE_OPS_CNN_STEP_BACKWARD_H

#include <cuda_runtime.h>

#include "ops/cnn_step/backward_products.h"
#include "ops/cuda/dependent.h"

// Barriers of the block by number; 0 is __syncthreads.
enum {
    CNN_WEIGHT_FULL = 1,  // stage and weight warps: an image is there, and the weight warps have done with the last
    CNN_DATA_FULL = 2,    // stage and data warps: likewise
    CNN_WEIGHT_DONE = 3,  // floats only: the weight warps have read conv2's output gradient
    CNN_DATA_DONE = 4,    // and so have the data warps
    CNN_STAGE_ONLY = 5,
    CNN_DATA_ONLY = 6,
};

enum {
    // Eight stage threads have a window of 2 × 2 pixels at a time, 8 channels each: 3 windows of a column, or of the
    // last row. Of the one window left over every thread has 2 channels of one pixel. That is 98 floats for each, which
    // fit in its registers.
    CNN_STAGE_GROUP = CNN_CHANNELS2 / 8,
    CNN_STAGE_GROUPS = CNN_STAGE_THREADS / CNN_STAGE_GROUP,
    CNN_STAGE_WINDOWS = 3,
    CNN_STAGE_WORDS = (CNN_PIXELS / 4 + CNN_STAGE_THREADS - 1) / CNN_STAGE_THREADS, // of 4 pixels of the image
};
static_assert(CNN_STAGE_WINDOWS * CNN_STAGE_GROUPS == CNN_PIXELS2 - 1, "one window is left over");

// --- stage warps -----------------------------------------------------------------------------------------------------

// What turns a channel of conv2's output into its gradient: scale * dz + shift + slope * output.
template <typename Operand, typename Convolution>
CNN_DEVICE void cnn_backward_coefficients(const cnn_arguments<Operand, Convolution> &arguments, float *coefficients,
                                          int channel)
{
    const float inverse_count = 1.0f / ((float)arguments.n * CNN_PIXELS1);
    const float mean = arguments.workspace.statistics2->mean[channel];
    const float inverse_std = arguments.workspace.statistics2->inverse_std[channel];
    const float mean_grad = arguments.workspace.sums2[channel] * inverse_count;
    const float mean_product = arguments.workspace.sums2[CNN_CHANNELS2 + channel] * inverse_count;
    const float scale = arguments.operands.parameters.gamma2[channel] * inverse_std;
    coefficients[channel] = scale;
    coefficients[CNN_CHANNELS2 + channel] = scale * (mean * inverse_std * mean_product - mean_grad);
    coefficients[2 * CNN_CHANNELS2 + channel] = -scale * inverse_std * mean_product;
}

// Row and column of a stage thread's window number `step`.
CNN_DEVICE int cnn_stage_row(int thread, int step)
{
    const int group = thread / CNN_STAGE_GROUP;
    return group < 2 * CNN_SIDE2 ? group / CNN_SIDE2 * CNN_STAGE_WINDOWS + step : CNN_SIDE2 - 1;
}
CNN_DEVICE int cnn_stage_column(int thread, int step)
{
    const int group = thread / CNN_STAGE_GROUP;
    return group < 2 * CNN_SIDE2 ? group % CNN_SIDE2 : (group - 2 * CNN_SIDE2) * CNN_STAGE_WINDOWS + step;
}

// A stage thread's first channel of each half of its 8. Operands of 16 bits: neighbours, one load. Floats: apart, so
// that the 16 bytes of each half are in other banks than the other threads'.
template <typename Operand> CNN_DEVICE int cnn_stage_channel(int thread, int half)
{
    const int member = thread % CNN_STAGE_GROUP;
    return sizeof(Operand) == 2 ? member * 8 + half * 4 : half * (CNN_CHANNELS2 / 2) + member * 4;
}

// One load or store of so many words, aligned to their whole.
template <int Words> CNN_DEVICE void cnn_copy_words(void *to, const void *from)
{
    struct __align__(4 * Words) whole {
        uint32_t word[Words];
    };
    *(whole *)to = *(const whole *)from;
}

// A stage thread's 8 channels of a pixel, as they lie in memory.
template <typename Operand, typename Value>
CNN_DEVICE void cnn_stage_load(uint32_t to[2 * sizeof(Value)], const Value *from, int thread)
{
    if constexpr (sizeof(Operand) == 2) {
        cnn_copy_words<2 * sizeof(Value)>(to, from + cnn_stage_channel<Operand>(thread, 0));
    } else {
        cnn_copy_words<sizeof(Value)>(to, from + cnn_stage_channel<Operand>(thread, 0));
        cnn_copy_words<sizeof(Value)>(to + sizeof(Value), from + cnn_stage_channel<Operand>(thread, 1));
    }
}

// Pixel `place` of a window, by its number in an image that has `pitch` pixels in a row.
CNN_DEVICE int cnn_window_pixel(int row, int column, int place, int pitch)
{
    return (row * 2 + place / 2) * pitch + column * 2 + place % 2;
}

// What a stage thread takes of a window, as it lies in memory, and what it makes of it: [place][channel].
template <typename Operand, typename Convolution> struct cnn_stage_window {
    __align__(16) uint32_t output[4][2 * sizeof(Convolution)];
    __align__(16) uint32_t grad[2 * sizeof(Operand)];
    __align__(8) uint32_t winners[2];
};
template <typename Operand> struct cnn_stage_values {
    __align__(16) uint32_t value[4][2 * sizeof(Operand)];
};

template <typename Operand, typename Convolution>
CNN_DEVICE void cnn_stage_load_window(const cnn_workspace<Operand, Convolution> &workspace, int image, int thread,
                                      int step, cnn_stage_window<Operand, Convolution> *window)
{
    const int row = cnn_stage_row(thread, step), column = cnn_stage_column(thread, step);
    const size_t at = (size_t)image * CNN_FEATURES + (row * CNN_SIDE2 + column) * CNN_CHANNELS2;
    const Convolution *output = workspace.convolution2 + (size_t)image * CNN_PIXELS1 * CNN_CHANNELS2 +
                                cnn_window_pixel(row, column, 0, CNN_SIDE1) * CNN_CHANNELS2;
    cnn_stage_load<Operand>(window->grad, workspace.grad_pooled2 + at, thread);
    cnn_stage_load<Operand>(window->winners, workspace.code2 + at, thread);
#pragma unroll
    for (int place = 0; place < 4; place++)
        cnn_stage_load<Operand>(window->output[place],
                                output + cnn_window_pixel(0, 0, place, CNN_SIDE1) * CNN_CHANNELS2, thread);
}

template <typename Arithmetic, typename Operand, typename Convolution>
CNN_DEVICE void cnn_stage_gradient(const cnn_stage_window<Operand, Convolution> *window, const float *coefficients,
                                   int thread, cnn_stage_values<Operand> *values)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const float *mine = coefficients + cnn_stage_channel<Operand>(thread, half);
        float scale[4], shift[4], slope[4], dz[4], value[4][4];
        cnn_load4(scale, mine);
        cnn_load4(shift, mine + CNN_CHANNELS2);
        cnn_load4(slope, mine + 2 * CNN_CHANNELS2);
        cnn_load4(dz, (const Operand *)(window->grad + half * sizeof(Operand)));
#pragma unroll
        for (int place = 0; place < 4; place++)
            cnn_load4(value[place], (const Convolution *)(window->output[place] + half * sizeof(Convolution)));
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (uint32_t place = 0; place < 4; place++) {
                const float rest = fmaf(slope[i], value[place][i], shift[i]);
                const bool won = (window->winners[half] >> 8 * i & 0xff) == place;
                value[place][i] = won ? fmaf(scale[i], dz[i], rest) : rest;
            }
#pragma unroll
        for (int place = 0; place < 4; place++)
            cnn_store4<Arithmetic>((Operand *)(values->value[place] + half * sizeof(Operand)), value[place]);
    }
}

template <typename Arithmetic, typename Operand>
CNN_DEVICE void cnn_stage_store(char *grad, const cnn_stage_values<Operand> *values, int thread, int step)
{
    enum { GRAD_PIXEL = cnn_backward_tiles<Arithmetic>::GRAD_PIXEL, IN_PART = CNN_PART / sizeof(Operand) };
    const int row = cnn_stage_row(thread, step), column = cnn_stage_column(thread, step);
#pragma unroll
    for (int place = 0; place < 4; place++) {
        const int pixel = cnn_window_pixel(row, column, place, CNN_TILE_SIDE) + CNN_TILE_SIDE + 1;
#pragma unroll
        for (int i = 0; i < 8; i += IN_PART) {
            const int part = cnn_stage_channel<Operand>(thread, i / 4) / IN_PART;
            cnn_copy_words<4>(grad + cnn_part<GRAD_PIXEL>(pixel, part), values->value[place] + i / IN_PART * 4);
        }
    }
}

// The same for the window left over.
template <typename Operand, typename Convolution>
CNN_DEVICE void cnn_stage_rest(const cnn_workspace<Operand, Convolution> &workspace, const float *coefficients,
                               int image, int thread, float value[2])
{
    const int place = thread / (CNN_CHANNELS2 / 2), channel = thread % (CNN_CHANNELS2 / 2) * 2;
    const size_t at = (size_t)image * CNN_FEATURES + (CNN_PIXELS2 - 1) * CNN_CHANNELS2 + channel;
    const int pixel = cnn_window_pixel(CNN_SIDE2 - 1, CNN_SIDE2 - 1, place, CNN_SIDE1);
    const Convolution *output = workspace.convolution2 + ((size_t)image * CNN_PIXELS1 + pixel) * CNN_CHANNELS2 + channel;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float *mine = coefficients + channel + i, dz = cnn_float(workspace.grad_pooled2[at + i]);
        const float rest = fmaf(mine[2 * CNN_CHANNELS2], cnn_float(output[i]), mine[CNN_CHANNELS2]);
        value[i] = workspace.code2[at + i] == place ? fmaf(mine[0], dz, rest) : rest;
    }
}

template <typename Arithmetic> CNN_DEVICE void cnn_stage_store_rest(char *grad, const float value[2], int thread)
{
    typedef typename Arithmetic::operand operand;
    enum { GRAD_PIXEL = cnn_backward_tiles<Arithmetic>::GRAD_PIXEL, IN_PART = CNN_PART / sizeof(operand) };
    const int place = thread / (CNN_CHANNELS2 / 2), channel = thread % (CNN_CHANNELS2 / 2) * 2;
    const int pixel = cnn_window_pixel(CNN_SIDE2 - 1, CNN_SIDE2 - 1, place, CNN_TILE_SIDE) + CNN_TILE_SIDE + 1;
    cnn_store2((operand *)(grad + cnn_part<GRAD_PIXEL>(pixel, channel / IN_PART)) + channel % IN_PART,
               cnn_round<Arithmetic>(value[0]), cnn_round<Arithmetic>(value[1]));
}

// Queues the copies of what the products read as it is. A thread keeps its column, so that its addresses rise evenly.
template <typename Arithmetic, typename Workspace>
CNN_DEVICE void cnn_stage_copy(const Workspace &workspace, char *pooled, char *codes, int image, int thread)
{
    typedef cnn_backward_tiles<Arithmetic> tiles;
    enum {
        PARTS = tiles::POOLED_PIXEL / CNN_PART,
        ROW_PARTS = CNN_SIDE1 * PARTS,
        ROWS = sizeof(typename Arithmetic::operand) == 2 ? 2 : 1, // at a time
        ROW_THREADS = CNN_STAGE_THREADS / ROWS,
        CODE_PARTS = CNN_PIXELS1 * CNN_CHANNELS1 / CNN_PART,
    };
    static_assert(ROW_PARTS <= ROW_THREADS && CNN_SIDE1 % ROWS == 0, "rows of pooled1");
    const int row = thread / ROW_THREADS, column = thread % ROW_THREADS;
    const int pixel = (row + 1) * CNN_TILE_SIDE + 1 + column / PARTS;
    const char *from = (const char *)(workspace.pooled1 + (size_t)image * CNN_PIXELS1 * CNN_CHANNELS1) +
                       (row * ROW_PARTS + column) * CNN_PART;
    char *to = pooled + cnn_part<tiles::POOLED_PIXEL>(pixel, column % PARTS);
    if (column < ROW_PARTS)
#pragma unroll
        for (int y = 0; y < CNN_SIDE1; y += ROWS)
            cp_async_16(to + y * CNN_TILE_SIDE * tiles::POOLED_PIXEL, from + y * ROW_PARTS * CNN_PART);
    const uint8_t *code = workspace.code1 + (size_t)image * CNN_PIXELS1 * CNN_CHANNELS1;
#pragma unroll
    for (int i = 0; i < CODE_PARTS; i += CNN_STAGE_THREADS)
        if (i + thread < CODE_PARTS)
            cp_async_16(codes + (i + thread) * CNN_PART, code + (i + thread) * CNN_PART);
}

// The image's pixels, four in a word; past the last word the first again.
CNN_DEVICE void cnn_stage_load_pixels(const uint8_t *pixels, uint32_t word[CNN_STAGE_WORDS], int thread)
{
#pragma unroll
    for (int i = 0; i < CNN_STAGE_WORDS; i++) {
        const int at = (thread + i * CNN_STAGE_THREADS) * 4;
        word[i] = cnn_pixels4(pixels + (at < CNN_PIXELS ? at : 0));
    }
}

// Into the planes: each pixel is in two of them. A word's first is in a column that is a multiple of 4.
template <typename Arithmetic>
CNN_DEVICE void cnn_stage_store_pixels(char *planes, const uint32_t word[CNN_STAGE_WORDS], int thread)
{
#pragma unroll
    for (int i = 0; i < CNN_STAGE_WORDS; i++) {
        const int at = (thread + i * CNN_STAGE_THREADS) * 4, y = at / CNN_SIDE, x = at % CNN_SIDE;
        if (at >= CNN_PIXELS)
            break;
        const uint32_t four = word[i]; // columns x + 1 to x + 4 of the padded image
        const uint32_t odd = cnn_stem_pack<Arithmetic>((float)(four & 0xff), (float)(four >> 16 & 0xff));
        const uint32_t even = cnn_stem_pack<Arithmetic>((float)(four >> 8 & 0xff), (float)(four >> 24));
        char *row = planes + (y + 1) * CNN_PLANE_ROW + x / 2 * 2;
        *(uint32_t *)(row + 1 * CNN_PLANE) = odd;
        *(uint32_t *)(row + 2 * CNN_PLANE) = even;
        *(uint16_t *)(row + 0 * CNN_PLANE + 2) = (uint16_t)even;
        *(uint16_t *)(row + 0 * CNN_PLANE + 4) = (uint16_t)(even >> 16);
        if (x > 0)
            *(uint16_t *)(row + 3 * CNN_PLANE - 2) = (uint16_t)odd;
        *(uint16_t *)(row + 3 * CNN_PLANE) = (uint16_t)(odd >> 16);
    }
}

// Conv2's output gradient into its tile. With one tile only, all of it is computed before the others are asked to be
// done with the last image's; with two, a window is on its way while the last one is computed.
template <typename Arithmetic, typename Operand, typename Convolution>
CNN_DEVICE void cnn_stage_image(const cnn_workspace<Operand, Convolution> &workspace, const float *coefficients,
                                int image, int thread, bool first, char *grad, const uint32_t *pixels, char *planes)
{
    typedef cnn_stage_window<Operand, Convolution> window_type;
    float rest[2];
    if constexpr (cnn_backward_tiles<Arithmetic>::GRADS == 2) {
        window_type next;
        cnn_stage_load_window(workspace, image, thread, 0, &next);
#pragma unroll 1
        for (int step = 0; step < CNN_STAGE_WINDOWS; step++) {
            const window_type window = next;
            cnn_stage_values<Operand> values;
            if (step + 1 < CNN_STAGE_WINDOWS)
                cnn_stage_load_window(workspace, image, thread, step + 1, &next);
            else
                cnn_stage_rest(workspace, coefficients, image, thread, rest);
            cnn_stage_gradient<Arithmetic>(&window, coefficients, thread, &values);
            cnn_stage_store<Arithmetic>(grad, &values, thread, step);
        }
        cnn_stage_store_pixels<Arithmetic>(planes, pixels, thread);
    } else {
        // Of three windows' floats two fit beside what is read of the third, if that is floats too.
        enum { HELD = sizeof(Convolution) == 2 ? CNN_STAGE_WINDOWS : CNN_STAGE_WINDOWS - 1 };
        cnn_stage_values<Operand> values[CNN_STAGE_WINDOWS];
#pragma unroll
        for (int step = 0; step < HELD; step++) {
            window_type window;
            cnn_stage_load_window(workspace, image, thread, step, &window);
            cnn_stage_gradient<Arithmetic>(&window, coefficients, thread, &values[step]);
        }
        cnn_stage_rest(workspace, coefficients, image, thread, rest);
        cnn_stage_store_pixels<Arithmetic>(planes, pixels, thread);
        if (!first) {
            __barrier_sync_count(CNN_WEIGHT_DONE, CNN_STAGE_THREADS + CNN_WEIGHT_THREADS);
            __barrier_sync_count(CNN_DATA_DONE, CNN_STAGE_THREADS + CNN_DATA_THREADS);
        }
#pragma unroll
        for (int step = 0; step < CNN_STAGE_WINDOWS; step++) {
            if (step >= HELD) {
                window_type window;
                cnn_stage_load_window(workspace, image, thread, step, &window);
                cnn_stage_gradient<Arithmetic>(&window, coefficients, thread, &values[step]);
            }
            cnn_stage_store<Arithmetic>(grad, &values[step], thread, step);
        }
    }
    cnn_stage_store_rest<Arithmetic>(grad, rest, thread);
}

template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_stage_role(const Arguments &arguments, char *shared, const int own_thread)
{
    typedef cnn_backward_tiles<Arithmetic> tiles;
    float *coefficients = (float *)(shared + tiles::COEFFICIENTS_AT);
    const int32_t *order = arguments.operands.order + *arguments.operands.cursor;
    int source = order[blockIdx.x], stage = 0; // of the image; the next one's is asked for early
    if (own_thread < CNN_CHANNELS2)
        cnn_backward_coefficients(arguments, coefficients, own_thread);
    __barrier_sync_count(CNN_STAGE_ONLY, CNN_STAGE_THREADS);
    for (int image = blockIdx.x; image < arguments.n; image += gridDim.x, stage ^= 1) {
        // The compiler must not know that this is the same for every image: it would compute the addresses of all
        // windows once, and they do not fit in registers beside the windows' values.
        const int thread = __shfl_sync(0xffffffffu, own_thread, own_thread % 32);
        char *stem = shared + tiles::STEM_AT + stage * tiles::STEM;
        cnn_stage_copy<Arithmetic>(arguments.workspace, shared + tiles::POOLED_AT + stage * tiles::POOLED, stem, image,
                                   thread);
        uint32_t word[CNN_STAGE_WORDS];
        cnn_stage_load_pixels(arguments.operands.images + (size_t)source * CNN_PIXELS, word, thread);
        if (image + (int)gridDim.x < arguments.n)
            source = order[image + gridDim.x];
        cnn_stage_image<Arithmetic>(arguments.workspace, coefficients, image, thread, image == (int)blockIdx.x,
                                    shared + tiles::GRAD_AT + stage % tiles::GRADS * tiles::GRAD, word,
                                    stem + tiles::CODES);
        cp_async_wait_all();
        __barrier_sync_count(CNN_WEIGHT_FULL, CNN_STAGE_THREADS + CNN_WEIGHT_THREADS);
        __barrier_sync_count(CNN_DATA_FULL, CNN_STAGE_THREADS + CNN_DATA_THREADS);
    }
}

// --- weight warps ----------------------------------------------------------------------------------------------------

// Whether sums leave the registers after each image: tensor cores do not round a sum but cut it off, which adds up over
// many images to more than this arithmetic's products leave out.
template <typename Arithmetic> struct cnn_weight_by_image {
    enum { VALUE = 0 };
};
template <> struct cnn_weight_by_image<cnn_tf32x3> {
    enum { VALUE = 1 };
};

// A warp's sums into the block's partial gradient, or on top of what is there.
template <typename Arithmetic, int Tiles>
CNN_DEVICE void cnn_weight_store(float *partial, const float (*sum)[CNN_TAPS][4], int first_output, int first_input,
                                 bool add, int lane)
{
#pragma unroll
    for (int tile = 0; tile < Tiles; tile++)
#pragma unroll
        for (int lower = 0; lower < 2; lower++)
#pragma unroll
            for (int tap = 0; tap < CNN_TAPS; tap++) {
                const int output = first_output + cnn_weight_output<Arithmetic, Tiles>(tile, lower, lane / 4);
                float *to = partial + output * CNN_PATCH + tap * CNN_CHANNELS1 + first_input + lane % 4 * 2;
                const float2 old = add ? *(const float2 *)to : make_float2(0.0f, 0.0f);
                cnn_store2(to, old.x + sum[tile][tap][lower * 2], old.y + sum[tile][tap][lower * 2 + 1]);
            }
}

template <typename Arithmetic, int Parts, typename Arguments>
CNN_DEVICE void cnn_weight_role(const Arguments &arguments, const char *shared, int warp, int lane)
{
    typedef cnn_backward_tiles<Arithmetic> tiles;
    enum { TILES = 2 / Parts };
    const int first_output = (blockIdx.y * 2 + warp % 2) * TILES * 16, first_input = warp / 2 * 8;
    float *partial = arguments.workspace.grad_conv2_partial + (size_t)blockIdx.x * CNN_CHANNELS2 * CNN_PATCH;
    float sum[TILES][CNN_TAPS][4] = {};
    int stage = 0;
    for (int image = blockIdx.x; image < arguments.n; image += gridDim.x, stage ^= 1) {
        __barrier_sync_count(CNN_WEIGHT_FULL, CNN_STAGE_THREADS + CNN_WEIGHT_THREADS);
        cnn_weight_gradient<Arithmetic, TILES>(sum, shared + tiles::GRAD_AT + stage % tiles::GRADS * tiles::GRAD,
                                               shared + tiles::POOLED_AT + stage * tiles::POOLED, first_output,
                                               first_input, lane);
        if (tiles::GRADS == 1 && image + (int)gridDim.x < arguments.n)
            __barrier_sync_count(CNN_WEIGHT_DONE, CNN_STAGE_THREADS + CNN_WEIGHT_THREADS);
        if (cnn_weight_by_image<Arithmetic>::VALUE) {
            cnn_weight_store<Arithmetic, TILES>(partial, sum, first_output, first_input, image != (int)blockIdx.x,
                                                lane);
#pragma unroll
            for (int i = 0; i < TILES * CNN_TAPS * 4; i++)
                sum[i / (CNN_TAPS * 4)][i / 4 % CNN_TAPS][i % 4] = 0.0f;
        }
    }
    if (!cnn_weight_by_image<Arithmetic>::VALUE)
        cnn_weight_store<Arithmetic, TILES>(partial, sum, first_output, first_input, false, lane);
}

// --- data warps ------------------------------------------------------------------------------------------------------

template <typename Arithmetic, typename Workspace>
CNN_DEVICE void cnn_data_weight(const Workspace &workspace, char *weight, int thread)
{
    typedef cnn_backward_tiles<Arithmetic> tiles;
    enum { ROW_PARTS = tiles::WEIGHT_ROW / CNN_PART, TAP_PARTS = tiles::GRAD_PIXEL / CNN_PART };
#pragma unroll 4
    for (int i = thread; i < CNN_CHANNELS1 * ROW_PARTS; i += CNN_DATA_THREADS) {
        const int row = cnn_weight_row(i / ROW_PARTS), tap = i % ROW_PARTS / TAP_PARTS, part = i % TAP_PARTS;
        cp_async_16(weight + row * tiles::WEIGHT_ROW + tap * tiles::GRAD_PIXEL + (part ^ (row & 7)) * CNN_PART,
                    (const char *)workspace.conv2_backward + i * CNN_PART);
    }
}

// Adds up what `rivals` warps, of the same channels and of different rows, have, by way of `exchange`, [32 channels]
// [CNN_STEM_SUMS]. `turn`: which of them this is.
CNN_DEVICE void cnn_stem_store(float *partial, const float (*stem)[4], float *exchange, int turn, int rivals,
                               int first_channel, int lane)
{
    const int column = lane % 4 * 2, channel = first_channel + lane / 4 * 2;
    for (int now = 0; now < rivals; now++) {
        __barrier_sync_count(CNN_DATA_ONLY, CNN_DATA_THREADS);
        if (turn == now)
#pragma unroll
            for (int i = 0; i < 8; i++) {
                const int tap = i / 4 * 8 + column + i % 2, at = (channel + i / 2 % 2) * CNN_STEM_SUMS + tap;
                if (tap < CNN_STEM_SUMS) {
                    const float sum = now == 0 ? stem[i / 4][i % 4] : exchange[at] + stem[i / 4][i % 4];
                    if (now + 1 < rivals)
                        exchange[at] = sum;
                    else
                        partial[at] = sum;
                }
            }
    }
}

// Conv1's sums of an image's rows from `left_out` on. A row at a time in a small loop, whose code the three roles' common
// instruction cache can hold: the rows' gradients move up in their registers, in one part or as they are.
template <typename Arithmetic, int Rows>
CNN_DEVICE void cnn_stem_rows(float (*stem)[4], float (*grad)[2][4], const char *codes, const char *pixels,
                              int left_out, int lane)
{
    enum { PARTS = cnn_stem_grad_parts<Arithmetic>::COUNT };
    uint32_t packed[Rows][1][4];
    float sum[4][2][4] = {};
    if (PARTS == 1)
#pragma unroll
        for (int row = 0; row < Rows; row++)
            cnn_stem_split<Arithmetic>(packed[row], grad[row]);
#pragma unroll 1
    for (int row = 0; row < Rows; row++) {
        uint32_t part[PARTS][4];
        if (PARTS == 1)
#pragma unroll
            for (int i = 0; i < 4; i++)
                part[0][i] = packed[0][0][i];
        else
            cnn_stem_split<Arithmetic>(part, grad[0]);
        if (row >= left_out)
            cnn_stem_row<Arithmetic>(sum, part, codes, pixels, lane);
#pragma unroll
        for (int i = 0; i < (Rows - 1) * 8; i++)
            if (PARTS > 1)
                grad[i / 8][i / 4 % 2][i % 4] = grad[i / 8 + 1][i / 4 % 2][i % 4];
            else if (i % 8 < 4)
                packed[i / 8][0][i % 4] = packed[i / 8 + 1][0][i % 4];
        codes += CNN_SIDE1 * CNN_CHANNELS1, pixels += 2 * CNN_PLANE_ROW;
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int tile = i / 4, at = i % 4;
        stem[tile][at] += (sum[0][tile][at] + sum[1][tile][at]) + (sum[2][tile][at] + sum[3][tile][at]);
    }
}

template <typename Arithmetic, int Parts, typename Arguments>
CNN_DEVICE void cnn_data_role(const Arguments &arguments, char *shared, int warp, int lane)
{
    typedef cnn_backward_tiles<Arithmetic> tiles;
    // Rows 0 4 8 10 and the three behind each, when four warps share them: the last warp leaves out two that another has.
    enum { ROWS = Parts == 1 ? CNN_SIDE1 / 2 : 4, RIVALS = Parts == 1 ? 2 : 4 };
    cnn_data_weight<Arithmetic>(arguments.workspace, shared + tiles::WEIGHT_AT, warp * 32 + lane);
    cp_async_wait_all();
    const int turn = warp % RIVALS, first_row = turn * ROWS <= CNN_SIDE1 - ROWS ? turn * ROWS : CNN_SIDE1 - ROWS;
    const int left_out = turn * ROWS - first_row;
    const int first_channel = (Parts == 1 ? warp / RIVALS : (int)blockIdx.y) * CNN_DATA_CHANNELS;
    const char *codes = shared + tiles::STEM_AT + first_row * CNN_SIDE1 * CNN_CHANNELS1 + first_channel +
                        (lane & 15) * CNN_CHANNELS1;
    const char *pixels =
        shared + tiles::STEM_AT + tiles::CODES + first_row * 2 * CNN_PLANE_ROW + cnn_stem_pixels(lane);
    float stem[2][4] = {};
    int stage = 0, step = tiles::STEM;
    for (int image = blockIdx.x; image < arguments.n; image += gridDim.x, stage ^= 1) {
        __barrier_sync_count(CNN_DATA_FULL, CNN_STAGE_THREADS + CNN_DATA_THREADS);
        float grad[ROWS][2][4];
        cnn_data_gradient<Arithmetic, ROWS>(grad, shared + tiles::GRAD_AT + stage % tiles::GRADS * tiles::GRAD,
                                            shared + tiles::WEIGHT_AT, first_row, first_channel, lane);
        if (tiles::GRADS == 1 && image + (int)gridDim.x < arguments.n)
            __barrier_sync_count(CNN_DATA_DONE, CNN_STAGE_THREADS + CNN_DATA_THREADS);
        cnn_stem_rows<Arithmetic, ROWS>(stem, grad, codes, pixels, left_out, lane);
        codes += step, pixels += step;
        step = -step;
    }
    cnn_stem_store(arguments.workspace.stem_sums_partial + (size_t)blockIdx.x * CNN_CHANNELS1 * CNN_STEM_SUMS, stem,
                   (float *)(shared + tiles::STEM_AT), turn, RIVALS, first_channel, lane);
}

// --- launch ----------------------------------------------------------------------------------------------------------

template <typename Arithmetic, int Parts>
static __global__ void __launch_bounds__(CNN_BACKWARD_THREADS, 1)
    cnn_backward_kernel(cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments)
{
    typedef cnn_backward_tiles<Arithmetic> tiles;
    extern __shared__ __align__(128) char cnn_shared[];
    for (int i = threadIdx.x; i < tiles::WEIGHT_AT / CNN_PART; i += CNN_BACKWARD_THREADS)
        ((uint4 *)cnn_shared)[i] = make_uint4(0, 0, 0, 0);
    heddle_wait_for_previous();
    heddle_release_next();
    __syncthreads();
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp < CNN_WEIGHT_WARPS)
        cnn_weight_role<Arithmetic, Parts>(arguments, cnn_shared, warp, lane);
    else if (warp < CNN_WEIGHT_WARPS + CNN_DATA_WARPS)
        cnn_data_role<Arithmetic, Parts>(arguments, cnn_shared, warp - CNN_WEIGHT_WARPS, lane);
    else
        cnn_stage_role<Arithmetic>(arguments, cnn_shared,
                                   threadIdx.x - (CNN_BACKWARD_THREADS - CNN_STAGE_THREADS));
}

template <typename Arithmetic, int Parts>
static cudaError_t cnn_launch_backward_parts(
    const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments, cudaStream_t stream)
{
    const int bytes = cnn_backward_tiles<Arithmetic>::BYTES;
    const cudaError_t error = cudaFuncSetAttribute(cnn_backward_kernel<Arithmetic, Parts>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess)
        return error;
    return heddle_cuda_launch_dependent(cnn_backward_kernel<Arithmetic, Parts>, dim3(arguments.backward_blocks, Parts),
                                        dim3(CNN_BACKWARD_THREADS), bytes, stream, arguments);
}

template <typename Arithmetic>
static cudaError_t cnn_launch_backward(
    const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments, cudaStream_t stream)
{
    int device = 0, multiprocessors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess)
        return error;
    return 2 * arguments.backward_blocks <= multiprocessors ? cnn_launch_backward_parts<Arithmetic, 2>(arguments, stream)
                                                            : cnn_launch_backward_parts<Arithmetic, 1>(arguments, stream);
}

#endif

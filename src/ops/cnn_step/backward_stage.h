// The stage warps of backward.h: they load the next image into shared memory while the others multiply. Conv2's output
// gradient goes through their registers, where it is computed from convolution2, code2 and grad_pooled2; pooled1 and
// code1 are copied; the image's bytes become planes of 16-bit numbers.
#pragma once

#include "ops/cnn_step/backward_products.h"

// Barriers of the block by number; 0 is __syncthreads. All warps take part in all of them. Separate barriers between
// the stage warps and each other role would let those drift apart by an image, which gains little, and
// compute-sanitizer's racecheck reports races for what barriers of a part of the block order.
enum { CNN_IMAGE_FULL = 1 }; // an image has arrived, and the last is no longer needed

enum {
    // Eight stage threads have a window of 2 × 2 pixels at a time, 8 channels each: 3 windows of a column, or of the
    // last row. Of the one remaining window every thread has 2 channels of one pixel. That is 98 floats per thread,
    // which fit in its registers.
    CNN_STAGE_GROUP = CNN_CHANNELS2 / 8,
    CNN_STAGE_GROUPS = CNN_STAGE_THREADS / CNN_STAGE_GROUP,
    CNN_STAGE_WINDOWS = 3,
    CNN_STAGE_WORDS = (CNN_PIXELS / 4 + CNN_STAGE_THREADS - 1) / CNN_STAGE_THREADS, // of 4 pixels of the image
};
static_assert(CNN_STAGE_WINDOWS * CNN_STAGE_GROUPS == CNN_PIXELS2 - 1, "one window is left over");

// Where a channel's coefficients lie: those of the stage threads' first halves (cnn_stage_channel) before those of the
// second, so that neighbours read neighbouring words.
CNN_DEVICE int cnn_coefficient_at(int channel)
{
    return (channel >> 2 & 1) * (CNN_CHANNELS2 / 2) + (channel >> 3) * 4 + (channel & 3);
}

// How a channel of conv2's output becomes its gradient: scale * dz + shift + slope * output. sums: of sums2.h
template <typename Operand, typename Convolution>
CNN_DEVICE void cnn_backward_coefficients(const cnn_arguments<Operand, Convolution> &arguments, const float *sums,
                                          float *coefficients, int channel)
{
    const float inverse_count = 1.0f / ((float)arguments.n * CNN_PIXELS1);
    const float mean = arguments.workspace.statistics2->mean[channel];
    const float inverse_std = arguments.workspace.statistics2->inverse_std[channel];
    const float mean_grad = sums[channel] * inverse_count;
    const float mean_product = sums[CNN_CHANNELS2 + channel] * inverse_count;
    const float scale = arguments.operands.parameters.gamma2[channel] * inverse_std;
    float *mine = coefficients + cnn_coefficient_at(channel);
    mine[0] = scale;
    mine[CNN_CHANNELS2] = scale * (mean * inverse_std * mean_product - mean_grad);
    mine[2 * CNN_CHANNELS2] = -scale * inverse_std * mean_product;
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

// A stage thread's first channel.
CNN_DEVICE int cnn_stage_channel(int thread)
{
    return thread % CNN_STAGE_GROUP * 8;
}

// One load or store of this many words, aligned to their total size.
template <int Words> CNN_DEVICE void cnn_copy_words(void *to, const void *from)
{
    struct __align__(4 * Words) whole
    {
        uint32_t word[Words];
    };
    *(whole *)to = *(const whole *)from;
}

// A stage thread's 8 channels of a pixel, as stored in memory.
template <typename Value> CNN_DEVICE void cnn_stage_load(uint32_t to[2 * sizeof(Value)], const Value *from, int thread)
{
    cnn_copy_words<2 * sizeof(Value)>(to, from + cnn_stage_channel(thread));
}

// Pixel `place` of a window, by its number in an image that has `pitch` pixels in a row.
CNN_DEVICE int cnn_window_pixel(int row, int column, int place, int pitch)
{
    return (row * 2 + place / 2) * pitch + column * 2 + place % 2;
}

// A stage thread's part of a window, as stored in memory, and the result: [place][channel].
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
    cnn_stage_load(window->grad, workspace.grad_pooled2 + at, thread);
    cnn_stage_load(window->winners, workspace.code2 + at, thread);
#pragma unroll
    for (int place = 0; place < 4; place++)
        cnn_stage_load(window->output[place], output + cnn_window_pixel(0, 0, place, CNN_SIDE1) * CNN_CHANNELS2,
                       thread);
}

template <typename Arithmetic, typename Operand, typename Convolution>
CNN_DEVICE void cnn_stage_gradient(const cnn_stage_window<Operand, Convolution> *window, const float *coefficients,
                                   int thread, cnn_stage_values<Operand> *values)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const float *mine = coefficients + half * (CNN_CHANNELS2 / 2) + thread % CNN_STAGE_GROUP * 4;
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
        const int part = cnn_stage_channel(thread) / IN_PART;
        cnn_copy_words<4>(grad + cnn_part<GRAD_PIXEL>(pixel, part), values->value[place]);
    }
}

// The same for the remaining window: as stored in memory, then the gradient.
template <typename Operand, typename Convolution> struct cnn_stage_rest {
    __align__(8) uint32_t output[sizeof(Convolution) / 2];
    __align__(8) uint32_t grad[sizeof(Operand) / 2];
    uint32_t winners;
};

template <typename Operand, typename Convolution>
CNN_DEVICE void cnn_stage_load_rest(const cnn_workspace<Operand, Convolution> &workspace, int image, int thread,
                                    cnn_stage_rest<Operand, Convolution> *rest)
{
    const int place = thread / (CNN_CHANNELS2 / 2), channel = thread % (CNN_CHANNELS2 / 2) * 2;
    const int pixel = cnn_window_pixel(CNN_SIDE2 - 1, CNN_SIDE2 - 1, place, CNN_SIDE1);
    const size_t at = (size_t)image * CNN_FEATURES + (CNN_PIXELS2 - 1) * CNN_CHANNELS2 + channel;
    cnn_copy_words<sizeof(Convolution) / 2>(
        rest->output, workspace.convolution2 + ((size_t)image * CNN_PIXELS1 + pixel) * CNN_CHANNELS2 + channel);
    cnn_copy_words<sizeof(Operand) / 2>(rest->grad, workspace.grad_pooled2 + at);
    rest->winners = *(const uint16_t *)(workspace.code2 + at);
}

template <typename Operand, typename Convolution>
CNN_DEVICE void cnn_stage_rest_gradient(const cnn_stage_rest<Operand, Convolution> *rest, const float *coefficients,
                                        int thread, float value[2])
{
    const uint32_t place = thread / (CNN_CHANNELS2 / 2);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int channel = thread % (CNN_CHANNELS2 / 2) * 2 + i;
        const float *mine = coefficients + cnn_coefficient_at(channel);
        const float dz = cnn_float(((const Operand *)rest->grad)[i]);
        value[i] =
            fmaf(mine[2 * CNN_CHANNELS2], cnn_float(((const Convolution *)rest->output)[i]), mine[CNN_CHANNELS2]);
        if ((rest->winners >> 8 * i & 0xff) == place)
            value[i] = fmaf(mine[0], dz, value[i]);
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

// Queues the copies of what the products read unchanged. A thread keeps its column, so that its addresses increase
// evenly.
template <typename Arithmetic, typename Workspace>
CNN_DEVICE void cnn_stage_copy(const Workspace &workspace, char *pooled, char *codes, int image, int thread)
{
    typedef cnn_backward_tiles<Arithmetic> tiles;
    enum {
        PARTS = tiles::POOLED_PIXEL / CNN_PART,
        ROW_PARTS = CNN_SIDE1 * PARTS,
        ROWS = 2, // at a time
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

// The image's pixels, four per word; past the last word the first again.
CNN_DEVICE void cnn_stage_load_pixels(const uint8_t *pixels, uint32_t word[CNN_STAGE_WORDS], int thread)
{
#pragma unroll
    for (int i = 0; i < CNN_STAGE_WORDS; i++) {
        const int at = (thread + i * CNN_STAGE_THREADS) * 4;
        word[i] = cnn_pixels4(pixels + (at < CNN_PIXELS ? at : 0));
    }
}

// To the planes: each pixel is in two of them. A word's first is in a column that is a multiple of 4.
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

// Stores conv2's output gradient to its tile: one window at a time in a small loop, while the next is loaded.
template <typename Arithmetic, typename Operand, typename Convolution>
CNN_DEVICE void cnn_stage_stream(const cnn_workspace<Operand, Convolution> &workspace, const float *coefficients,
                                 int image, int thread, char *grad)
{
    cnn_stage_rest<Operand, Convolution> rest;
    cnn_stage_window<Operand, Convolution> next;
    cnn_stage_load_rest(workspace, image, thread, &rest);
    cnn_stage_load_window(workspace, image, thread, 0, &next);
#pragma unroll 1
    for (int step = 0; step < CNN_STAGE_WINDOWS; step++) {
        const cnn_stage_window<Operand, Convolution> window = next;
        if (step + 1 < CNN_STAGE_WINDOWS)
            cnn_stage_load_window(workspace, image, thread, step + 1, &next);
        cnn_stage_values<Operand> values;
        cnn_stage_gradient<Arithmetic>(&window, coefficients, thread, &values);
        cnn_stage_store<Arithmetic>(grad, &values, thread, step);
    }
    float left_over[2];
    cnn_stage_rest_gradient(&rest, coefficients, thread, left_over);
    cnn_stage_store_rest<Arithmetic>(grad, left_over, thread);
}

// The first image's pixels, pooled1 and code1 are ready before the previous kernel ends. `word`: its pixels, requested
// before the tiles are cleared, since they depend on two other loads.
template <typename Arguments>
CNN_DEVICE void cnn_stage_first_pixels(const Arguments &arguments, uint32_t word[CNN_STAGE_WORDS], int thread)
{
    const int32_t *order = arguments.operands.order + *arguments.operands.cursor;
    cnn_stage_load_pixels(arguments.operands.images + (size_t)order[blockIdx.x] * CNN_PIXELS, word, thread);
}
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_stage_first(const Arguments &arguments, char *shared, const uint32_t word[CNN_STAGE_WORDS],
                                int thread)
{
    typedef cnn_backward_tiles<Arithmetic> tiles;
    cnn_stage_copy<Arithmetic>(arguments.workspace, shared + tiles::POOLED_AT, shared + tiles::STEM_AT, blockIdx.x,
                               thread);
    cnn_stage_store_pixels<Arithmetic>(shared + tiles::STEM_AT + tiles::CODES, word, thread);
}

template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_stage_role(const Arguments &arguments, char *shared, const int own_thread)
{
    typedef cnn_backward_tiles<Arithmetic> tiles;
    const float *coefficients = (const float *)(shared + tiles::COEFFICIENTS_AT);
    const int32_t *order = arguments.operands.order + *arguments.operands.cursor;
    int source = 0, stage = 0; // of the image; the next one's is requested early
    for (int image = blockIdx.x; image < arguments.n; image += gridDim.x, stage ^= 1) {
        // The compiler must not know that this is the same for every image: it would compute the addresses of all
        // windows once, and they do not fit in registers beside the windows' values.
        const int thread = __shfl_sync(0xffffffffu, own_thread, own_thread % 32);
        const bool first = image == (int)blockIdx.x;
        char *grad = shared + tiles::GRAD_AT + stage * tiles::GRAD;
        char *stem = shared + tiles::STEM_AT + stage * tiles::STEM;
        uint32_t word[CNN_STAGE_WORDS] = {0};
        if (!first) {
            cnn_stage_copy<Arithmetic>(arguments.workspace, shared + tiles::POOLED_AT + stage * tiles::POOLED, stem,
                                       image, thread);
            cnn_stage_load_pixels(arguments.operands.images + (size_t)source * CNN_PIXELS, word, thread);
        }
        if (image + (int)gridDim.x < arguments.n)
            source = order[image + gridDim.x];
        cnn_stage_stream<Arithmetic>(arguments.workspace, coefficients, image, thread, grad);
        if (!first)
            cnn_stage_store_pixels<Arithmetic>(stem + tiles::CODES, word, thread);
        cp_async_wait_all();
        __barrier_sync_count(CNN_IMAGE_FULL, CNN_BACKWARD_THREADS);
    }
}

// The stage warps of backward_wgmma.h: they load the next image into shared memory while the others multiply, like
// those of backward_stage.h, some of whose loads they use.
#pragma once

#include "ops/cnn_step/backward_stage.h"
#include "ops/cnn_step/backward_wgmma_tiles.h"
#include "ops/cuda/hopper.h"

// --- conv2's output gradient -----------------------------------------------------------------------------------------

// Four numbers as elements, and their rounding errors.
template <typename Element> CNN_DEVICE void cnn_hopper_pack(uint32_t to[2], float values[4], bool rest)
{
    typedef typename cnn_hopper_arithmetic<Element>::type arithmetic;
    __align__(8) uint32_t packed[2];
    cnn_store4<arithmetic>((Element *)packed, values);
    to[0] = packed[0], to[1] = packed[1];
    if (rest) {
        float rounded[4];
        cnn_load4(rounded, (const Element *)packed);
#pragma unroll
        for (int i = 0; i < 4; i++)
            values[i] -= rounded[i];
    }
}

// How a channel of conv2's output becomes its gradient: scale * dz + shift + slope * output. First halves of the stage
// threads' eight channels, then second halves, so that neighbours read neighbouring words.
CNN_DEVICE int cnn_hopper_coefficient_at(int channel)
{
    return cnn_coefficient_at(channel);
}
struct cnn_hopper_channel { // what they are computed from
    float mean, inverse_std, gamma, sum, product;
};
template <typename Arguments> // except for the sums
CNN_DEVICE cnn_hopper_channel cnn_hopper_load_channel(const Arguments &arguments, int channel)
{
    cnn_hopper_channel from;
    from.mean = arguments.workspace.statistics2->mean[channel];
    from.inverse_std = arguments.workspace.statistics2->inverse_std[channel];
    from.gamma = arguments.operands.parameters.gamma2[channel];
    return from;
}
CNN_DEVICE void cnn_hopper_coefficients(float *coefficients, const cnn_hopper_channel &from, int n, int channel,
                                        float grad_scale)
{
    const float inverse_count = 1.0f / ((float)n * CNN_PIXELS1);
    const float mean_grad = from.sum * inverse_count, mean_product = from.product * inverse_count;
    const float scale = from.gamma * from.inverse_std * grad_scale;
    float *mine = coefficients + cnn_hopper_coefficient_at(channel);
    mine[0] = scale;
    mine[CNN_CHANNELS2] = scale * (from.mean * from.inverse_std * mean_product - mean_grad);
    mine[2 * CNN_CHANNELS2] = -scale * from.inverse_std * mean_product;
}

// Loads this many words from global memory in one instruction, and exactly here: the compiler would split it, or move
// it to where it delays what follows.
template <int Words> CNN_DEVICE void cnn_load_words(uint32_t *to, const void *from)
{
    if constexpr (Words == 4) {
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "l"(from)
                     : "memory");
    } else {
        static_assert(Words == 2, "words of a load");
        asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "l"(from) : "memory");
    }
}

// Eight neighbouring channels, as stored in memory.
template <typename Value> CNN_DEVICE void cnn_hopper_load(uint32_t to[2 * sizeof(Value)], const Value *from)
{
    enum { WORDS = 2 * sizeof(Value), PIECE = WORDS < 4 ? WORDS : 4 };
#pragma unroll
    for (int i = 0; i < WORDS; i += PIECE)
        cnn_load_words<PIECE>(to + i, (const uint32_t *)from + i);
}

// A stage thread's channels of a window: conv2's output and the winners, and the incoming gradient.
template <typename Operand, typename Convolution>
CNN_DEVICE void cnn_hopper_load_outputs(const cnn_workspace<Operand, Convolution> &workspace, int image, int thread,
                                        int row, int column, cnn_stage_window<Operand, Convolution> *window)
{
    const int channel = thread % CNN_STAGE_GROUP * CNN_HOPPER_CHUNK;
    const size_t at = (size_t)image * CNN_FEATURES + (row * CNN_SIDE2 + column) * CNN_CHANNELS2 + channel;
    const Convolution *output = workspace.convolution2 + (size_t)image * CNN_PIXELS1 * CNN_CHANNELS2 +
                                cnn_window_pixel(row, column, 0, CNN_SIDE1) * CNN_CHANNELS2 + channel;
    cnn_hopper_load(window->winners, workspace.code2 + at);
#pragma unroll
    for (int place = 0; place < 4; place++)
        cnn_hopper_load(window->output[place], output + cnn_window_pixel(0, 0, place, CNN_SIDE1) * CNN_CHANNELS2);
}
template <typename Operand, typename Convolution>
CNN_DEVICE void cnn_hopper_load_grad(const cnn_workspace<Operand, Convolution> &workspace, int image, int thread,
                                     int row, int column, cnn_stage_window<Operand, Convolution> *window)
{
    cnn_hopper_load(window->grad, workspace.grad_pooled2 + (size_t)image * CNN_FEATURES +
                                      (row * CNN_SIDE2 + column) * CNN_CHANNELS2 +
                                      thread % CNN_STAGE_GROUP * CNN_HOPPER_CHUNK);
}

// Window `step` of a stage thread's.
template <typename Operand, typename Convolution>
CNN_DEVICE void cnn_hopper_load_window(const cnn_workspace<Operand, Convolution> &workspace, int image, int thread,
                                       int step, cnn_stage_window<Operand, Convolution> *window)
{
    const int row = cnn_stage_row(thread, step), column = cnn_stage_column(thread, step);
    cnn_hopper_load_outputs(workspace, image, thread, row, column, window);
    cnn_hopper_load_grad(workspace, image, thread, row, column, window);
}

// A stage thread's result for a window: [part][place], one chunk each.
template <typename Arithmetic> struct cnn_hopper_values {
    __align__(16) uint32_t value[cnn_hopper_kind<Arithmetic>::parts][4][4];
};

template <typename Arithmetic, typename Operand, typename Convolution>
CNN_DEVICE void cnn_hopper_gradient(const cnn_stage_window<Operand, Convolution> *window, const float *coefficients,
                                    int thread, cnn_hopper_values<Arithmetic> *values)
{
    typedef cnn_hopper_kind<Arithmetic> kind;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const float *mine = coefficients + half * (CNN_CHANNELS2 / 2) + thread % CNN_STAGE_GROUP * 4;
        float scale[4], shift[4], slope[4], dz[4];
        cnn_load4(scale, mine);
        cnn_load4(shift, mine + CNN_CHANNELS2);
        cnn_load4(slope, mine + 2 * CNN_CHANNELS2);
        cnn_load4(dz, (const Operand *)(window->grad + half * sizeof(Operand)));
#pragma unroll
        for (uint32_t place = 0; place < 4; place++) {
            float value[4];
            cnn_load4(value, (const Convolution *)(window->output[place] + half * sizeof(Convolution)));
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float rest = fmaf(slope[i], value[i], shift[i]);
                const bool won = (window->winners[half] >> 8 * i & 0xff) == place;
                value[i] = won ? fmaf(scale[i], dz[i], rest) : rest;
            }
#pragma unroll
            for (int part = 0; part < kind::parts; part++)
                cnn_hopper_pack<typename kind::element>(values->value[part][place] + half * 2, value,
                                                        part + 1 < kind::parts);
        }
    }
}

template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_store(char *grad, const cnn_hopper_values<Arithmetic> *values, int thread, int row,
                                 int column)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    char *to = grad + thread % CNN_STAGE_GROUP * tiles::GRAD_CHUNK +
               (cnn_window_pixel(row, column, 0, CNN_TILE_SIDE) + 1) * CNN_PART;
#pragma unroll
    for (int part = 0; part < tiles::kind::parts; part++)
#pragma unroll
        for (int place = 0; place < 4; place++)
            cnn_copy_words<4>(to + part * tiles::GRAD_PART + cnn_window_pixel(0, 0, place, CNN_TILE_SIDE) * CNN_PART,
                              values->value[part][place]);
}

// The remaining window: two channels of one pixel per thread.
template <typename Operand, typename Convolution>
CNN_DEVICE void cnn_hopper_rest_gradient(const cnn_stage_rest<Operand, Convolution> *rest, const float *coefficients,
                                         int thread, float value[2])
{
    const uint32_t place = thread / (CNN_CHANNELS2 / 2);
    const float *mine = coefficients + cnn_hopper_coefficient_at(thread % (CNN_CHANNELS2 / 2) * 2);
    __align__(8) float scale[2], shift[2], slope[2]; // of neighbours
    cnn_copy_words<2>(scale, mine);
    cnn_copy_words<2>(shift, mine + CNN_CHANNELS2);
    cnn_copy_words<2>(slope, mine + 2 * CNN_CHANNELS2);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float dz = cnn_float(((const Operand *)rest->grad)[i]);
        value[i] = fmaf(slope[i], cnn_float(((const Convolution *)rest->output)[i]), shift[i]);
        if ((rest->winners >> 8 * i & 0xff) == place)
            value[i] = fmaf(scale[i], dz, value[i]);
    }
}

template <typename Arithmetic> CNN_DEVICE void cnn_hopper_store_rest(char *grad, const float value[2], int thread)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    typedef typename tiles::kind::element element;
    const int place = thread / (CNN_CHANNELS2 / 2), channel = thread % (CNN_CHANNELS2 / 2) * 2;
    const int pixel = cnn_window_pixel(CNN_SIDE2 - 1, CNN_SIDE2 - 1, place, CNN_TILE_SIDE) + 1;
    float first = value[0], second = value[1];
    char *to = grad + channel / CNN_HOPPER_CHUNK * tiles::GRAD_CHUNK + pixel * CNN_PART +
               channel % CNN_HOPPER_CHUNK * sizeof(element);
#pragma unroll
    for (int part = 0; part < tiles::kind::parts; part++) {
        const element left = cnn_round<typename cnn_hopper_arithmetic<element>::type>(first);
        const element right = cnn_round<typename cnn_hopper_arithmetic<element>::type>(second);
        cnn_store2((element *)(to + part * tiles::GRAD_PART), left, right);
        first -= cnn_float(left), second -= cnn_float(right);
    }
}

// --- pooled1, code1 and pixels ---------------------------------------------------------------------------------------

// Copies pooled1 to its tile, as forward_wgmma.h leaves it: in the products' layout, scaled and in parts. A few rows at
// a time; a thread keeps its column, so that its addresses increase evenly. 56 of a row's 64 threads have a chunk.
template <typename Arithmetic, int Threads, typename Arguments>
CNN_DEVICE void cnn_hopper_pooled(const Arguments &arguments, char *pooled, int image, int thread)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    typedef typename tiles::kind::element element;
    enum { ROW_CHUNKS = CNN_SIDE1 * CNN_HOPPER_CHUNKS1, ROW_THREADS = 64, ROWS = Threads / ROW_THREADS };
    const int row = thread / ROW_THREADS, column = thread % ROW_THREADS;
    const element *from = (const element *)arguments.workspace.pooled1 + (size_t)image * CNN_PIXELS1 * CNN_CHANNELS1 +
                          (row * ROW_CHUNKS + column) * CNN_HOPPER_CHUNK;
    char *to = pooled + (row + 1) * tiles::POOLED_ROW + column % CNN_HOPPER_CHUNKS1 * tiles::POOLED_STRIP +
               (1 + column / CNN_HOPPER_CHUNKS1) * CNN_PART;
    if (column >= ROW_CHUNKS)
        return;
#pragma unroll
    for (int part = 0; part < tiles::kind::parts; part++, from += (size_t)arguments.n * CNN_PIXELS1 * CNN_CHANNELS1)
#pragma unroll
        for (int y = 0; y < CNN_SIDE1; y += ROWS)
            if (y + row < CNN_SIDE1)
                cp_async_16(to + part * tiles::POOLED_PART + y * tiles::POOLED_ROW,
                            from + y * ROW_CHUNKS * CNN_HOPPER_CHUNK);
}

template <int Threads, typename Workspace>
CNN_DEVICE void cnn_hopper_codes(const Workspace &workspace, char *codes, int image, int thread)
{
    enum { CODE_PARTS = CNN_PIXELS1 * CNN_CHANNELS1 / CNN_PART };
    const uint8_t *code = workspace.code1 + (size_t)image * CNN_PIXELS1 * CNN_CHANNELS1;
#pragma unroll
    for (int i = 0; i < CODE_PARTS; i += Threads)
        if (i + thread < CODE_PARTS)
            cp_async_16(codes + (i + thread) * CNN_PART, code + (i + thread) * CNN_PART);
}

// Pixels for conv1's sums by wgmma. A thread has the even or the odd ones of half a row, and one more: offsets x and x
// + 2 are the same pixels, one window further on.
CNN_DEVICE void cnn_hopper_load_pixels(const uint8_t *pixels, uint32_t word[CNN_HOPPER_PIXEL_WORDS], int thread)
{
    const int row = thread / 4, half = thread / 2 % 2, even = thread % 2; // odd pixels begin with the one before
    const int first = half * 4 - 1 + even;
    const uint8_t *from = pixels + row * CNN_SIDE + first * 4;
#pragma unroll
    for (int i = 0; i < CNN_HOPPER_PIXEL_WORDS; i++)
        word[i] = 0;
    if (thread >= CNN_HOPPER_PIXEL_THREADS)
        return;
    if (((uintptr_t)pixels & 3) == 0) { // one condition for all, so that all are in flight at once
#pragma unroll
        for (int i = 0; i < CNN_HOPPER_PIXEL_WORDS; i++)
            if (first + i >= 0 && first + i < CNN_SIDE / 4)
                word[i] = *(const uint32_t *)(from + i * 4);
    } else {
#pragma unroll 1
        for (int i = 0; i < CNN_HOPPER_PIXEL_WORDS * 4; i++)
            if (first * 4 + i >= 0 && first * 4 + i < CNN_SIDE) {
                const uint32_t bits = (uint32_t)from[i] << i % 4 * 8;
#pragma unroll
                for (int j = 0; j < CNN_HOPPER_PIXEL_WORDS; j++)
                    word[j] |= i / 4 == j ? bits : 0;
            }
    }
}
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_store_pixels(char *to, const uint32_t word[CNN_HOPPER_PIXEL_WORDS], int thread)
{
    typedef typename cnn_hopper_arithmetic<typename cnn_hopper_kind<Arithmetic>::element>::type arithmetic;
    const int row = thread / 4 + 1, half = thread / 2 % 2, even = thread % 2; // of the image with its border
    if (thread >= CNN_HOPPER_PIXEL_THREADS)
        return;
    float value[9];
#pragma unroll
    for (int i = 0; i < 9; i++) // bytes 3 | 1 3 | 1 3 | ..., or 0 2 | 0 2 | ... | 0
        value[i] =
            (float)(even ? word[i / 2] >> i % 2 * 16 & 0xff : word[(i + 1) / 2] >> (8 + (i + 1) % 2 * 16) & 0xff);
    __align__(16) uint32_t packed[2][4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        packed[0][i] = cnn_stem_pack<arithmetic>(value[2 * i], value[2 * i + 1]);
        packed[1][i] = cnn_stem_pack<arithmetic>(value[2 * i + 1], value[2 * i + 2]);
    }
#pragma unroll
    for (int lower = 0; lower < 2; lower++) { // the row is the first or second of one row of windows, third or fourth
        const int windows = row / 2 - lower;  // of the one above
        char *at = to + windows * CNN_HOPPER_PIXEL_ROW +
                   (half * CNN_HOPPER_OFFSETS + (row % 2 + lower * 2) * 4 + even) * CNN_PART;
        if (windows >= 0 && windows < CNN_SIDE1) {
            cnn_copy_words<4>(at, packed[0]);
            cnn_copy_words<4>(at + 2 * CNN_PART, packed[1]);
        }
    }
}

// In either case: in the layout of conv1's sums.
template <typename Arithmetic> struct cnn_hopper_pixels {
    enum { WGMMA = cnn_hopper_kind<Arithmetic>::stem_tiles > 0 };
    uint32_t word[WGMMA ? (int)CNN_HOPPER_PIXEL_WORDS : (int)CNN_STAGE_WORDS];
};
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_take_pixels(const uint8_t *pixels, cnn_hopper_pixels<Arithmetic> *taken, int thread)
{
    if constexpr (cnn_hopper_pixels<Arithmetic>::WGMMA)
        cnn_hopper_load_pixels(pixels, taken->word, thread);
    else
        cnn_stage_load_pixels(pixels, taken->word, thread);
}
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_leave_pixels(char *to, const cnn_hopper_pixels<Arithmetic> &taken, int thread)
{
    if constexpr (cnn_hopper_pixels<Arithmetic>::WGMMA)
        cnn_hopper_store_pixels<Arithmetic>(to, taken.word, thread);
    else
        cnn_stage_store_pixels<Arithmetic>(to, taken.word, thread);
}

// By TMA, if the stem has its own warps; one thread issues it.
struct cnn_hopper_maps {
    CUtensorMap pooled, codes;
};
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_copy_pooled(const cnn_hopper_maps *maps, char *pooled, uint64_t *full, int image)
{
    mbarrier_expect(full, cnn_hopper_tiles<Arithmetic>::POOLED_BYTES);
    tma_load5(pooled, &maps->pooled, 0, -1, 0, -1, image, full);
}
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_copy_codes(const cnn_hopper_maps *maps, char *codes, uint64_t *coded, int image)
{
    mbarrier_arrive_expect(coded, cnn_hopper_tiles<Arithmetic>::CODES_BYTES);
    tma_load3(codes, &maps->codes, 0, image * CNN_PIXELS1, 0, coded);
}

// --- the role --------------------------------------------------------------------------------------------------------

// The tiles of one image.
struct cnn_hopper_places {
    char *grad, *pooled, *stem;
    uint64_t *full;
    uint64_t *empty; // NULL: nothing was there before
    int parity;
};

// If there are two tiles for the gradient: its operands are requested before the tile is free. Not before the last
// image is finished: the fence after its stores would wait for these loads, too.
template <typename Arithmetic> struct cnn_hopper_ahead {
    cnn_stage_window<typename Arithmetic::operand, typename Arithmetic::convolution> window[CNN_STAGE_WINDOWS];
    cnn_stage_rest<typename Arithmetic::operand, typename Arithmetic::convolution> rest;
};
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hopper_ahead_load(const Arguments &arguments, int image, int thread,
                                      cnn_hopper_ahead<Arithmetic> *ahead)
{
#pragma unroll
    for (int step = 0; step < CNN_STAGE_WINDOWS; step++)
        cnn_hopper_load_window(arguments.workspace, image, thread, step, &ahead->window[step]);
    cnn_stage_load_rest(arguments.workspace, image, thread, &ahead->rest);
}

// Four of a thread's channels of a window: the gradient overwrites the output.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_ahead_gradient(cnn_hopper_ahead<Arithmetic> *ahead, const float (&coefficient)[3][4],
                                          int half, int step)
{
    typedef typename Arithmetic::operand operand;
    typedef typename Arithmetic::convolution convolution;
    static_assert(sizeof(convolution) == 2, "as long as what the products take");
    float dz[4];
    cnn_load4(dz, (const operand *)(ahead->window[step].grad + half * sizeof(operand)));
#pragma unroll
    for (int i = 0; i < 4; i++)
        dz[i] *= coefficient[0][i];
#pragma unroll
    for (uint32_t place = 0; place < 4; place++) {
        uint32_t *words = ahead->window[step].output[place] + half * sizeof(convolution);
        float value[4];
        cnn_load4(value, (const convolution *)words);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float rest = fmaf(coefficient[2][i], value[i], coefficient[1][i]);
            const bool won = (ahead->window[step].winners[half] >> 8 * i & 0xff) == place;
            value[i] = won ? rest + dz[i] : rest;
        }
        cnn_hopper_pack<typename cnn_hopper_kind<Arithmetic>::element>(words, value, false);
    }
}

template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_ahead_store(const cnn_hopper_ahead<Arithmetic> *ahead, char *to, int thread, int step)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    const int row = cnn_stage_row(thread, step), column = cnn_stage_column(thread, step);
    char *grad = to + thread % CNN_STAGE_GROUP * tiles::GRAD_CHUNK +
                 (cnn_window_pixel(row, column, 0, CNN_TILE_SIDE) + 1) * CNN_PART;
#pragma unroll
    for (int place = 0; place < 4; place++)
        cnn_copy_words<4>(grad + cnn_window_pixel(0, 0, place, CNN_TILE_SIDE) * CNN_PART,
                          ahead->window[step].output[place]);
}

template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hopper_stream(const Arguments &arguments, const cnn_hopper_maps *maps, const float *coefficients,
                                  int image, int thread, const cnn_hopper_places &to)
{
    cnn_hopper_ahead<Arithmetic> own, *ahead = &own;
    cnn_hopper_ahead_load<Arithmetic>(arguments, image, thread, ahead);
    if (to.empty)
        mbarrier_wait(to.empty, to.parity);
    if (thread == 0)
        cnn_hopper_copy_pooled<Arithmetic>(maps, to.pooled, to.full, image);
    float left_over[2];
    cnn_hopper_rest_gradient(&ahead->rest, coefficients, thread, left_over);
    cnn_hopper_store_rest<Arithmetic>(to.grad, left_over, thread);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float mine[3][4];
#pragma unroll
        for (int i = 0; i < 3; i++)
            cnn_load4(mine[i],
                      coefficients + i * CNN_CHANNELS2 + half * (CNN_CHANNELS2 / 2) + thread % CNN_STAGE_GROUP * 4);
#pragma unroll
        for (int step = 0; step < CNN_STAGE_WINDOWS; step++) {
            cnn_hopper_ahead_gradient(ahead, mine, half, step);
            if (half == 1)
                cnn_hopper_ahead_store(ahead, to.grad, thread, step);
        }
    }
}

// If there is one: all but the last window, whose gradient would not fit in the registers beside the others', is
// computed before waiting for the others to finish the last image.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hopper_held(const Arguments &arguments, const float *coefficients, int image, int thread,
                                const cnn_hopper_places &to)
{
    enum { HELD = CNN_STAGE_WINDOWS - 1 };
    typedef typename Arithmetic::operand operand;
    typedef typename Arithmetic::convolution convolution;
    cnn_hopper_values<Arithmetic> values[HELD], last;
    cnn_stage_window<operand, convolution> window[HELD];
    cnn_stage_rest<operand, convolution> rest;
    float left_over[2];
#pragma unroll
    for (int step = 0; step < HELD; step++)
        cnn_hopper_load_window(arguments.workspace, image, thread, step, &window[step]);
    cnn_hopper_pooled<Arithmetic, CNN_STAGE_THREADS>(arguments, to.pooled, image, thread);
    cnn_stage_load_rest(arguments.workspace, image, thread, &rest);
    cnn_hopper_gradient<Arithmetic>(&window[0], coefficients, thread, &values[0]);
    cnn_hopper_load_window(arguments.workspace, image, thread, HELD, &window[0]);
    cnn_hopper_gradient<Arithmetic>(&window[1], coefficients, thread, &values[1]);
    cnn_hopper_rest_gradient(&rest, coefficients, thread, left_over);
    if (to.empty)
        mbarrier_wait(to.empty, to.parity);
    cnn_hopper_codes<CNN_STAGE_THREADS>(arguments.workspace, to.stem, image, thread);
#pragma unroll
    for (int step = 0; step < HELD; step++)
        cnn_hopper_store<Arithmetic>(to.grad, &values[step], thread, cnn_stage_row(thread, step),
                                     cnn_stage_column(thread, step));
    cnn_hopper_store_rest<Arithmetic>(to.grad, left_over, thread);
    cnn_hopper_gradient<Arithmetic>(&window[0], coefficients, thread, &last);
    cnn_hopper_store<Arithmetic>(to.grad, &last, thread, cnn_stage_row(thread, HELD), cnn_stage_column(thread, HELD));
}

// Image i of the block goes to tile i % grads of the gradient, i % STEMS of codes and pixels, and i % 2 of pooled1. The
// others arrive at `empty` when they are done with it, these at `full`. If the stem has its own warps, they load its
// codes and pixels themselves.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hopper_stage_role(const Arguments &arguments, const cnn_hopper_maps *maps, char *shared,
                                      uint64_t *full, uint64_t *empty, int count, const int own_thread)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    enum { GRADS = tiles::kind::grads, AHEAD = tiles::kind::stem_tiles > 0 };
    const float *coefficients = (const float *)(shared + tiles::COEFFICIENTS_AT);
    const int32_t *order = AHEAD ? NULL : arguments.operands.order + *arguments.operands.cursor;
    int source = !AHEAD && count > 1 ? order[blockIdx.x + gridDim.x] : 0; // of the image; the next one's is requested
                                                                          // early
    mbarrier_arrive(full);                                                // the first has arrived
#pragma unroll 1
    for (int i = 1; i < count; i++) {
        const int image = blockIdx.x + i * gridDim.x, next = image + gridDim.x, tile = i % GRADS, use = i / GRADS;
        // The compiler must not know that this is the same for every image: see backward_stage.h.
        const int thread = __shfl_sync(0xffffffffu, own_thread, own_thread % 32);
        cnn_hopper_places to;
        to.grad = shared + tiles::GRAD_AT + tile * tiles::GRAD;
        to.stem = shared + tiles::STEM_AT + i % tiles::STEMS * tiles::STEM;
        to.pooled = shared + tiles::POOLED_AT + i % 2 * tiles::POOLED;
        to.full = full + tile;
        to.empty = use > 0 ? empty + tile : NULL;
        to.parity = (use - 1) & 1;
        if constexpr (AHEAD) {
            cnn_hopper_stream<Arithmetic>(arguments, maps, coefficients, image, thread, to);
        } else {
            cnn_hopper_pixels<Arithmetic> pixels;
            cnn_hopper_take_pixels<Arithmetic>(arguments.operands.images + (size_t)source * CNN_PIXELS, &pixels,
                                               thread);
            if (i + 1 < count)
                source = order[next];
            cnn_hopper_held<Arithmetic>(arguments, coefficients, image, thread, to);
            cnn_hopper_leave_pixels<Arithmetic>(to.stem + tiles::CODES, pixels, thread);
            cp_async_wait_all();
        }
        tma_fence_written();
        mbarrier_arrive(full + tile);
    }
}

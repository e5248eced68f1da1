// The tiles of backward_wgmma.h, and the warps that fill them: they bring the next image into shared memory while the
// others multiply, as those of backward_stage.h do, whose loads and planes of pixels they use.
//
// wgmma reads its operands from shared memory in chunks of 16 bytes, 8 channels of 16 bits: a tile has the first chunk
// of all pixels, then the second. A pixel further on is 16 bytes further on, whatever the tap.
//
// Where the arithmetic is more than 16 bits, its floats are multiplied as halves all the same: half has as many digits
// as tf32, and two halves as many as two tf32. What half lacks is range, so each operand is multiplied by a power of
// two, of which is known that nothing overflows (cnn_half_scale), and the sums are divided by it in the end.
#ifndef HEDDLE_OPS_CNN_STEP_BACKWARD_WGMMA_STAGE_H
#define HEDDLE_OPS_CNN_STEP_BACKWARD_WGMMA_STAGE_H

#include "ops/cnn_step/backward_stage.h"
#include "ops/cnn_step/hidden_backward.h"
#include "ops/cuda/hopper.h"

enum {
    CNN_HOPPER_TAPS = 3,                                   // stacked in one product of the data gradient
    CNN_HOPPER_ROWS = CNN_HOPPER_TAPS * CNN_CHANNELS1,     // of its weight
    CNN_HOPPER_CHUNK = 8,                                  // channels
    CNN_HOPPER_CHUNKS1 = CNN_CHANNELS1 / CNN_HOPPER_CHUNK, // of a pixel of pooled1
    CNN_HOPPER_CHUNKS2 = CNN_CHANNELS2 / CNN_HOPPER_CHUNK, // of a pixel of conv2's output
};

// What the products take, in how many parts, and whether scaled. `grads`: tiles of conv2's output gradient; where one
// has to do, the stage warps keep the next in their registers. Registers of each role, 504 together.
template <typename Arithmetic> struct cnn_hopper_kind {
    typedef typename Arithmetic::operand element;
    static const int parts = 1, scaled = 0, grads = 2;
    static const int weight_registers = 184, data_registers = 168, stage_registers = 152;
};
template <> struct cnn_hopper_kind<cnn_tf32> {
    typedef __half element;
    static const int parts = 1, scaled = 1, grads = 2;
    static const int weight_registers = 184, data_registers = 168, stage_registers = 152;
};
template <> struct cnn_hopper_kind<cnn_tf32x3> {
    typedef __half element;
    static const int parts = 2, scaled = 1, grads = 1;
    static const int weight_registers = 192, data_registers = 168, stage_registers = 144;
};

// The arithmetic that rounds to an element.
template <typename Element> struct cnn_hopper_arithmetic {
    typedef cnn_fp16 type;
};
template <> struct cnn_hopper_arithmetic<__nv_bfloat16> {
    typedef cnn_bf16 type;
};

// Where everything lies in shared memory, in bytes.
template <typename Arithmetic> struct cnn_hopper_tiles {
    typedef cnn_hopper_kind<Arithmetic> kind;
    enum : int {
        // The gradient has no border above: row y begins at pixel 16 y. From a chunk to the next is an odd number of 16
        // bytes, so that the eight chunks of a pixel are in different banks.
        GRAD_CHUNK = (CNN_TILE_PIXELS + 7) * CNN_PART,
        GRAD_PART = CNN_HOPPER_CHUNKS2 * GRAD_CHUNK,
        GRAD = kind::parts * GRAD_PART,
        POOLED_CHUNK = CNN_TILE_PIXELS * CNN_PART, // here an odd number of 32: four chunks of two pixels
        POOLED_PART = CNN_HOPPER_CHUNKS1 * POOLED_CHUNK,
        POOLED = kind::parts * POOLED_PART,
        CODES = cnn_backward_tiles<Arithmetic>::CODES,
        STEM = cnn_backward_tiles<Arithmetic>::STEM,
        WEIGHT_CHUNK = CNN_HOPPER_ROWS * CNN_PART,
        WEIGHT_PART = 3 * CNN_HOPPER_CHUNKS2 * WEIGHT_CHUNK,
        EXCHANGE = 2 * 3 * 32 * 8 * sizeof(float), // both ways between four warps, 8 sums of each lane

        GRAD_AT = 0,
        POOLED_AT = GRAD_AT + kind::grads * GRAD,
        STEM_AT = POOLED_AT + 2 * POOLED,
        WEIGHT_AT = STEM_AT + kind::grads * STEM,
        EXCHANGE_AT = WEIGHT_AT + kind::parts * WEIGHT_PART,
        COEFFICIENTS_AT = EXCHANGE_AT + EXCHANGE,
        BARRIERS_AT = COEFFICIENTS_AT + 3 * CNN_CHANNELS2 * sizeof(float),
        SCRATCH_AT = BARRIERS_AT + 4 * sizeof(uint64_t),
        BYTES = SCRATCH_AT + 32 * sizeof(float),
        THREADS = 3 * HOPPER_WARPGROUP,
        REGISTERS = 65536 / THREADS / 8 * 8, // a thread's, before the roles exchange some
    };
    static_assert(BYTES <= 227 * 1024, "more than a block can have");
    static_assert(POOLED_AT % 16 == 0 && STEM_AT % 16 == 0 && WEIGHT_AT % 16 == 0 && EXCHANGE_AT % 16 == 0, "aligned");
};

// --- powers of two ---------------------------------------------------------------------------------------------------

// The largest number of a warp's.
CNN_DEVICE float cnn_hopper_warp_most(float value)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

// Of pooled1, relu of gamma * normalised + beta: of `count` values none is further than sqrt(count) standard deviations
// from their mean.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE float cnn_hopper_pooled_scale(const Arguments &arguments, int lane)
{
    if (!cnn_hopper_kind<Arithmetic>::scaled)
        return 1.0f;
    const float furthest = sqrtf((float)arguments.n * CNN_PIXELS);
    return cnn_half_scale(cnn_hopper_warp_most(fabsf(arguments.operands.parameters.gamma1[lane]) * furthest +
                                               fabsf(arguments.operands.parameters.beta1[lane])));
}

// Of conv2's output gradient, gamma inverse_std (dz - mean(dz) - u mean(dz u)): mean(dz u) is at most the largest dz,
// and u, the normalised value, at most as far from 0 as above. Twice that leaves room for rounding.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE float cnn_hopper_grad_scale(const Arguments &arguments, int lane)
{
    if (!cnn_hopper_kind<Arithmetic>::scaled)
        return 1.0f;
    const float most = __uint_as_float(arguments.workspace.counters[CNN_MOST_GRAD]);
    const float furthest = sqrtf((float)arguments.n * CNN_PIXELS1);
    float slope = 0.0f;
#pragma unroll
    for (int channel = lane; channel < CNN_CHANNELS2; channel += 32)
        slope = fmaxf(slope, fabsf(arguments.operands.parameters.gamma2[channel] *
                                   arguments.workspace.statistics2->inverse_std[channel]));
    return cnn_half_scale(2.0f * most * (2.0f + furthest) * cnn_hopper_warp_most(slope));
}

// --- conv2's output gradient -----------------------------------------------------------------------------------------

// Four numbers as elements, and what that leaves of them.
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

// What turns a channel of conv2's output into its gradient: scale * dz + shift + slope * output. First halves of the
// stage threads' eight channels, then second halves, so that neighbours read neighbouring words.
CNN_DEVICE int cnn_hopper_coefficient_at(int channel)
{
    return cnn_coefficient_at<__half>(channel);
}
template <typename Arguments>
CNN_DEVICE void cnn_hopper_coefficients(const Arguments &arguments, float *coefficients, int channel, float grad_scale)
{
    const float inverse_count = 1.0f / ((float)arguments.n * CNN_PIXELS1);
    const float mean = arguments.workspace.statistics2->mean[channel];
    const float inverse_std = arguments.workspace.statistics2->inverse_std[channel];
    const float mean_grad = arguments.workspace.sums2[channel] * inverse_count;
    const float mean_product = arguments.workspace.sums2[CNN_CHANNELS2 + channel] * inverse_count;
    const float scale = arguments.operands.parameters.gamma2[channel] * inverse_std * grad_scale;
    float *mine = coefficients + cnn_hopper_coefficient_at(channel);
    mine[0] = scale;
    mine[CNN_CHANNELS2] = scale * (mean * inverse_std * mean_product - mean_grad);
    mine[2 * CNN_CHANNELS2] = -scale * inverse_std * mean_product;
}

// Eight neighbouring channels, as they lie in memory.
template <typename Value> CNN_DEVICE void cnn_hopper_load(uint32_t to[2 * sizeof(Value)], const Value *from)
{
    enum { WORDS = 2 * sizeof(Value), PIECE = WORDS < 4 ? WORDS : 4 };
#pragma unroll
    for (int i = 0; i < WORDS; i += PIECE)
        cnn_copy_words<PIECE>(to + i, (const uint32_t *)from + i);
}

template <typename Operand, typename Convolution>
CNN_DEVICE void cnn_hopper_load_window(const cnn_workspace<Operand, Convolution> &workspace, int image, int thread,
                                       int row, int column, cnn_stage_window<Operand, Convolution> *window)
{
    const int channel = thread % CNN_STAGE_GROUP * CNN_HOPPER_CHUNK;
    const size_t at = (size_t)image * CNN_FEATURES + (row * CNN_SIDE2 + column) * CNN_CHANNELS2 + channel;
    const Convolution *output = workspace.convolution2 + (size_t)image * CNN_PIXELS1 * CNN_CHANNELS2 +
                                cnn_window_pixel(row, column, 0, CNN_SIDE1) * CNN_CHANNELS2 + channel;
    cnn_hopper_load(window->grad, workspace.grad_pooled2 + at);
    cnn_hopper_load(window->winners, workspace.code2 + at);
#pragma unroll
    for (int place = 0; place < 4; place++)
        cnn_hopper_load(window->output[place], output + cnn_window_pixel(0, 0, place, CNN_SIDE1) * CNN_CHANNELS2);
}

// What a stage thread makes of a window: [part][place], a chunk each.
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

// The window left over: two channels of one pixel for each thread.
template <typename Operand, typename Convolution>
CNN_DEVICE void cnn_hopper_rest_gradient(const cnn_stage_rest<Operand, Convolution> *rest, const float *coefficients,
                                         int thread, float value[2])
{
    const uint32_t place = thread / (CNN_CHANNELS2 / 2);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float *mine = coefficients + cnn_hopper_coefficient_at(thread % (CNN_CHANNELS2 / 2) * 2 + i);
        const float dz = cnn_float(((const Operand *)rest->grad)[i]);
        value[i] =
            fmaf(mine[2 * CNN_CHANNELS2], cnn_float(((const Convolution *)rest->output)[i]), mine[CNN_CHANNELS2]);
        if ((rest->winners >> 8 * i & 0xff) == place)
            value[i] = fmaf(mine[0], dz, value[i]);
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

// Eight channels of a pixel, scaled, in parts.
template <typename Arithmetic> CNN_DEVICE void cnn_hopper_pooled_store(char *to, float value[8], float scale)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
#pragma unroll
    for (int i = 0; i < 8; i++)
        value[i] *= scale;
#pragma unroll
    for (int part = 0; part < tiles::kind::parts; part++) {
        __align__(16) uint32_t packed[4];
#pragma unroll
        for (int i = 0; i < 2; i++)
            cnn_hopper_pack<typename tiles::kind::element>(packed + 2 * i, value + 4 * i,
                                                           part + 1 < tiles::kind::parts);
        cnn_copy_words<4>(to + part * tiles::POOLED_PART, packed);
    }
}

// A few rows of pooled1 at a time; a thread keeps its column, so that its addresses rise evenly.
template <typename Arithmetic, int Threads, typename Workspace>
CNN_DEVICE void cnn_hopper_pooled(const Workspace &workspace, char *pooled, int image, int thread, float scale)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    typedef typename tiles::kind::element element;
    // Rows at a time. Of a row's 64 threads 56 have a chunk. Where floats are loaded, so many ahead.
    enum { ROW_CHUNKS = CNN_SIDE1 * CNN_HOPPER_CHUNKS1, ROW_THREADS = 64, ROWS = Threads / ROW_THREADS, AHEAD = 4 };
    const int row = thread / ROW_THREADS, column = thread % ROW_THREADS;
    if (column >= ROW_CHUNKS)
        return;
    const typename Arithmetic::operand *from = workspace.pooled1 + (size_t)image * CNN_PIXELS1 * CNN_CHANNELS1 +
                                               (row * ROW_CHUNKS + column) * CNN_HOPPER_CHUNK;
    char *to = pooled + column % CNN_HOPPER_CHUNKS1 * tiles::POOLED_CHUNK +
               ((row + 1) * CNN_TILE_SIDE + 1 + column / CNN_HOPPER_CHUNKS1) * CNN_PART;
    if constexpr (sizeof(typename Arithmetic::operand) == 2) {
#pragma unroll
        for (int y = 0; y < CNN_SIDE1; y += ROWS)
            if (y + row < CNN_SIDE1)
                cp_async_16(to + y * CNN_TILE_SIDE * CNN_PART, from + y * ROW_CHUNKS * CNN_HOPPER_CHUNK);
    } else {
#pragma unroll
        for (int first = 0; first < CNN_SIDE1; first += ROWS * AHEAD) {
            float value[AHEAD][8];
#pragma unroll
            for (int i = 0; i < 2 * AHEAD; i++)
                if (first + i / 2 * ROWS + row < CNN_SIDE1)
                    cnn_load4(value[i / 2] + i % 2 * 4,
                              from + (first + i / 2 * ROWS) * ROW_CHUNKS * CNN_HOPPER_CHUNK + i % 2 * 4);
#pragma unroll
            for (int i = 0; i < AHEAD; i++)
                if (first + i * ROWS + row < CNN_SIDE1)
                    cnn_hopper_pooled_store<Arithmetic>(to + (first + i * ROWS) * CNN_TILE_SIDE * CNN_PART, value[i],
                                                        scale);
        }
    }
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

// --- the role --------------------------------------------------------------------------------------------------------

// What one image goes into.
struct cnn_hopper_places {
    char *grad, *pooled, *stem;
    uint64_t *empty; // NULL: nothing was there before
    int parity;
};

// Where there are two tiles for the gradient: all that it is made of is on its way before the wait for the tile.
template <typename Arithmetic, typename Operand, typename Convolution>
CNN_DEVICE void cnn_hopper_stream(const cnn_workspace<Operand, Convolution> &workspace, const float *coefficients,
                                  float pooled_scale, int image, int thread, const cnn_hopper_places &to)
{
    cnn_stage_rest<Operand, Convolution> rest;
    cnn_stage_window<Operand, Convolution> window[CNN_STAGE_WINDOWS];
#pragma unroll
    for (int step = 0; step < CNN_STAGE_WINDOWS; step++)
        cnn_hopper_load_window(workspace, image, thread, cnn_stage_row(thread, step), cnn_stage_column(thread, step),
                               &window[step]);
    cnn_stage_load_rest(workspace, image, thread, &rest);
    if (to.empty)
        mbarrier_wait(to.empty, to.parity);
    cnn_hopper_codes<CNN_STAGE_THREADS>(workspace, to.stem, image, thread);
    cnn_hopper_pooled<Arithmetic, CNN_STAGE_THREADS>(workspace, to.pooled, image, thread, pooled_scale);
#pragma unroll
    for (int step = 0; step < CNN_STAGE_WINDOWS; step++) {
        cnn_hopper_values<Arithmetic> values;
        cnn_hopper_gradient<Arithmetic>(&window[step], coefficients, thread, &values);
        cnn_hopper_store<Arithmetic>(to.grad, &values, thread, cnn_stage_row(thread, step),
                                     cnn_stage_column(thread, step));
    }
    float left_over[2];
    cnn_hopper_rest_gradient(&rest, coefficients, thread, left_over);
    cnn_hopper_store_rest<Arithmetic>(to.grad, left_over, thread);
}

// Where there is one: all but the last window, which would not fit into the registers, is computed before the others
// are asked to be done with the last image's.
template <typename Arithmetic, typename Operand, typename Convolution>
CNN_DEVICE void cnn_hopper_held(const cnn_workspace<Operand, Convolution> &workspace, const float *coefficients,
                                float pooled_scale, int image, int thread, const cnn_hopper_places &to)
{
    enum { HELD = CNN_STAGE_WINDOWS - 1 };
    cnn_hopper_values<Arithmetic> values[HELD], last;
    cnn_stage_window<Operand, Convolution> window;
    cnn_stage_rest<Operand, Convolution> rest;
    float left_over[2];
    cnn_hopper_pooled<Arithmetic, CNN_STAGE_THREADS>(workspace, to.pooled, image, thread, pooled_scale);
    cnn_stage_load_rest(workspace, image, thread, &rest);
#pragma unroll
    for (int step = 0; step < HELD; step++) {
        cnn_hopper_load_window(workspace, image, thread, cnn_stage_row(thread, step), cnn_stage_column(thread, step),
                               &window);
        cnn_hopper_gradient<Arithmetic>(&window, coefficients, thread, &values[step]);
    }
    cnn_hopper_rest_gradient(&rest, coefficients, thread, left_over);
    if (to.empty)
        mbarrier_wait(to.empty, to.parity);
    cnn_hopper_load_window(workspace, image, thread, cnn_stage_row(thread, HELD), cnn_stage_column(thread, HELD),
                           &window);
    cnn_hopper_codes<CNN_STAGE_THREADS>(workspace, to.stem, image, thread);
#pragma unroll
    for (int step = 0; step < HELD; step++)
        cnn_hopper_store<Arithmetic>(to.grad, &values[step], thread, cnn_stage_row(thread, step),
                                     cnn_stage_column(thread, step));
    cnn_hopper_store_rest<Arithmetic>(to.grad, left_over, thread);
    cnn_hopper_gradient<Arithmetic>(&window, coefficients, thread, &last);
    cnn_hopper_store<Arithmetic>(to.grad, &last, thread, cnn_stage_row(thread, HELD), cnn_stage_column(thread, HELD));
}

// Zeros around the images, in all tiles, and in all planes of pixels.
template <typename Arithmetic> CNN_DEVICE void cnn_hopper_clear(char *shared)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    enum {
        BORDER = CNN_TILE_PIXELS - CNN_PIXELS1, // pixels
        SIDES = 2 * CNN_SIDE1,                  // of them left and right of a row
        GRAD_CHUNKS = tiles::kind::grads * tiles::kind::parts * CNN_HOPPER_CHUNKS2,
        POOLED_CHUNKS = 2 * tiles::kind::parts * CNN_HOPPER_CHUNKS1,
        STEM_PARTS = tiles::kind::grads * tiles::STEM / CNN_PART,
    };
    const uint4 zeros = make_uint4(0, 0, 0, 0);
    for (int i = threadIdx.x; i < (GRAD_CHUNKS + POOLED_CHUNKS) * BORDER; i += tiles::THREADS) {
        const int chunk = i / BORDER, which = i % BORDER;
        const int side = which / 2 * CNN_TILE_SIDE + which % 2 * (CNN_TILE_SIDE - 1);
        if (chunk < GRAD_CHUNKS) { // beside the rows, then below
            const int pixel = which < SIDES ? side : CNN_SIDE1 * CNN_TILE_SIDE + which - SIDES;
            *(uint4 *)(shared + tiles::GRAD_AT + chunk * tiles::GRAD_CHUNK + pixel * CNN_PART) = zeros;
        } else { // beside the rows, above, below
            const int beyond = which - SIDES, rows = CNN_SIDE1 * CNN_TILE_SIDE;
            const int pixel = which < SIDES ? side + CNN_TILE_SIDE : beyond < CNN_TILE_SIDE ? beyond : rows + beyond;
            *(uint4 *)(shared + tiles::POOLED_AT + (chunk - GRAD_CHUNKS) * tiles::POOLED_CHUNK + pixel * CNN_PART) =
                zeros;
        }
    }
    for (int i = threadIdx.x; i < STEM_PARTS; i += tiles::THREADS)
        ((uint4 *)(shared + tiles::STEM_AT))[i] = zeros;
}

// The block's first image is staged by all its threads: none has anything else to do yet. `word`: the image's pixels
// as cnn_stage_load_pixels gives them to the first CNN_PIXELS / 4 threads.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hopper_first_image(const Arguments &arguments, char *shared, const uint32_t word[CNN_STAGE_WORDS])
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    enum { ITEMS = CNN_PIXELS2 * CNN_STAGE_GROUP, TURNS = (ITEMS + tiles::THREADS - 1) / tiles::THREADS };
    const auto &workspace = arguments.workspace;
    const int image = blockIdx.x, thread = threadIdx.x, lane = thread % 32;
    float *coefficients = (float *)(shared + tiles::COEFFICIENTS_AT);
    char *grad = shared + tiles::GRAD_AT, *stem = shared + tiles::STEM_AT;
    cnn_stage_window<typename Arithmetic::operand, typename Arithmetic::convolution> window[TURNS];
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
        const int which = (turn * tiles::THREADS + thread) / CNN_STAGE_GROUP;
        if (which < CNN_PIXELS2)
            cnn_hopper_load_window(workspace, image, thread, which / CNN_SIDE2, which % CNN_SIDE2, &window[turn]);
    }
    cnn_hopper_codes<tiles::THREADS>(workspace, stem, image, thread);
    const float grad_scale = cnn_hopper_grad_scale<Arithmetic>(arguments, lane);
    if (thread < CNN_CHANNELS2)
        cnn_hopper_coefficients(arguments, coefficients, thread, grad_scale);
    cnn_hopper_pooled<Arithmetic, tiles::THREADS>(workspace, shared + tiles::POOLED_AT, image, thread,
                                                  cnn_hopper_pooled_scale<Arithmetic>(arguments, lane));
    if (thread < CNN_STAGE_THREADS)
        cnn_stage_store_pixels<Arithmetic>(stem + tiles::CODES, word, thread);
    __syncthreads();
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
        const int which = (turn * tiles::THREADS + thread) / CNN_STAGE_GROUP;
        if (which < CNN_PIXELS2) {
            cnn_hopper_values<Arithmetic> values;
            cnn_hopper_gradient<Arithmetic>(&window[turn], coefficients, thread, &values);
            cnn_hopper_store<Arithmetic>(grad, &values, thread, which / CNN_SIDE2, which % CNN_SIDE2);
        }
    }
    cp_async_wait_all();
    tma_fence_written();
}

// Image i of the block goes into tile i % grads of the gradient, and of codes and pixels, and into tile i % 2 of
// pooled1. The others arrive at `empty` when they have done with it, these at `full`.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hopper_stage_role(const Arguments &arguments, char *shared, uint64_t *full, uint64_t *empty,
                                      int count, const int own_thread)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    enum { GRADS = tiles::kind::grads };
    const float *coefficients = (const float *)(shared + tiles::COEFFICIENTS_AT);
    const int32_t *order = arguments.operands.order + *arguments.operands.cursor;
    int source = count > 1 ? order[blockIdx.x + gridDim.x] : 0; // of the image; the next one's is asked for early
    const float pooled_scale = cnn_hopper_pooled_scale<Arithmetic>(arguments, own_thread % 32);
    mbarrier_arrive(full); // the first is there
    for (int i = 1; i < count; i++) {
        const int image = blockIdx.x + i * gridDim.x, tile = i % GRADS, use = i / GRADS;
        // The compiler must not know that this is the same for every image: see backward_stage.h.
        const int thread = __shfl_sync(0xffffffffu, own_thread, own_thread % 32);
        cnn_hopper_places to;
        to.grad = shared + tiles::GRAD_AT + tile * tiles::GRAD;
        to.stem = shared + tiles::STEM_AT + tile * tiles::STEM;
        to.pooled = shared + tiles::POOLED_AT + i % 2 * tiles::POOLED;
        to.empty = use > 0 ? empty + tile : NULL;
        to.parity = (use - 1) & 1;
        uint32_t word[CNN_STAGE_WORDS];
        cnn_stage_load_pixels(arguments.operands.images + (size_t)source * CNN_PIXELS, word, thread);
        if (i + 1 < count)
            source = order[image + gridDim.x];
        if constexpr (GRADS == 2)
            cnn_hopper_stream<Arithmetic>(arguments.workspace, coefficients, pooled_scale, image, thread, to);
        else
            cnn_hopper_held<Arithmetic>(arguments.workspace, coefficients, pooled_scale, image, thread, to);
        cnn_stage_store_pixels<Arithmetic>(to.stem + tiles::CODES, word, thread);
        cp_async_wait_all();
        tma_fence_written();
        mbarrier_arrive(full + tile);
    }
}

#endif

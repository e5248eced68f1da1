// What a block of backward_wgmma.h does before its warps take their roles: load the weight, the borders of the tiles
// and the first image. All but the last part is done while the previous kernel still runs: of the first image, only the
// incoming gradient is missing then.
#pragma once

#include "ops/cnn_step/backward_wgmma_stage.h"
#include "ops/cnn_step/backward_wgmma_tiles.h"
#include "ops/cnn_step/sums2.h"

// --- the data gradient's weight --------------------------------------------------------------------------------------

// Where 4 or 8 outputs of an input channel and tap lie: [column of taps][chunk of outputs][row of taps, input].
template <typename Arithmetic> CNN_DEVICE int cnn_hopper_weight_at(int input, int tap, int output)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    return (tap % 3 * CNN_HOPPER_CHUNKS2 + output / CNN_HOPPER_CHUNK) * tiles::WEIGHT_CHUNK +
           (tap / 3 * CNN_CHANNELS1 + cnn_weight_row(input)) * CNN_PART +
           output % CNN_HOPPER_CHUNK * (int)sizeof(typename tiles::kind::element);
}

// Where a piece of the weight goes: `at` is its first element in conv2_backward.
template <typename Arithmetic> CNN_DEVICE int cnn_hopper_weight_to(int at)
{
    return cnn_hopper_tiles<Arithmetic>::WEIGHT_AT + cnn_hopper_weight_at<Arithmetic>(at / (CNN_TAPS * CNN_CHANNELS2),
                                                                                      at / CNN_CHANNELS2 % CNN_TAPS,
                                                                                      at % CNN_CHANNELS2);
}

// The weight in transit: 16-bit elements are copied, floats go through registers.
template <typename Arithmetic> struct cnn_hopper_weight {
    enum { SCALED = cnn_hopper_kind<Arithmetic>::scaled, IN_PIECE = 4 };
    enum { PIECES = CNN_CHANNELS2 * CNN_PATCH / IN_PIECE, THREADS = cnn_hopper_tiles<Arithmetic>::THREADS };
    enum { OWN = (PIECES + THREADS - 1) / THREADS };
    static_assert(!SCALED || PIECES % THREADS == 0, "pieces of the weight");
    float four[SCALED ? (int)OWN : 1][4];
};
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hopper_weight_begin(const Arguments &arguments, char *shared, cnn_hopper_weight<Arithmetic> *weight)
{
    if constexpr (cnn_hopper_weight<Arithmetic>::SCALED) {
#pragma unroll
        for (int i = 0; i < weight->OWN; i++)
            cnn_load4(weight->four[i],
                      arguments.workspace.conv2_backward + (i * weight->THREADS + (int)threadIdx.x) * weight->IN_PIECE);
    } else {
        // Eight outputs of an input channel, a tap at a time: a warp's taps are the same.
        enum { OF_TAP = CNN_CHANNELS1 * CNN_HOPPER_CHUNKS2, TAPS = cnn_hopper_tiles<Arithmetic>::THREADS / OF_TAP };
        const int input = threadIdx.x % OF_TAP / CNN_HOPPER_CHUNKS2, output = threadIdx.x % CNN_HOPPER_CHUNKS2 * 8;
#pragma unroll 1
        for (int tap = threadIdx.x / OF_TAP; tap < CNN_TAPS; tap += TAPS)
            cp_async_16(shared + cnn_hopper_tiles<Arithmetic>::WEIGHT_AT +
                            cnn_hopper_weight_at<Arithmetic>(input, tap, output),
                        arguments.workspace.conv2_backward + (input * CNN_TAPS + tap) * CNN_CHANNELS2 + output);
    }
}

// Returns the factor it was multiplied by.
template <typename Arithmetic>
CNN_DEVICE float cnn_hopper_weight_end(char *shared, cnn_hopper_weight<Arithmetic> *weight)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    if constexpr (!cnn_hopper_weight<Arithmetic>::SCALED) {
        return 1.0f;
    } else {
        float *scratch = (float *)(shared + tiles::SCRATCH_AT), most = 0.0f;
#pragma unroll
        for (int i = 0; i < 4 * weight->OWN; i++)
            most = fmaxf(most, fabsf(weight->four[i / 4][i % 4]));
        most = cnn_hopper_warp_most(most);
        if (threadIdx.x % 32 == 0)
            scratch[threadIdx.x / 32] = most;
        __syncthreads();
        const float scale = cnn_half_scale(cnn_hopper_warp_most(scratch[threadIdx.x % (tiles::THREADS / 32)]));
#pragma unroll
        for (int i = 0; i < weight->OWN; i++) {
            char *to = shared + cnn_hopper_weight_to<Arithmetic>((i * tiles::THREADS + (int)threadIdx.x) * 4);
#pragma unroll
            for (int j = 0; j < 4; j++)
                weight->four[i][j] *= scale;
#pragma unroll
            for (int part = 0; part < tiles::kind::parts; part++) {
                __align__(8) uint32_t packed[2];
                cnn_hopper_pack<typename tiles::kind::element>(packed, weight->four[i], part + 1 < tiles::kind::parts);
                cnn_copy_words<2>(to + part * tiles::WEIGHT_PART, packed);
            }
        }
        return scale;
    }
}

// --- borders and the first image -----------------------------------------------------------------------------------

// Zeros around the images, in all tiles: pixel number `which` of those of the gradient that are never overwritten.
enum { CNN_HOPPER_GRAD_BORDER = CNN_TILE_PIXELS - CNN_PIXELS1 };
CNN_DEVICE int cnn_hopper_grad_border(int which)
{
    enum { SIDES = 2 * CNN_SIDE1 }; // those beside the rows; then come those below
    return which < SIDES ? which / 2 * CNN_TILE_SIDE + which % 2 * (CNN_TILE_SIDE - 1)
                         : CNN_SIDE1 * CNN_TILE_SIDE + which - SIDES;
}
template <typename Arithmetic> struct cnn_hopper_pooled_borders { // pixels of a part's strips
    enum { BESIDE = cnn_hopper_tiles<Arithmetic>::POOLED_STRIP_PIXELS - CNN_SIDE1 };
    enum { SIDES = CNN_SIDE1 * CNN_HOPPER_CHUNKS1 * BESIDE };
    enum { ROW = CNN_HOPPER_CHUNKS1 * cnn_hopper_tiles<Arithmetic>::POOLED_STRIP_PIXELS, COUNT = SIDES + 2 * ROW + 1 };
};
template <typename Arithmetic> CNN_DEVICE int cnn_hopper_pooled_border(int which)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    typedef cnn_hopper_pooled_borders<Arithmetic> borders;
    const int part = which / borders::COUNT, i = which % borders::COUNT, beyond = i - borders::SIDES;
    const int strip = CNN_HOPPER_CHUNKS1 + i / borders::BESIDE, beside = i % borders::BESIDE;
    const int side = strip * tiles::POOLED_STRIP_PIXELS + (beside == 0 ? 0 : CNN_SIDE1 + beside);
    const int pixel = i < borders::SIDES      ? side
                      : beyond < borders::ROW ? beyond
                                              : CNN_SIDE1 * borders::ROW + beyond; // beside the rows, above, below
    return tiles::POOLED_AT + part * tiles::POOLED_PART + pixel * CNN_PART;
}

template <typename Arithmetic> CNN_DEVICE void cnn_hopper_clear(char *shared)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    enum {
        POOLEDS = 2 * tiles::kind::parts * cnn_hopper_pooled_borders<Arithmetic>::COUNT,
        PLANES_AT = CNN_PIXELS1 * CNN_CHANNELS1, // in a tile of code1 and planes of pixels: what follows the codes
        PLANES = (tiles::STEM - PLANES_AT) / CNN_PART,
    };
    const uint4 zeros = make_uint4(0, 0, 0, 0);
    char *grad = shared + tiles::GRAD_AT + threadIdx.x % CNN_HOPPER_CHUNKS2 * tiles::GRAD_CHUNK;
#pragma unroll 1
    for (int i = threadIdx.x / CNN_HOPPER_CHUNKS2; i < CNN_HOPPER_GRAD_BORDER; i += tiles::THREADS / CNN_HOPPER_CHUNKS2)
#pragma unroll
        for (int tile = 0; tile < tiles::kind::grads * tiles::kind::parts; tile++)
            *(uint4 *)(grad + tile * tiles::GRAD_PART + cnn_hopper_grad_border(i) * CNN_PART) = zeros;
    if (!tiles::kind::stem_tiles) {
#pragma unroll 4
        for (int i = threadIdx.x; i < POOLEDS; i += tiles::THREADS)
            *(uint4 *)(shared + cnn_hopper_pooled_border<Arithmetic>(i)) = zeros;
        for (int i = threadIdx.x; i < tiles::STEMS * PLANES; i += tiles::THREADS)
            ((uint4 *)(shared + tiles::STEM_AT + i / PLANES * tiles::STEM + PLANES_AT))[i % PLANES] = zeros;
        return;
    }
    // What the last row's taps to the right read of pooled1. Pixels above and below the image; then ones, followed by
    // zeros.
    enum { HALVES = 2 * CNN_SIDE1, PAD = CNN_HOPPER_OFFSETS - CNN_HOPPER_ONES };
    const uint32_t ones = cnn_stem_ones<typename cnn_hopper_arithmetic<typename tiles::kind::element>::type>();
#pragma unroll 1
    for (int i = threadIdx.x; i < tiles::STEMS * HALVES * PAD; i += tiles::THREADS) {
        char *pixels = shared + tiles::STEM_AT + i / (HALVES * PAD) * tiles::STEM + tiles::CODES;
        const int half = i / PAD % HALVES, which = i % PAD;
        *(uint4 *)(pixels + (half * CNN_HOPPER_OFFSETS + CNN_HOPPER_ONES + which) * CNN_PART) =
            which == 0 ? make_uint4(ones, ones, ones, ones) : zeros;
        if (half < 2 && which < 4) {
            *(uint4 *)(pixels + (half * CNN_HOPPER_OFFSETS + which) * CNN_PART) = zeros;
            *(uint4 *)(pixels + ((HALVES - 2 + half) * CNN_HOPPER_OFFSETS + 12 + which) * CNN_PART) = zeros;
        }
    }
    if (threadIdx.x < 4)
        ((uint4 *)(shared + tiles::POOLED_AT + threadIdx.x / 2 * tiles::POOLED +
                   tiles::POOLED_BYTES))[threadIdx.x % 2] = zeros;
}

// All threads of the block stage its first image: none has anything else to do yet. Its loads in flight, and the
// factors of the operands:
template <typename Arithmetic> struct cnn_hopper_first {
    enum { ITEMS = CNN_PIXELS2 * CNN_STAGE_GROUP, THREADS = cnn_hopper_tiles<Arithmetic>::THREADS };
    enum { TURNS = (ITEMS + THREADS - 1) / THREADS };
    cnn_stage_window<typename Arithmetic::operand, typename Arithmetic::convolution> window[TURNS];
    float grad_scale, pooled_scale, weight_scale;
};
template <typename Arithmetic> CNN_DEVICE int cnn_hopper_first_window(int turn)
{
    return (turn * cnn_hopper_tiles<Arithmetic>::THREADS + (int)threadIdx.x) / CNN_STAGE_GROUP;
}

// Before the wait: the weight, and all of the image that the previous kernel does not write. The stem's warps, if there
// are any, load its pixels, which depend on two other loads: they need them last.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hopper_first_load(const Arguments &arguments, char *shared, cnn_hopper_first<Arithmetic> *first)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    const int image = blockIdx.x, thread = threadIdx.x;
    enum { PIXELS = !tiles::kind::stem_tiles };
    // Nothing waits for a load that could be in flight beside another.
    const int64_t cursor = PIXELS ? *arguments.operands.cursor : 0;
    cnn_hopper_weight<Arithmetic> weight;
    cnn_hopper_weight_begin<Arithmetic>(arguments, shared, &weight);
    if constexpr (!tiles::kind::stem_tiles) {
        cnn_hopper_codes<tiles::THREADS>(arguments.workspace, shared + tiles::STEM_AT, image, thread);
        cnn_hopper_pooled<Arithmetic, tiles::THREADS>(arguments, shared + tiles::POOLED_AT, image, thread);
    }
    const int source = PIXELS ? arguments.operands.order[cursor + image] : 0;
#pragma unroll
    for (int turn = 0; turn < first->TURNS; turn++) {
        const int which = cnn_hopper_first_window<Arithmetic>(turn);
        if (which < CNN_PIXELS2)
            cnn_hopper_load_outputs(arguments.workspace, image, thread, which / CNN_SIDE2, which % CNN_SIDE2,
                                    &first->window[turn]);
    }
    cnn_hopper_clear<Arithmetic>(shared);
    cnn_hopper_pixels<Arithmetic> pixels = {};
    if (PIXELS && thread < CNN_STAGE_THREADS)
        cnn_hopper_take_pixels<Arithmetic>(arguments.operands.images + (size_t)source * CNN_PIXELS, &pixels, thread);
    first->pooled_scale = cnn_hopper_pooled_scale<Arithmetic>(arguments, thread % 32);
    first->weight_scale = cnn_hopper_weight_end<Arithmetic>(shared, &weight);
    if (PIXELS) {
        __syncthreads(); // what cnn_hopper_clear wrote
        if (thread < CNN_STAGE_THREADS)
            cnn_hopper_leave_pixels<Arithmetic>(shared + tiles::STEM_AT + tiles::CODES, pixels, thread);
    }
}

// After it: the gradient.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hopper_first_gradient(const Arguments &arguments, char *shared, cnn_hopper_first<Arithmetic> *first)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    const int image = blockIdx.x, thread = threadIdx.x;
    float *coefficients = (float *)(shared + tiles::COEFFICIENTS_AT);
    cnn_hopper_channel channel = cnn_hopper_load_channel(arguments, thread % CNN_CHANNELS2);
#pragma unroll
    for (int turn = 0; turn < first->TURNS; turn++) {
        const int which = cnn_hopper_first_window<Arithmetic>(turn);
        if (which < CNN_PIXELS2)
            cnn_hopper_load_grad(arguments.workspace, image, thread, which / CNN_SIDE2, which % CNN_SIDE2,
                                 &first->window[turn]);
    }
    first->grad_scale = cnn_hopper_grad_scale<Arithmetic>(arguments, thread % 32);
    float *sums = (float *)(shared + tiles::EXCHANGE_AT); // nothing is exchanged yet
    static_assert(CNN_SUMS2_BYTES <= +tiles::EXCHANGE && CNN_SUMS2_WARPS * 32 <= +tiles::THREADS, "room for the sums");
    cnn_sums2_add(arguments, sums);
    channel.sum = sums[thread % CNN_CHANNELS2], channel.product = sums[CNN_CHANNELS2 + thread % CNN_CHANNELS2];
    if (thread < CNN_CHANNELS2)
        cnn_hopper_coefficients(coefficients, channel, arguments.n, thread, first->grad_scale);
    __syncthreads();
#pragma unroll
    for (int turn = 0; turn < first->TURNS; turn++) {
        const int which = cnn_hopper_first_window<Arithmetic>(turn);
        if (which < CNN_PIXELS2) {
            cnn_hopper_values<Arithmetic> values;
            cnn_hopper_gradient<Arithmetic>(&first->window[turn], coefficients, thread, &values);
            cnn_hopper_store<Arithmetic>(shared + tiles::GRAD_AT, &values, thread, which / CNN_SIDE2,
                                         which % CNN_SIDE2);
        }
    }
    cp_async_wait_all();
    tma_fence_written();
}

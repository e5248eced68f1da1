// What a block of backward_wgmma_few.h does before its first product: the layout of shared memory, and how the weight,
// an image or half of one, and conv2's output gradient get there. All threads load them together; all but the gradient
// is loaded while the previous kernel still runs.
#pragma once

#include "ops/cnn_step/backward_wgmma_products.h"
#include "ops/cnn_step/backward_wgmma_stage.h"
#include "ops/cnn_step/backward_wgmma_tiles.h"
#include "ops/cnn_step/prepare.h"
#include "ops/cnn_step/sums2.h"
#include "ops/cuda/hopper.h"

// Where everything lies in shared memory, in bytes.
template <typename Arithmetic, int Halves> struct cnn_few_tiles {
    typedef cnn_hopper_kind<Arithmetic> kind;
    enum : int {
        // Column x of the image is column x - 8 half + LEFT of a row of the gradient: a row has the columns that the
        // products read, and whole windows. Rows 14 and 15 are zeros. An odd number of 16 bytes from one chunk to the
        // next keeps the chunks of a pixel in different banks.
        PIXELS = Halves * CNN_HOPPER_HALF, // of a row that products take
        LEFT = Halves == 1 ? 2 : 1,        // columns before the half's first
        PITCH = Halves == 1 ? 12 : 18,
        COLUMNS = Halves == 1 ? 5 : 7, // of windows
        GRAD_CHUNK = (CNN_TILE_SIDE * PITCH + 1) * CNN_PART,
        GRAD_PART = CNN_HOPPER_CHUNKS2 * GRAD_CHUNK,
        // pooled1, with a border above and below: [row][chunk][column x - 8 half + 1].
        STRIP_PIXELS = PIXELS + 2,
        STRIP = STRIP_PIXELS * CNN_PART,
        POOLED_ROW = CNN_HOPPER_CHUNKS1 * STRIP,
        POOLED_PART = CNN_TILE_SIDE * POOLED_ROW,
        // The weight as in conv2_parts, but with its taps in the order of the products: [column of taps][row of
        // taps][chunk of inputs][output], rotated by 180 degrees.
        WEIGHT_CHUNK = CNN_CHANNELS2 * CNN_PART,
        WEIGHT_TAP = CNN_HOPPER_CHUNKS1 * WEIGHT_CHUNK,
        WEIGHT_PART = CNN_TAPS * WEIGHT_TAP,
        PLANES = CNN_PLANES * CNN_PLANE,
        CODES = CNN_SIDE1 * PIXELS * CNN_CHANNELS1,
        DATA_WARPS = CNN_SIDE1 / 2,                                     // of eight: the last would have rows 14 and 15
        EXCHANGE = 2 * (DATA_WARPS - 1) * 2 * 32 * (int)sizeof(float4), // [down, up][boundary][four of eight][lane]
        RECEIVED = Halves == 1 ? CNN_TAPS * 2 * HOPPER_WARPGROUP * (int)sizeof(float4) : 0,
        STEM_SUMS = CNN_CHANNELS1 * CNN_STEM_SUMS, // conv1's, of a warp

        GRAD_AT = 0,
        PLANES_AT = GRAD_AT + kind::parts * GRAD_PART, // all before its end begins as zeros
        POOLED_AT = PLANES_AT + PLANES,
        CODES_AT = POOLED_AT + kind::parts * POOLED_PART,
        WEIGHT_AT = CODES_AT + CODES,
        EXCHANGE_AT = WEIGHT_AT + kind::parts * WEIGHT_PART,
        RECEIVED_AT = EXCHANGE_AT + EXCHANGE,
        STEM_AT = RECEIVED_AT + RECEIVED, // [data warp, then the other block's sums][STEM_SUMS]
        COEFFICIENTS_AT = STEM_AT + (DATA_WARPS + 1) * STEM_SUMS * (int)sizeof(float),
        BARRIERS_AT = COEFFICIENTS_AT + 3 * CNN_CHANNELS2 * (int)sizeof(float),
        BYTES = BARRIERS_AT + (2 + CNN_HOPPER_TAPS) * (int)sizeof(uint64_t),
        GROUPS = Halves == 1 ? 3 : 4, // the last of four only helps to load the image
        THREADS = GROUPS * HOPPER_WARPGROUP,
        REGISTERS = 65536 / THREADS / 8 * 8,
        WEIGHT_REGISTERS = Halves == 1        ? 232
                           : kind::parts == 1 ? 184
                                              : 208,
        DATA_REGISTERS = Halves == 2 && kind::parts == 1 ? 152 : 136,
        REST_REGISTERS = 24,
    };
    static_assert(BYTES <= 227 * 1024, "more than a block can have");
    static_assert(POOLED_AT % 16 == 0 && WEIGHT_AT % 16 == 0 && EXCHANGE_AT % 16 == 0 && STEM_AT % 16 == 0 &&
                      COEFFICIENTS_AT % 16 == 0,
                  "aligned");
};

// --- before the first product ----------------------------------------------------------------------------------------

// The barriers of a block: they count the bytes of the weight, and of what the other block of its cluster sends.
struct cnn_few_barriers {
    uint64_t loaded, weight[CNN_HOPPER_TAPS], stem;
};

// The first warp initialises them, and has TMA load the data gradient's weight, one tap at a time.
template <typename Arithmetic, int Halves, typename Arguments>
CNN_DEVICE void cnn_few_weight(const Arguments &arguments, char *shared, cnn_few_barriers *barriers)
{
    typedef cnn_few_tiles<Arithmetic, Halves> tiles;
    const int lane = threadIdx.x, part = lane / CNN_TAPS, column = lane % CNN_TAPS / 3, row = lane % 3;
    if (lane == 0) {
        mbarrier_init(&barriers->loaded, 1);
        for (int i = 0; i < CNN_HOPPER_TAPS; i++)
            mbarrier_init(&barriers->weight[i], 1);
        mbarrier_init(&barriers->stem, 1);
        mbarrier_init_fence();
        mbarrier_arrive_expect(&barriers->loaded, tiles::kind::parts * tiles::WEIGHT_PART);
        if (Halves == 1) {
            for (int i = 0; i < CNN_HOPPER_TAPS; i++)
                mbarrier_arrive_expect(&barriers->weight[i], tiles::RECEIVED / CNN_HOPPER_TAPS);
            mbarrier_arrive_expect(&barriers->stem, tiles::STEM_SUMS * sizeof(float));
        }
    }
    __syncwarp();
    if (part < tiles::kind::parts)
        bulk_load(shared + tiles::WEIGHT_AT + part * tiles::WEIGHT_PART + (column * 3 + row) * tiles::WEIGHT_TAP,
                  (const char *)arguments.workspace.conv2_parts + part * tiles::WEIGHT_PART +
                      (CNN_TAPS - 1 - row * 3 - column) * tiles::WEIGHT_TAP,
                  tiles::WEIGHT_TAP, &barriers->loaded);
}

// pooled1 and its border, and code1, of the half's columns; windows 14 and 15 have no code (cnn_hopper_stem_rows).
template <typename Arithmetic, int Halves, typename Arguments>
CNN_DEVICE void cnn_few_copy(const Arguments &arguments, char *shared, int image, int half, int thread)
{
    typedef cnn_few_tiles<Arithmetic, Halves> tiles;
    typedef typename tiles::kind::element element;
    enum { ROW = CNN_HOPPER_CHUNKS1 * tiles::STRIP_PIXELS, ROWS = Halves == 1 ? 8 : 4, CODE_ROW = tiles::PIXELS * 2 };
    static_assert(ROW * ROWS <= +tiles::THREADS, "rows at a time");
    const int row = thread / ROW, column = thread % ROW / CNN_HOPPER_CHUNKS1, chunk = thread % CNN_HOPPER_CHUNKS1;
    const int at = column - 1 + half * CNN_HOPPER_HALF;
    const bool inside = at >= 0 && at < CNN_SIDE1;
    char *to = shared + tiles::POOLED_AT + row * tiles::POOLED_ROW + chunk * tiles::STRIP + column * CNN_PART;
    const element *from = (const element *)arguments.workspace.pooled1 +
                          ((size_t)image * CNN_PIXELS1 + (row - 1) * CNN_SIDE1 + at) * CNN_CHANNELS1 +
                          chunk * CNN_HOPPER_CHUNK;
    if (row < ROWS)
#pragma unroll
        for (int part = 0; part < tiles::kind::parts; part++, from += (size_t)arguments.n * CNN_PIXELS1 * CNN_CHANNELS1)
#pragma unroll
            for (int y = 0; y < CNN_TILE_SIDE; y += ROWS) {
                char *there = to + part * tiles::POOLED_PART + y * tiles::POOLED_ROW;
                if (inside && y + row > 0 && y + row <= CNN_SIDE1)
                    cp_async_16(there, from + y * CNN_SIDE1 * CNN_CHANNELS1);
                else
                    *(uint4 *)there = make_uint4(0, 0, 0, 0);
            }
    const int x = half * CNN_HOPPER_HALF + thread % CODE_ROW / 2;
    if (thread < CNN_SIDE1 * CODE_ROW && x < CNN_SIDE1)
        cp_async_16(shared + tiles::CODES_AT + thread * CNN_PART,
                    arguments.workspace.code1 +
                        ((size_t)image * CNN_PIXELS1 + thread / CODE_ROW * CNN_SIDE1 + x) * CNN_CHANNELS1 +
                        thread % 2 * CNN_PART);
}

// The window of which a thread has eight channels: the half's columns and the one beside them that its products reach.
struct cnn_few_window {
    int row, column;
    bool there;
};
template <int Columns> CNN_DEVICE cnn_few_window cnn_few_window_of(int half, int thread) // 0 to 4, 3 to 6; or all
{
    const int which = thread / CNN_STAGE_GROUP;
    cnn_few_window window;
    window.there = which < Columns * CNN_SIDE2 && which % Columns < Columns - half;
    window.row = min(which / Columns, CNN_SIDE2 - 1);
    window.column = min(half * 3 + which % Columns, CNN_SIDE2 - 1);
    return window;
}

// Loads in flight, and the factors of the operands.
template <typename Arithmetic> struct cnn_few_first {
    cnn_few_window at;
    cnn_stage_window<typename Arithmetic::operand, typename Arithmetic::convolution> window;
    float grad_scale, pooled_scale;
};

// Before the wait: all of the image that the previous kernel does not write. Loads that others depend on come first.
template <typename Arithmetic, int Halves, typename Arguments>
CNN_DEVICE void cnn_few_load(const Arguments &arguments, char *shared, int half, cnn_few_first<Arithmetic> *first)
{
    typedef cnn_few_tiles<Arithmetic, Halves> tiles;
    const int image = blockIdx.x, thread = threadIdx.x, stage = thread - HOPPER_WARPGROUP;
    const int64_t cursor = *arguments.operands.cursor;
    first->at = cnn_few_window_of<tiles::COLUMNS>(half, thread);
    cnn_hopper_load_outputs(arguments.workspace, image, thread, first->at.row, first->at.column, &first->window);
    const int source = arguments.operands.order[cursor + image];
    cnn_few_copy<Arithmetic, Halves>(arguments, shared, image, half, thread);
    uint32_t word[CNN_STAGE_WORDS] = {};
    const bool stages = stage >= 0 && stage < CNN_STAGE_THREADS;
    if (stages)
        cnn_stage_load_pixels(arguments.operands.images + (size_t)source * CNN_PIXELS, word, stage);
#pragma unroll 1
    for (int i = thread * CNN_PART; i < tiles::POOLED_AT; i += tiles::THREADS * CNN_PART)
        *(uint4 *)(shared + i) = make_uint4(0, 0, 0, 0);
    first->pooled_scale = cnn_hopper_pooled_scale<Arithmetic>(arguments, thread % 32);
    __syncthreads(); // the zeros are written
    if (stages)
        cnn_stage_store_pixels<Arithmetic>(shared + tiles::PLANES_AT, word, stage);
}

// After it: the gradient.
template <typename Arithmetic, int Halves, typename Arguments>
CNN_DEVICE void cnn_few_gradient(const Arguments &arguments, char *shared, int half, cnn_few_first<Arithmetic> *first)
{
    typedef cnn_few_tiles<Arithmetic, Halves> tiles;
    const int image = blockIdx.x, thread = threadIdx.x;
    float *coefficients = (float *)(shared + tiles::COEFFICIENTS_AT);
    cnn_hopper_load_grad(arguments.workspace, image, thread, first->at.row, first->at.column, &first->window);
    cnn_hopper_channel channel = cnn_hopper_load_channel(arguments, thread % CNN_CHANNELS2);
    first->grad_scale = cnn_hopper_grad_scale<Arithmetic>(arguments, thread % 32);
    float *sums = (float *)(shared + tiles::EXCHANGE_AT); // nothing is exchanged yet
    static_assert(CNN_SUMS2_BYTES <= +tiles::EXCHANGE && CNN_SUMS2_WARPS * 32 <= +tiles::THREADS, "room for the sums");
    cnn_sums2_rows(arguments, sums);
    __syncthreads();
    if (thread < CNN_CHANNELS2) {
        channel.sum = cnn_sums2_total(arguments, sums, thread);
        channel.product = cnn_sums2_total(arguments, sums, CNN_CHANNELS2 + thread);
        cnn_hopper_coefficients(coefficients, channel, arguments.n, thread, first->grad_scale);
    }
    __syncthreads();
    if (first->at.there) {
        cnn_hopper_values<Arithmetic> values;
        cnn_hopper_gradient<Arithmetic>(&first->window, coefficients, thread, &values);
        char *to =
            shared + tiles::GRAD_AT + thread % CNN_STAGE_GROUP * tiles::GRAD_CHUNK +
            (first->at.row * 2 * tiles::PITCH + first->at.column * 2 + tiles::LEFT - half * CNN_HOPPER_HALF) * CNN_PART;
#pragma unroll
        for (int i = 0; i < 4 * tiles::kind::parts; i++) {
            const int part = i / 4, place = i % 4;
            cnn_copy_words<4>(to + part * tiles::GRAD_PART + (place / 2 * tiles::PITCH + place % 2) * CNN_PART,
                              values.value[part][place]);
        }
    }
    cp_async_wait_all();
    tma_fence_written();
}

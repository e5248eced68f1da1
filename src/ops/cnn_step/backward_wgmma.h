// backward.h for Hopper: the products of conv2's gradients by wgmma, issued by four warps together with operands in
// shared memory, at the tensor cores' full rate.
//
// It reads and writes the same as backward.h, one image at a time, and its warps have the same roles, one or two
// warpgroups each:
//
//   weight  64 outputs by 96: the three taps of a column stacked, 32 inputs each, over the image's pixels, a row of 16
//           at a time. Both factors have wgmma's layout, and another column of taps is another start address. If a
//           float is two parts, the gradient of conv2's output is transposed by ldmatrix on the way to registers: it
//           is read once for all parts. The sums of all taps stay in registers from the first image to the last
//   data    64 pixels by 96: the three taps of a column stacked, 32 inputs each. A row of the result gets one third
//   from
//           the products of the row above and one from those of the row below. So that a thread has those itself, a
//           product takes every second row: a warp then has four consecutive rows. Sums for another warp's rows go
//           through shared memory. The two halves of the rows alternate
//   stem    conv1's sums, from the data gradient that the data warps leave in shared memory (backward_wgmma_stem.h)
//   stage   as in backward.h (backward_wgmma_stage.h); TMA loads pooled1 and code1
//
// If a float is two parts, there is no room for the stem's tiles: the data warps compute conv1's sums, from their
// registers, by mma.sync. If there are as many blocks as images: backward_wgmma_few.h.
//
// Everything but the incoming gradient is ready before the previous kernel ends: it is read while that one still runs.
//
// Limited by: no single role. By a clock in the kernel, an image takes about 6,700 cycles, and the stem's warps have no
// pause in them: 4,900 go to products that take 1,700 when no other warp multiplies, because each queues behind the
// long ones of the others; 1,500 lie between two images. The data warps wait for the stem, and the weight and stage
// warps for the data warps, 2,900 and 2,800 cycles. But the stem yields to the others more than it delays them: with
// half the pixels, stored while products run, and a third tile of the gradient of pooled1 it was no faster, nor with
// conv2's output gradient in the weight warps' registers, which saves shared memory 450 cycles. A product reads 5 KB of
// operands from shared memory, 40 cycles of 128 bytes in the 48 that the tensor cores need, and has priority: an image
// is 3,770 such cycles of products and 1,700 of loads and stores by the other warps, in 4,660 of the tensor cores, an
// eighth of which is padding (14 pixels taken as 16, and 14 rows). Then by the time to the first product, some 16,000
// cycles, and from the last, which other blocks cannot fill: shared memory has room for only one. If a float is two
// parts, by the single tile of the gradient that there is room for: nothing is multiplied while it is filled.
#pragma once

#include "ops/cnn_step/backward.h"
#include "ops/cnn_step/backward_wgmma_begin.h"
#include "ops/cnn_step/backward_wgmma_few.h"
#include "ops/cnn_step/backward_wgmma_products.h"
#include "ops/cnn_step/backward_wgmma_stage.h"
#include "ops/cnn_step/backward_wgmma_stem.h"
#include "ops/cuda/dependent.h"
#include "ops/cuda/hopper.h"

// --- weight warps ----------------------------------------------------------------------------------------------------

// Sixteen outputs by the 16 pixels of a row, transposed.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_weight_load(uint32_t (&a)[cnn_hopper_kind<Arithmetic>::parts][4], const char *grad_at,
                                       int row)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
#pragma unroll
    for (int part = 0; part < tiles::kind::parts; part++)
        ldmatrix_x4_transposed(a[part], grad_at + part * tiles::GRAD_PART + row * CNN_TILE_SIDE * CNN_PART);
}

// sum (column of taps, 64 outputs, row of taps, 32 inputs) += over the image's pixels, grad (pixel, output) * pooled
// (pixel + tap, input), or = if not `add`. While the products of a row run, the next row's fragments are loaded into
// other registers.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_weight_image(float (&sum)[CNN_HOPPER_TAPS][CNN_HOPPER_WEIGHT_SUMS], const char *grad,
                                        const char *pooled, int warp, int lane, bool add)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    typedef cnn_hopper_products<tiles::kind::parts> products;
    const char *grad_at = grad + (warp * 2 + (lane >> 3 & 1)) * tiles::GRAD_CHUNK +
                          (1 + (lane & 7) + (lane >> 4) * CNN_HOPPER_HALF) * CNN_PART;
    const uint64_t b = cnn_hopper_descriptor(pooled, CNN_HOPPER_HALF * CNN_PART, tiles::POOLED_STRIP);
    uint32_t a[2][tiles::kind::parts][4];
    cnn_hopper_weight_load<Arithmetic>(a[0], grad_at, 0);
#pragma unroll
    for (int column = 0; column < CNN_HOPPER_TAPS; column++)
        wgmma_settle(sum[column]);
#pragma unroll
    for (int row = 0; row < CNN_SIDE1; row++) {
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < products::count; i++)
#pragma unroll
            for (int column = 0; column < CNN_HOPPER_TAPS; column++)
                cnn_hopper_weight_product(typename tiles::kind::element(), sum[column], a[row % 2][products::left(i)],
                                          wgmma_descriptor_at(b, products::right(i) * tiles::POOLED_PART +
                                                                     row * tiles::POOLED_ROW + column * CNN_PART),
                                          add || row > 0 || i > 0);
        wgmma_commit();
        if (row > 0)
            wgmma_wait<1>();
        if (row + 1 < CNN_SIDE1)
            cnn_hopper_weight_load<Arithmetic>(a[(row + 1) % 2], grad_at, row + 1);
    }
    wgmma_wait<0>();
#pragma unroll
    for (int column = 0; column < CNN_HOPPER_TAPS; column++)
        wgmma_settle(sum[column]);
}

// The same with one part, both factors from shared memory: no warp loads anything or waits.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_weight_turned(float (&sum)[CNN_HOPPER_TAPS][CNN_HOPPER_WEIGHT_SUMS], const char *grad,
                                         const char *pooled)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    const uint64_t a = cnn_hopper_descriptor(grad + CNN_PART, CNN_HOPPER_HALF * CNN_PART, tiles::GRAD_CHUNK);
    const uint64_t b = cnn_hopper_descriptor(pooled, CNN_HOPPER_HALF * CNN_PART, tiles::POOLED_STRIP);
#pragma unroll
    for (int column = 0; column < CNN_HOPPER_TAPS; column++)
        wgmma_settle(sum[column]);
    wgmma_fence();
#pragma unroll
    for (int row = 0; row < CNN_SIDE1; row++)
#pragma unroll
        for (int column = 0; column < CNN_HOPPER_TAPS; column++)
            cnn_hopper_turned_product(typename tiles::kind::element(), sum[column],
                                      wgmma_descriptor_at(a, row * CNN_TILE_SIDE * CNN_PART),
                                      wgmma_descriptor_at(b, row * tiles::POOLED_ROW + column * CNN_PART), 1);
    wgmma_commit();
    wgmma_wait<0>();
#pragma unroll
    for (int column = 0; column < CNN_HOPPER_TAPS; column++)
        wgmma_settle(sum[column]);
}

// Adds two numbers to memory where no other thread does: the memory system adds, and nothing waits for it.
CNN_DEVICE void cnn_hopper_add2(float *to, float first, float second)
{
#if CUDART_VERSION >= 12010 // which has it for two at once
    asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(first), "f"(second) : "memory");
#else
    atomicAdd(to, first);
    atomicAdd(to + 1, second);
#endif
}

// Whether sums leave the registers after each image: tensor cores truncate a sum instead of rounding it, and over many
// images that error exceeds the one of this arithmetic's products.
template <typename Arithmetic> struct cnn_weight_by_image {
    enum { VALUE = 0 };
};
template <> struct cnn_weight_by_image<cnn_tf32x3> {
    enum { VALUE = 1 };
};

// Stores a thread's sums, divided by the operands' scales, to the block's partial gradient, or adds them to it.
CNN_DEVICE void cnn_hopper_weight_store(float *partial, const float (&sum)[CNN_HOPPER_TAPS][CNN_HOPPER_WEIGHT_SUMS],
                                        float inverse, bool add, int warp, int lane)
{
    enum { TAP_SUMS = CNN_HOPPER_WEIGHT_SUMS / CNN_HOPPER_TAPS };
    partial += (warp * 16 + lane / 4) * CNN_PATCH + lane % 4 * 2;
#pragma unroll
    for (int tap = 0; tap < CNN_TAPS; tap++)
#pragma unroll
        for (int i = 0; i < TAP_SUMS; i += 2) {
            const float *two = sum[tap % 3] + tap / 3 * TAP_SUMS + i;
            float *to = partial + i / 2 % 2 * 8 * CNN_PATCH + tap * CNN_CHANNELS1 + i / 4 * 8;
            if (add)
                cnn_hopper_add2(to, two[0] * inverse, two[1] * inverse);
            else
                *(float2 *)to = make_float2(two[0] * inverse, two[1] * inverse);
        }
}

template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hopper_weight_role(const Arguments &arguments, const char *shared,
                                       cnn_hopper_barriers<Arithmetic> *barriers, int count, float inverse, int warp,
                                       int lane)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    enum { GRADS = tiles::kind::grads, BY_IMAGE = cnn_weight_by_image<Arithmetic>::VALUE };
    float *partial = arguments.workspace.grad_conv2_partial + (size_t)blockIdx.x * CNN_CHANNELS2 * CNN_PATCH;
    float sum[CNN_HOPPER_TAPS][CNN_HOPPER_WEIGHT_SUMS] = {};
    for (int i = 0; i < count; i++) {
        mbarrier_wait(barriers->full + i % GRADS, i / GRADS & 1);
        if constexpr (tiles::kind::parts == 1)
            cnn_hopper_weight_turned<Arithmetic>(sum, shared + tiles::GRAD_AT + i % GRADS * tiles::GRAD,
                                                 shared + tiles::POOLED_AT + i % 2 * tiles::POOLED);
        else
            cnn_hopper_weight_image<Arithmetic>(sum, shared + tiles::GRAD_AT + i % GRADS * tiles::GRAD,
                                                shared + tiles::POOLED_AT + i % 2 * tiles::POOLED, warp, lane,
                                                !BY_IMAGE);
        mbarrier_arrive(barriers->empty + i % GRADS);
        if (BY_IMAGE)
            cnn_hopper_weight_store(partial, sum, inverse, i > 0, warp, lane);
    }
    if (!BY_IMAGE)
        cnn_hopper_weight_store(partial, sum, inverse, false, warp, lane);
}

// --- data warps ------------------------------------------------------------------------------------------------------

// Issues the products of half `half` of the rows: sum[0] of the even ones, sum[1] of the odd ones.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_data_issue(float (&sum)[2][CNN_HOPPER_DATA_SUMS], const char *grad, const char *weight,
                                      int half)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    typedef cnn_hopper_products<tiles::kind::parts> products;
    const unsigned two_rows = 2 * CNN_TILE_SIDE * CNN_PART;
    const uint64_t a = cnn_hopper_descriptor(grad + half * CNN_HOPPER_HALF * CNN_PART, tiles::GRAD_CHUNK, two_rows);
    const uint64_t b = cnn_hopper_descriptor(weight, tiles::WEIGHT_CHUNK, 8 * CNN_PART);
    wgmma_settle(sum[0]);
    wgmma_settle(sum[1]);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < products::count; i++)
#pragma unroll
        for (int shift = 0; shift < 3; shift++)
#pragma unroll
            for (int chunk = 0; chunk < CNN_HOPPER_CHUNKS2; chunk += 2)
#pragma unroll
                for (int odd = 0; odd < 2; odd++)
                    cnn_hopper_data_product(
                        typename tiles::kind::element(), sum[odd],
                        wgmma_descriptor_at(a, products::left(i) * tiles::GRAD_PART + chunk * tiles::GRAD_CHUNK +
                                                   (odd * CNN_TILE_SIDE + shift) * CNN_PART),
                        wgmma_descriptor_at(b, products::right(i) * tiles::WEIGHT_PART +
                                                   (shift * CNN_HOPPER_CHUNKS2 + chunk) * tiles::WEIGHT_CHUNK),
                        i > 0 || shift > 0 || chunk > 0);
    wgmma_commit();
}

CNN_DEVICE void cnn_hopper_data_wait(float (&sum)[2][CNN_HOPPER_DATA_SUMS])
{
    wgmma_wait<0>();
    wgmma_settle(sum[0]);
    wgmma_settle(sum[1]);
}

// Where a thread has sum (row, tap, channel) of its warp's four rows: rows 0 2 in the upper and lower rows of sum[0], 1
// 3 of sum[1]. Its pixel is lane / 4 of the half, pair j of its channels is columns 8 j + 2 (lane % 4) of the products.
#define CNN_HOPPER_SUM(row, tap, i) sum[(row) % 2][((tap)*4 + (i) / 2) * 4 + (row) / 2 * 2 + (i) % 2]
#define CNN_HOPPER_FOUR(row, tap, i)                                                                                   \
    make_float4(CNN_HOPPER_SUM(row, tap, i), CNN_HOPPER_SUM(row, tap, (i) + 1), CNN_HOPPER_SUM(row, tap, (i) + 2),     \
                CNN_HOPPER_SUM(row, tap, (i) + 3))

// Stores the sums that belong to the rows of the warps below and above.
CNN_DEVICE void cnn_hopper_data_give(float4 *exchange, const float (&sum)[2][CNN_HOPPER_DATA_SUMS], int warp, int lane)
{
    float4 *down = exchange, *up = exchange + 3 * 64; // [boundary][two][lane]
#pragma unroll
    for (int i = 0; i < 2; i++) {
        if (warp < 3)
            down[(warp * 2 + i) * 32 + lane] = CNN_HOPPER_FOUR(3, 0, 4 * i);
        if (warp > 0)
            up[((warp - 1) * 2 + i) * 32 + lane] = CNN_HOPPER_FOUR(0, 2, 4 * i);
    }
}

// A thread's own part of a row.
CNN_DEVICE void cnn_hopper_data_row(float (&out)[8], const float (&sum)[2][CNN_HOPPER_DATA_SUMS], int row)
{
#pragma unroll
    for (int i = 0; i < 8; i++) {
        out[i] = CNN_HOPPER_SUM(row, 1, i);
        if (row > 0)
            out[i] += CNN_HOPPER_SUM(row - 1, 0, i);
        if (row < CNN_HOPPER_WARP_ROWS - 1)
            out[i] += CNN_HOPPER_SUM(row + 1, 2, i);
    }
}
#undef CNN_HOPPER_FOUR
#undef CNN_HOPPER_SUM

// Adds the neighbours' sums to the first and last row.
CNN_DEVICE void cnn_hopper_data_take(float (&first)[8], float (&last)[8], const float4 *exchange, int warp, int lane)
{
    const float4 *down = exchange, *up = exchange + 3 * 64;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        float four[4];
        if (warp > 0) {
            cnn_load4(four, (const float *)&down[((warp - 1) * 2 + i) * 32 + lane]);
#pragma unroll
            for (int j = 0; j < 4; j++)
                first[4 * i + j] += four[j];
        }
        if (warp < 3) {
            cnn_load4(four, (const float *)&up[(warp * 2 + i) * 32 + lane]);
#pragma unroll
            for (int j = 0; j < 4; j++)
                last[4 * i + j] += four[j];
        }
    }
}

// What a thread keeps of its warp's rows of a half when the next products overwrite the sums' registers: the inner rows
// are complete, the first and the last lack the other warps' part.
struct cnn_hopper_kept {
    uint32_t inner[CNN_HOPPER_WARP_ROWS - 2][4];
    float first[8], last[8];
};
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_data_keep(cnn_hopper_kept *kept, const float (&sum)[2][CNN_HOPPER_DATA_SUMS],
                                     float4 *exchange, int warp, int lane)
{
    enum { LAST = CNN_HOPPER_WARP_ROWS - 1 };
    cnn_hopper_data_give(exchange, sum, warp, lane);
#pragma unroll
    for (int y = 1; y < LAST; y++) {
        float row[8];
        cnn_hopper_data_row(row, sum, y);
        cnn_hopper_stem_round<Arithmetic>(kept->inner[y - 1], row);
    }
    cnn_hopper_data_row(kept->first, sum, 0);
    cnn_hopper_data_row(kept->last, sum, LAST);
}

// And how it is used then.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_data_leave(cnn_hopper_kept *kept, const float4 *exchange, char *tile, int half, int name,
                                      int warp, int lane)
{
    enum { LAST = CNN_HOPPER_WARP_ROWS - 1 };
    const int row = warp * CNN_HOPPER_WARP_ROWS;
#pragma unroll
    for (int y = 1; y < LAST; y++)
        cnn_hopper_stem_leave<Arithmetic>(tile, kept->inner[y - 1], half, row + y, lane);
    warpgroup_sync(name);
    cnn_hopper_data_take(kept->first, kept->last, exchange, warp, lane);
    uint32_t packed[4];
    cnn_hopper_stem_round<Arithmetic>(packed, kept->first);
    cnn_hopper_stem_leave<Arithmetic>(tile, packed, half, row, lane);
    cnn_hopper_stem_round<Arithmetic>(packed, kept->last);
    cnn_hopper_stem_leave<Arithmetic>(tile, packed, half, row + LAST, lane);
}

// If the stem has its own warps; a turn has half of an image. Between two turns' products only the sums' registers are
// freed: the rest, which goes to shared memory, is done while the next turn's products run.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_data_role(char *shared, float4 *exchange, cnn_hopper_barriers<Arithmetic> *barriers,
                                     int count, int warp, int lane)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    enum { GRADS = tiles::kind::grads, NAME = 2, EXCHANGE = tiles::EXCHANGE / 2 / (int)sizeof(float4) };
    cnn_hopper_kept kept = {};
#pragma unroll 1
    for (int turn = 0; turn < 2 * count; turn++) {
        const int i = turn / 2, half = turn % 2, last = (turn - 1) / 2, last_half = 1 - half;
        float sum[2][CNN_HOPPER_DATA_SUMS];
        if (half == 0)
            mbarrier_wait(barriers->full + i % GRADS, i / GRADS & 1);
        // Unconditional: with a branch the compiler would wait for the products once more at its end.
        cnn_hopper_data_issue<Arithmetic>(sum, shared + tiles::GRAD_AT + i % GRADS * tiles::GRAD,
                                          shared + tiles::WEIGHT_AT, half);
        if (turn > 0) {
            if (last_half == 0 && last > 1)
                mbarrier_wait(barriers->taken + last % 2, (last / 2 - 1) & 1);
            cnn_hopper_data_leave<Arithmetic>(&kept, exchange + last_half * EXCHANGE,
                                              shared + tiles::DZ_AT + last % 2 * tiles::DZ, last_half, NAME, warp,
                                              lane);
            if (last_half == 1)
                mbarrier_arrive(barriers->left + last % 2);
        }
        cnn_hopper_data_wait(sum);
        if (half == 1)
            mbarrier_arrive(barriers->empty + i % GRADS);
        cnn_hopper_data_keep<Arithmetic>(&kept, sum, exchange + half * EXCHANGE, warp, lane);
    }
    // Of the second half of the last image; the first half's turn has waited for its tile.
    cnn_hopper_data_leave<Arithmetic>(&kept, exchange + EXCHANGE, shared + tiles::DZ_AT + (count - 1) % 2 * tiles::DZ,
                                      1, NAME, warp, lane);
    mbarrier_arrive(barriers->left + (count - 1) % 2);
}

// If a float is two parts: issues the products of the even or the odd rows of half `half`, and waits for them. Tensor
// cores truncate sums where float32 would round them, so that long sums are too small: half of the products of the
// large parts are a separate sum, added outside. The small products, thousands of times smaller, come first in the
// other.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_data_parity(float (&sum)[CNN_HOPPER_DATA_SUMS], const char *grad, const char *weight,
                                       int half, int odd)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    typedef cnn_hopper_products<tiles::kind::parts> products;
    enum { PAIRS = CNN_HOPPER_CHUNKS2 / 2, ALL = products::count * 3 * PAIRS, CUT = ALL - 3 * PAIRS / 2 };
    const unsigned two_rows = 2 * CNN_TILE_SIDE * CNN_PART;
    const uint64_t a = cnn_hopper_descriptor(grad + half * CNN_HOPPER_HALF * CNN_PART, tiles::GRAD_CHUNK, two_rows);
    const uint64_t b = cnn_hopper_descriptor(weight, tiles::WEIGHT_CHUNK, 8 * CNN_PART);
    float other[CNN_HOPPER_DATA_SUMS];
    wgmma_settle(sum);
    wgmma_settle(other);
    wgmma_fence();
#pragma unroll
    for (int j = 0; j < ALL; j++) {
        const int i = j / (3 * PAIRS), shift = j / PAIRS % 3, chunk = j % PAIRS * 2;
        cnn_hopper_data_product(typename tiles::kind::element(), j < CUT ? sum : other,
                                wgmma_descriptor_at(a, products::left(i) * tiles::GRAD_PART +
                                                           chunk * tiles::GRAD_CHUNK +
                                                           (odd * CNN_TILE_SIDE + shift) * CNN_PART),
                                wgmma_descriptor_at(b, products::right(i) * tiles::WEIGHT_PART +
                                                           (shift * CNN_HOPPER_CHUNKS2 + chunk) * tiles::WEIGHT_CHUNK),
                                j > 0 && j != CUT);
    }
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_settle(sum);
    wgmma_settle(other);
#pragma unroll
    for (int i = 0; i < CNN_HOPPER_DATA_SUMS; i++)
        sum[i] += other[i];
}

// What the sums of the even rows, 0 and 2 of a warp's four, add to each of its rows, and to the one above them.
#define CNN_HOPPER_OWN(row, tap, i) sum[((tap)*4 + (i) / 2) * 4 + (row) / 2 * 2 + (i) % 2]
#define CNN_HOPPER_FOUR(row, tap, i)                                                                                   \
    make_float4(CNN_HOPPER_OWN(row, tap, i), CNN_HOPPER_OWN(row, tap, (i) + 1), CNN_HOPPER_OWN(row, tap, (i) + 2),     \
                CNN_HOPPER_OWN(row, tap, (i) + 3))
CNN_DEVICE void cnn_hopper_data_even(float (&out)[CNN_HOPPER_WARP_ROWS][8], const float (&sum)[CNN_HOPPER_DATA_SUMS],
                                     float4 *exchange, int warp, int lane)
{
    float4 *up = exchange + 3 * 64; // [boundary][two][lane]
#pragma unroll
    for (int i = 0; i < 8; i++) {
        out[0][i] = CNN_HOPPER_OWN(0, 1, i);
        out[1][i] = CNN_HOPPER_OWN(0, 0, i) + CNN_HOPPER_OWN(2, 2, i);
        out[2][i] = CNN_HOPPER_OWN(2, 1, i);
        out[3][i] = CNN_HOPPER_OWN(2, 0, i);
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
        if (warp > 0)
            up[((warp - 1) * 2 + i) * 32 + lane] = CNN_HOPPER_FOUR(0, 2, 4 * i);
}

// What the odd ones, 1 and 3, add to that, and to the row below.
CNN_DEVICE void cnn_hopper_data_odd(float (&out)[CNN_HOPPER_WARP_ROWS][8], const float (&sum)[CNN_HOPPER_DATA_SUMS],
                                    float4 *exchange, int warp, int lane)
{
    float4 *down = exchange;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        out[0][i] += CNN_HOPPER_OWN(1, 2, i);
        out[1][i] += CNN_HOPPER_OWN(1, 1, i);
        out[2][i] += CNN_HOPPER_OWN(1, 0, i) + CNN_HOPPER_OWN(3, 2, i);
        out[3][i] += CNN_HOPPER_OWN(3, 1, i);
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
        if (warp < 3)
            down[(warp * 2 + i) * 32 + lane] = CNN_HOPPER_FOUR(3, 0, 4 * i);
}
#undef CNN_HOPPER_FOUR
#undef CNN_HOPPER_OWN

// The same if the stem has no warps: these warps compute conv1's sums too.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hopper_data_stem_role(const Arguments &arguments, char *shared, float4 *exchange,
                                          cnn_hopper_barriers<Arithmetic> *barriers, int count, float inverse, int warp,
                                          int lane)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    enum { GRADS = tiles::kind::grads, NAME = 2, LAST = CNN_HOPPER_WARP_ROWS - 1 }; // NAME: of a barrier
    const int first_row = warp * CNN_HOPPER_WARP_ROWS, rows = min(CNN_HOPPER_WARP_ROWS + 0, CNN_SIDE1 - first_row);
    // A lane's row of the fragments: pixel lane % 8 of the half, of the first or the second of two rows.
    const int codes_at = ((first_row + (lane >> 3 & 1)) * CNN_SIDE1 + (lane & 7)) * CNN_CHANNELS1;
    const int tap = lane < 16 ? lane & 7 : CNN_TAPS - 1;
    const int pixels_at = tap % 3 * CNN_PLANE + ((first_row + (lane >> 3 & 1)) * 2 + tap / 3) * CNN_PLANE_ROW;
    float total[2][2][4] = {};
    for (int i = 0; i < count; i++) {
        mbarrier_wait(barriers->full + i % GRADS, i / GRADS & 1);
#pragma unroll 1
        for (int half = 0; half < 2; half++) {
            const char *grad = shared + tiles::GRAD_AT + i % GRADS * tiles::GRAD;
            float sum[CNN_HOPPER_DATA_SUMS], out[CNN_HOPPER_WARP_ROWS][8];
            cnn_hopper_data_parity<Arithmetic>(sum, grad, shared + tiles::WEIGHT_AT, half, 0);
            warpgroup_sync(NAME); // the last ones have been read
            cnn_hopper_data_even(out, sum, exchange, warp, lane);
            cnn_hopper_data_parity<Arithmetic>(sum, grad, shared + tiles::WEIGHT_AT, half, 1);
            cnn_hopper_data_odd(out, sum, exchange, warp, lane);
            warpgroup_sync(NAME);
            cnn_hopper_data_take(out[0], out[LAST], exchange, warp, lane);
            cnn_hopper_stem<Arithmetic>(total, out, shared + tiles::STEM_AT + i % GRADS * tiles::STEM, codes_at,
                                        pixels_at, half, rows, lane);
        }
        mbarrier_arrive(barriers->empty + i % GRADS);
    }
    cnn_hopper_stem_store(arguments.workspace.stem_sums_partial + (size_t)blockIdx.x * CNN_CHANNELS1 * CNN_STEM_SUMS,
                          total, (float *)(shared + tiles::EXCHANGE_AT), inverse, warp, 4, NAME, lane);
}

// --- launch ----------------------------------------------------------------------------------------------------------

template <typename Arithmetic>
static __global__ void __launch_bounds__(cnn_hopper_tiles<Arithmetic>::THREADS, 1)
    cnn_backward_wgmma(cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments,
                       const __grid_constant__ cnn_hopper_maps maps)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    typedef typename tiles::kind kind;
    extern __shared__ __align__(128) char cnn_shared[];
    cnn_hopper_barriers<Arithmetic> *barriers = (cnn_hopper_barriers<Arithmetic> *)(cnn_shared + tiles::BARRIERS_AT);
    const int group = threadIdx.x / HOPPER_WARPGROUP, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    const int count = (arguments.n - 1 - (int)blockIdx.x) / (int)gridDim.x + 1;
    // All kernels before the previous one have ended: everything is ready but what that one computes from the batch,
    // grad_pooled2, its sums and, if it is the only one between, batchnorm 2's statistics.
    if (threadIdx.x == 0) {
        for (int i = 0; i < kind::grads; i++) {
            mbarrier_init(barriers->full + i, CNN_STAGE_THREADS);
            mbarrier_init(barriers->empty + i, 2 * HOPPER_WARPGROUP); // weight and data
        }
        for (int i = 0; i < 2; i++) {
            mbarrier_init(barriers->left + i, HOPPER_WARPGROUP);
            mbarrier_init(barriers->taken + i, HOPPER_WARPGROUP);
            mbarrier_init(barriers->coded + i, 1);
        }
        mbarrier_init_fence();
        if constexpr (kind::stem_tiles > 0) {
            cnn_hopper_copy_pooled<Arithmetic>(&maps, cnn_shared + tiles::POOLED_AT, barriers->full, blockIdx.x);
            cnn_hopper_copy_codes<Arithmetic>(&maps, cnn_shared + tiles::STEM_AT, barriers->coded, blockIdx.x);
        }
    }
    cnn_hopper_first<Arithmetic> first;
    cnn_hopper_first_load<Arithmetic>(arguments, cnn_shared, &first);
    heddle_wait_for_previous();
    heddle_release_next();
    cnn_hopper_first_gradient<Arithmetic>(arguments, cnn_shared, &first);
    __syncthreads();
    float4 *exchange = (float4 *)(cnn_shared + tiles::EXCHANGE_AT);
    const float weight_inverse = 1.0f / first.grad_scale / first.pooled_scale;
    const float data_inverse = 1.0f / first.grad_scale / first.weight_scale;
    if (group == 0) {
        cnn_hopper_registers<kind::weight_registers, tiles::REGISTERS>();
        cnn_hopper_weight_role<Arithmetic>(arguments, cnn_shared, barriers, count, weight_inverse, warp, lane);
    } else if (group == 1) {
        cnn_hopper_registers<kind::data_registers, tiles::REGISTERS>();
        if constexpr (kind::stem_tiles > 0)
            cnn_hopper_data_role<Arithmetic>(cnn_shared, exchange, barriers, count, warp, lane);
        else
            cnn_hopper_data_stem_role<Arithmetic>(arguments, cnn_shared, exchange, barriers, count, data_inverse, warp,
                                                  lane);
    } else if (kind::stem_tiles && group == 3) {
        if constexpr (kind::stem_tiles > 0) {
            cnn_hopper_registers<kind::stem_registers, tiles::REGISTERS>();
            cnn_hopper_stem_role<Arithmetic>(arguments, &maps, cnn_shared, barriers, count, data_inverse, warp, lane);
        }
    } else {
        cnn_hopper_registers<kind::stage_registers, tiles::REGISTERS>();
        cnn_hopper_stage_role<Arithmetic>(arguments, &maps, cnn_shared, barriers->full, barriers->empty, count,
                                          threadIdx.x % HOPPER_WARPGROUP);
    }
}

// pooled1 in the products' layout, [row][chunk][pixel], with a border of zeros; code1 as [16 channels][pixel].
template <typename Arithmetic, typename Arguments>
static heddle_status cnn_hopper_map(cnn_hopper_maps *maps, const Arguments &arguments)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    enum { PIXEL = CNN_CHANNELS1 * 2, ROW = CNN_SIDE1 * PIXEL, IMAGE = CNN_SIDE1 * ROW };
    const cuuint64_t n = arguments.n;
    const cuuint64_t pooled_size[5] = {CNN_HOPPER_CHUNK, CNN_SIDE1, CNN_HOPPER_CHUNKS1, CNN_SIDE1, n};
    const cuuint64_t pooled_pitch[4] = {PIXEL, CNN_PART, ROW, IMAGE};
    const cuuint32_t pooled_box[5] = {CNN_HOPPER_CHUNK, tiles::POOLED_STRIP_PIXELS, CNN_HOPPER_CHUNKS1, CNN_TILE_SIDE,
                                      1};
    const heddle_status status =
        tma_map_boxes(&maps->pooled, CU_TENSOR_MAP_DATA_TYPE_UINT16, arguments.workspace.pooled1, 5, pooled_size,
                      pooled_pitch, pooled_box, CU_TENSOR_MAP_SWIZZLE_NONE);
    if (status != HEDDLE_OK)
        return status;
    const cuuint64_t code_size[3] = {CNN_PART, n * CNN_PIXELS1, CNN_CHANNELS1 / CNN_PART};
    const cuuint64_t code_pitch[2] = {CNN_CHANNELS1, CNN_PART};
    const cuuint32_t code_box[3] = {CNN_PART, CNN_PIXELS1, CNN_CHANNELS1 / CNN_PART};
    return tma_map_boxes(&maps->codes, CU_TENSOR_MAP_DATA_TYPE_UINT8, arguments.workspace.code1, 3, code_size,
                         code_pitch, code_box, CU_TENSOR_MAP_SWIZZLE_NONE);
}

template <typename Arithmetic>
static cudaError_t cnn_launch_backward_wgmma(
    const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments, cudaStream_t stream)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    // With one image per block there is nothing to stage: the time to the first product and from the last matters more.
    if (arguments.n <= arguments.backward_blocks)
        return cnn_launch_backward_few<Arithmetic>(arguments, stream);
    cnn_hopper_maps maps = {};
    if (tiles::kind::stem_tiles && cnn_hopper_map<Arithmetic>(&maps, arguments) != HEDDLE_OK)
        return CNN_NO_MAP;
    const cudaError_t error =
        cudaFuncSetAttribute(cnn_backward_wgmma<Arithmetic>, cudaFuncAttributeMaxDynamicSharedMemorySize, tiles::BYTES);
    if (error != cudaSuccess)
        return error;
    return heddle_cuda_launch_dependent(cnn_backward_wgmma<Arithmetic>, dim3(arguments.backward_blocks),
                                        dim3(tiles::THREADS), tiles::BYTES, stream, arguments, maps);
}

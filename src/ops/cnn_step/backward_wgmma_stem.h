// Conv1's sums in backward_wgmma.h: over the windows of an image, the gradient of each window's winner times the pixels
// under it, for every channel and tap.
//
// If there is room, by wgmma, in four warps of their own; the data warps leave the gradient of pooled1 in shared memory
// for them. A product has 16 windows, one row. Its rows are the channels of two places, each with the gradient where
// code1 says that the place has won; its columns are the 4 × 4 pixels of a window with its border, and ones. Of those
// 16, 9 are a place's taps; they are selected at the end.
//
// If there is no room, by mma.sync, in the data warps: their gradient is transposed by movmatrix.
#pragma once

#include "ops/cnn_step/backward_wgmma_products.h"
#include "ops/cnn_step/backward_wgmma_stage.h"
#include "ops/cnn_step/backward_wgmma_tiles.h"

// The barriers of a block, one of each per tile: an image has arrived, and is no longer needed; the gradient of its
// pooled1 is ready, and has been read; its code1 has arrived.
template <typename Arithmetic> struct cnn_hopper_barriers {
    uint64_t full[cnn_hopper_kind<Arithmetic>::grads], empty[cnn_hopper_kind<Arithmetic>::grads], left[2], taken[2];
    uint64_t coded[2];
};

// --- by wgmma --------------------------------------------------------------------------------------------------------

// Stores the gradient of pooled1 in the products' layout to its tile, [chunk of columns][row][window]: a data warp's
// windows of half a row; zeros where there are no windows.
template <typename Arithmetic> CNN_DEVICE void cnn_hopper_stem_round(uint32_t (&packed)[4], const float (&out)[8])
{
    typedef cnn_hopper_kind<Arithmetic> kind;
    typedef typename cnn_hopper_arithmetic<typename kind::element>::type arithmetic;
    const float scale = kind::scaled ? CNN_HOPPER_STEM_SCALE : 1.0f;
#pragma unroll
    for (int j = 0; j < 4; j++)
        packed[j] = cnn_stem_pack<arithmetic>(out[2 * j] * scale, out[2 * j + 1] * scale);
}
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_stem_leave(char *tile, const uint32_t (&packed)[4], int half, int row, int lane)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    const int first = half * CNN_HOPPER_HALF;
    const bool there = first + lane / 4 < CNN_SIDE1;
    stmatrix_x4(tile + lane / 8 * tiles::DZ_CHUNK + (row * CNN_TILE_SIDE + first + lane % 8) * CNN_PART,
                there ? packed[0] : 0, there ? packed[1] : 0, there ? packed[2] : 0, there ? packed[3] : 0);
}

// Where a lane finds its rows of the fragments. A warp has the even or the odd ones of 16 channels, warp / 2 and warp %
// 2, and all their places: the rows of a fragment are eight channels of one place and the same of another.
template <typename Arithmetic> struct cnn_hopper_stem_source {
    const char *dz, *codes;
    uint64_t pixels;
    int odd;
};
template <typename Arithmetic>
CNN_DEVICE cnn_hopper_stem_source<Arithmetic> cnn_hopper_stem_from(const char *dz, const char *stem, int warp, int lane)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    cnn_hopper_stem_source<Arithmetic> from;
    from.odd = warp / 2;
    from.dz = dz + (warp % 2 * 2 + from.odd) * tiles::DZ_CHUNK + lane * CNN_PART;
    from.codes = stem + warp % 2 * tiles::CODES_GROUP + ((lane >> 4) * CNN_SIDE1 + (lane & 15)) * CNN_PART;
    from.pixels = cnn_hopper_descriptor(stem + tiles::CODES, CNN_HOPPER_OFFSETS * CNN_PART, 8 * CNN_PART);
    return from;
}

// The operands of two rows' fragments: the gradient and code1 of the first eight windows and of the others.
struct cnn_hopper_stem_pair {
    uint32_t dz[4], code[4];
};
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_stem_load(cnn_hopper_stem_pair *to, const cnn_hopper_stem_source<Arithmetic> &from, int row)
{
    ldmatrix_x4_transposed(to->dz, from.dz + row * CNN_TILE_SIDE * CNN_PART);
    ldmatrix_x4_transposed(to->code, from.codes + row * CNN_SIDE1 * CNN_PART);
}

// Places 0 and 1, and 2 and 3, of one of the rows: the gradient where the place has won.
CNN_DEVICE void cnn_hopper_stem_mask(uint32_t (&a)[2][4], const cnn_hopper_stem_pair &rows, int row, int odd)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const uint32_t selector = cnn_stem_selector(rows.code[row * 2 + half], odd);
#pragma unroll
        for (int place = 0; place < 4; place++)
            a[place / 2][half * 2 + place % 2] = rows.dz[row * 2 + half] & __byte_perm(0xffu << 8 * place, 0, selector);
    }
}

template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_stem_issue(float (&sum)[2][CNN_HOPPER_STEM_SUMS], const uint32_t (&a)[2][4],
                                      const cnn_hopper_stem_source<Arithmetic> &from, int row)
{
    typedef typename cnn_hopper_kind<Arithmetic>::element element;
    const uint64_t b = wgmma_descriptor_at(from.pixels, row * CNN_HOPPER_PIXEL_ROW);
    wgmma_fence();
    cnn_hopper_stem_product(element(), sum[0], a[0], b, 1);
    cnn_hopper_stem_product(element(), sum[1], a[1], b, 1);
    wgmma_commit();
}

// sum += an image's. A row's products are short, but queue behind the long ones of the other warps: meanwhile, the next
// row's fragments are made, in other registers, and the two rows after those are loaded.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_stem_image(float (&sum)[2][CNN_HOPPER_STEM_SUMS],
                                      const cnn_hopper_stem_source<Arithmetic> &from)
{
    cnn_hopper_stem_pair rows;
    uint32_t a[2][2][4];
    cnn_hopper_stem_load<Arithmetic>(&rows, from, 0);
    wgmma_settle(sum[0]);
    wgmma_settle(sum[1]);
#pragma unroll 1
    for (int row = 0; row < CNN_SIDE1; row += 2) {
        cnn_hopper_stem_mask(a[0], rows, 0, from.odd);
        cnn_hopper_stem_issue<Arithmetic>(sum, a[0], from, row);
        wgmma_wait<1>(); // the last ones of a[1]
        cnn_hopper_stem_mask(a[1], rows, 1, from.odd);
        cnn_hopper_stem_issue<Arithmetic>(sum, a[1], from, row + 1);
        cnn_hopper_stem_load<Arithmetic>(&rows, from, min(row + 2, CNN_SIDE1 - 2)); // after the last one, the last
                                                                                    // again
        wgmma_wait<1>();                                                            // those of a[0]
    }
    wgmma_wait<0>();
    wgmma_settle(sum[0]);
    wgmma_settle(sum[1]);
}

// Adds the places, in order, through `exchange`, [4 places][32 channels][CNN_HOPPER_OFFSETS columns]. Column 4 y + x of
// a product is pixel (y, x) of the window with its border: tap (y, x) of place 0, tap (y - 1, x - 1) of place 3; column
// CNN_HOPPER_ONES is the sum of the gradient itself.
CNN_DEVICE void cnn_hopper_stem_end(float *partial, const float (&sum)[2][CNN_HOPPER_STEM_SUMS], float *exchange,
                                    float inverse, int name, int warp, int lane)
{
    enum { PLACE = CNN_CHANNELS1 * CNN_HOPPER_OFFSETS };
    const int channel = warp % 2 * CNN_DATA_CHANNELS + lane / 4 * 2 + warp / 2;
    float *mine = exchange + channel * CNN_HOPPER_OFFSETS + lane % 4 * 2;
    warpgroup_sync(name); // all have read what lies there
#pragma unroll
    for (int i = 0; i < 2 * CNN_HOPPER_STEM_SUMS; i += 2) {
        const int product = i / CNN_HOPPER_STEM_SUMS, at = i % CNN_HOPPER_STEM_SUMS;
        *(float2 *)(mine + (product * 2 + at / 2 % 2) * PLACE + at / 4 * 8) =
            make_float2(sum[product][at], sum[product][at + 1]);
    }
    warpgroup_sync(name);
#pragma unroll 1
    for (int i = warp * 32 + lane; i < CNN_CHANNELS1 * CNN_STEM_SUMS; i += HOPPER_WARPGROUP) {
        const int tap = i % CNN_STEM_SUMS, ones = tap == CNN_TAPS;
        const float *from =
            exchange + i / CNN_STEM_SUMS * CNN_HOPPER_OFFSETS + (ones ? (int)CNN_HOPPER_ONES : tap / 3 * 4 + tap % 3);
        float total = 0.0f;
#pragma unroll
        for (int place = 0; place < 4; place++)
            total += from[place * PLACE + (ones ? 0 : place / 2 * 4 + place % 2)];
        partial[i] = total * inverse;
    }
}

// These warps load codes and pixels themselves: no other role needs them. The first image's codes are in flight when
// they begin. Pixels are requested one image before they are stored, and that image's number one more image before.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hopper_stem_role(const Arguments &arguments, const cnn_hopper_maps *maps, char *shared,
                                     cnn_hopper_barriers<Arithmetic> *barriers, int count, float inverse, int warp,
                                     int lane)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    enum { NAME = 1 };
    const int thread = warp * 32 + lane;
    const uint8_t *images = arguments.operands.images;
    const int32_t *order = arguments.operands.order + *arguments.operands.cursor + blockIdx.x;
    const int first = order[0];
    int source = count > 1 ? order[gridDim.x] : 0;
    cnn_hopper_pixels<Arithmetic> pixels;
    cnn_hopper_take_pixels<Arithmetic>(images + (size_t)first * CNN_PIXELS, &pixels, thread);
    cnn_hopper_leave_pixels<Arithmetic>(shared + tiles::STEM_AT + tiles::CODES, pixels, thread);
    tma_fence_written();
    warpgroup_sync(NAME);
    if (count > 1)
        cnn_hopper_take_pixels<Arithmetic>(images + (size_t)source * CNN_PIXELS, &pixels, thread);
    if (count > 2)
        source = order[2 * gridDim.x];
    float sum[2][CNN_HOPPER_STEM_SUMS] = {};
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        char *stem = shared + tiles::STEM_AT, *next_stem = stem + (i + 1) % tiles::STEMS * tiles::STEM;
        if (i + 1 < count) { // while the gradient is not there yet
            if (thread == 0)
                cnn_hopper_copy_codes<Arithmetic>(maps, next_stem, barriers->coded + (i + 1) % 2,
                                                  blockIdx.x + (i + 1) * gridDim.x);
            cnn_hopper_leave_pixels<Arithmetic>(next_stem + tiles::CODES, pixels, thread);
            tma_fence_written();
        }
        if (i + 2 < count)
            cnn_hopper_take_pixels<Arithmetic>(images + (size_t)source * CNN_PIXELS, &pixels, thread);
        if (i + 3 < count)
            source = order[(i + 3) * gridDim.x];
        mbarrier_wait(barriers->coded + i % 2, i / 2 & 1);
        mbarrier_wait(barriers->left + i % 2, i / 2 & 1);
        cnn_hopper_stem_image<Arithmetic>(
            sum, cnn_hopper_stem_from<Arithmetic>(shared + tiles::DZ_AT + i % 2 * tiles::DZ,
                                                  stem + i % tiles::STEMS * tiles::STEM, warp, lane));
        mbarrier_arrive(barriers->taken + i % 2);
        warpgroup_sync(NAME);
    }
    cnn_hopper_stem_end(arguments.workspace.stem_sums_partial + (size_t)blockIdx.x * CNN_CHANNELS1 * CNN_STEM_SUMS, sum,
                        (float *)(shared + tiles::DZ_AT + count % 2 * tiles::DZ),
                        tiles::kind::scaled ? inverse / CNN_HOPPER_STEM_SCALE : inverse, NAME, warp, lane);
}

// --- by mma.sync -----------------------------------------------------------------------------------------------------

// A fragment of conv1's sums of 16 channels, the `group`-th, by the 8 pixels of two rows; in parts.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_stem_split(uint32_t (*part)[4], const float (*out)[8], int group)
{
    enum { PARTS = cnn_stem_grad_parts<Arithmetic>::COUNT };
#pragma unroll
    for (int j = 0; j < 4; j++) { // even channels, odd channels; of the second row
        const float *pair = out[j / 2] + (group * 2 + j % 2) * 2;
        float first = pair[0], second = pair[1];
#pragma unroll
        for (int i = 0; i < PARTS; i++) {
            const uint32_t packed = cnn_stem_pack<Arithmetic>(first, second);
            part[i][j] = movmatrix_transposed(packed);
            if (i + 1 < PARTS)
                cnn_stem_leave(&first, &second, packed);
        }
    }
}

// Sets of conv1's sums per warp, so that products do not wait for each other; three parts leave no room.
template <typename Arithmetic> struct cnn_hopper_stem_sets {
    enum { COUNT = cnn_stem_grad_parts<Arithmetic>::COUNT < 3 ? 2 : 1 };
};

// stem (two groups of channels) += the part of `out` that belongs to each place of its windows, by `selector`, times
// the pixels under that place.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_stem_products(float (*stem)[cnn_hopper_stem_sets<Arithmetic>::COUNT][2][4],
                                         const float (*out)[8], const uint32_t (&selector)[2][4], const char *pixels,
                                         int lane)
{
    enum { PARTS = cnn_stem_grad_parts<Arithmetic>::COUNT, SETS = cnn_hopper_stem_sets<Arithmetic>::COUNT };
    uint32_t part[2][PARTS][4];
    cnn_hopper_stem_split<Arithmetic>(part[0], out, 0);
    cnn_hopper_stem_split<Arithmetic>(part[1], out, 1);
#pragma unroll
    for (int place = 0; place < 4; place++) {
        uint32_t b[4];
        ldmatrix_x4(b, pixels + place % 2 * CNN_PLANE + place / 2 * CNN_PLANE_ROW);
        if (lane >= 4) // columns 9 to 15 of the second fragment
            b[2] = b[3] = cnn_stem_ones<Arithmetic>();
#pragma unroll
        for (int group = 0; group < 2; group++) {
            uint32_t mask[4];
#pragma unroll
            for (int j = 0; j < 4; j++)
                mask[j] = __byte_perm(0xffu << 8 * place, 0, selector[group][j]);
#pragma unroll
            for (int i = PARTS - 1; i >= 0; i--) {
                const uint32_t a[4] = {part[group][i][0] & mask[0], part[group][i][1] & mask[1],
                                       part[group][i][2] & mask[2], part[group][i][3] & mask[3]};
                cnn_stem_multiply<Arithmetic>(stem[group][place % SETS][0], a, b);
                cnn_stem_multiply<Arithmetic>(stem[group][place % SETS][1], a, b + 2);
            }
        }
    }
}

// stem[group][set][tile] += the sums of two rows' windows, of 8 pixels each, as cnn_stem_row does for a row's.
// `codes` and `pixels`: where this lane's row of a fragment begins.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_stem_rows(float (*stem)[cnn_hopper_stem_sets<Arithmetic>::COUNT][2][4],
                                     const float (*out)[8], const char *codes, const char *pixels, bool outside,
                                     int lane)
{
    uint32_t code[2][2], selector[2][4];
    ldmatrix_x2_transposed(code[0], codes);
    ldmatrix_x2_transposed(code[1], codes + CNN_DATA_CHANNELS);
#pragma unroll
    for (int group = 0; group < 2; group++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            selector[group][j] = cnn_stem_selector(outside ? CNN_NO_WINNER * 0x01010101u : code[group][j / 2], j % 2);
    cnn_hopper_stem_products<Arithmetic>(stem, out, selector, pixels, lane);
}

// Adds the sums of the data warps, each of other windows, in the order of their numbers, through `exchange`, [32
// channels][CNN_STEM_SUMS].
CNN_DEVICE void cnn_hopper_stem_store(float *partial, const float (*stem)[2][4], float *exchange, float inverse,
                                      int turn, int rivals, int name, int lane)
{
    for (int now = 0; now < rivals; now++) {
        __barrier_sync_count(name, rivals * 32);
        if (turn == now)
#pragma unroll
            for (int i = 0; i < 16; i++) {
                const int tap = i / 4 % 2 * 8 + lane % 4 * 2 + i % 2;
                const int channel = i / 8 * CNN_DATA_CHANNELS + lane / 4 * 2 + i / 2 % 2;
                const int at = channel * CNN_STEM_SUMS + tap;
                const float mine = stem[i / 8][i / 4 % 2][i % 4];
                if (tap < CNN_STEM_SUMS) {
                    const float sum = now == 0 ? mine : exchange[at] + mine;
                    if (now + 1 < rivals)
                        exchange[at] = sum;
                    else
                        partial[at] = sum * inverse;
                }
            }
    }
}

// Adds the sums of a warp's four rows. `stem`: code1 and planes of their image; offsets as in the role.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_stem(float (&total)[2][2][4], const float (&out)[CNN_HOPPER_WARP_ROWS][8], const char *stem,
                                int codes_at, int pixels_at, int half, int rows, int lane)
{
    enum { SETS = cnn_hopper_stem_sets<Arithmetic>::COUNT };
    float sums[2][SETS][2][4] = {};
    const char *codes = stem + codes_at + half * CNN_HOPPER_HALF * CNN_CHANNELS1;
    const char *pixels = stem + cnn_hopper_tiles<Arithmetic>::CODES + pixels_at + half * CNN_PART;
    const bool outside = half == 1 && (lane & 3) == 3; // pixels 14 and 15 are none
#pragma unroll
    for (int row = 0; row < CNN_HOPPER_WARP_ROWS; row += 2)
        if (row < rows)
            cnn_hopper_stem_rows<Arithmetic>(sums, out + row, codes + row * CNN_SIDE1 * CNN_CHANNELS1,
                                             pixels + row * 2 * CNN_PLANE_ROW, outside, lane);
#pragma unroll
    for (int i = 0; i < 16; i++)
        total[i / 8][i / 4 % 2][i % 4] +=
            sums[i / 8][0][i / 4 % 2][i % 4] + (SETS > 1 ? sums[i / 8][SETS - 1][i / 4 % 2][i % 4] : 0.0f);
}

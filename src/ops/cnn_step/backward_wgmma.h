// backward.h for Hopper: the products of conv2's gradients by wgmma, whose operands four warps together take from
// shared memory, at the tensor cores' full rate.
//
// Reads and writes what backward.h does, an image at a time, and its warps have the same roles, a warpgroup or two
// each:
//
//   weight  64 outputs by 32 inputs of a tap, over the image's pixels, a row of 16 at a time. The gradient of conv2's
//           output is turned on its way into registers, by ldmatrix; pooled1 lies as wgmma takes it, and a tap is
//           another start address. The sums of all taps stay in registers from the first image to the last
//   data    64 pixels by 96: the three taps of a column stacked, 32 inputs each. Of a row of the result one third comes
//           from the products of the row above and one from those of the row below. So that a thread has those itself,
//           a product takes every second row: a warp then has four rows one below the other. What crosses to another
//           warp's rows goes through shared memory. A warpgroup has one half of every row, or both in turns
//   stage   as in backward.h (backward_wgmma_stage.h)
//
// Where a float is two parts and there are fewer images than half the multiprocessors, two blocks take each: one has
// the weight's role, one the data's.
//
// The data gradient, masked by code1, is turned by movmatrix for conv1's sums, which stay products of mma.sync: they
// are few.
//
// Limited by: the tensor cores, which take turns between wgmma and conv1's small products of mma.sync: while a data
// warp makes its sums, each of its products waits for one of the weight's, so that the two roles' times add up instead
// of hiding each other. Below that, an eighth of the work is padding (14 pixels taken as 16, and 14 rows). At small
// batches by the way to the first product: weight, borders, the first image.
#ifndef HEDDLE_OPS_CNN_STEP_BACKWARD_WGMMA_H
#define HEDDLE_OPS_CNN_STEP_BACKWARD_WGMMA_H

#include "ops/cnn_step/backward.h"
#include "ops/cnn_step/backward_wgmma_products.h"
#include "ops/cnn_step/backward_wgmma_stage.h"
#include "ops/cuda/dependent.h"
#include "ops/cuda/hopper.h"

// --- weight warps ----------------------------------------------------------------------------------------------------

// Sixteen outputs by the 16 pixels of a row, turned.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_weight_load(uint32_t (&a)[cnn_hopper_kind<Arithmetic>::parts][4], const char *grad_at,
                                       int row)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
#pragma unroll
    for (int part = 0; part < tiles::kind::parts; part++)
        ldmatrix_x4_transposed(a[part], grad_at + part * tiles::GRAD_PART + row * CNN_TILE_SIDE * CNN_PART);
}

// sum (tap, 64 outputs, 32 inputs) += over the image's pixels, grad (pixel, output) * pooled (pixel + tap, input), or
// = where `add` is not. While the products of a row run, the next row's fragments are loaded into other registers.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_weight_image(float (&sum)[CNN_TAPS][CNN_HOPPER_WEIGHT_SUMS], const char *grad,
                                        const char *pooled, int warp, int lane, bool add)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    typedef cnn_hopper_products<tiles::kind::parts> products;
    const char *grad_at = grad + (warp * 2 + (lane >> 3 & 1)) * tiles::GRAD_CHUNK +
                          (1 + (lane & 7) + (lane >> 4) * CNN_HOPPER_HALF) * CNN_PART;
    const uint64_t b = cnn_hopper_descriptor(pooled, CNN_HOPPER_HALF * CNN_PART, tiles::POOLED_CHUNK);
    uint32_t a[2][tiles::kind::parts][4];
    cnn_hopper_weight_load<Arithmetic>(a[0], grad_at, 0);
#pragma unroll
    for (int tap = 0; tap < CNN_TAPS; tap++)
        cnn_hopper_settle(sum[tap]);
#pragma unroll
    for (int row = 0; row < CNN_SIDE1; row++) {
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < products::count; i++)
#pragma unroll
            for (int tap = 0; tap < CNN_TAPS; tap++)
                cnn_hopper_weight_product(
                    typename tiles::kind::element(), sum[tap], a[row % 2][products::left(i)],
                    wgmma_descriptor_at(b, products::right(i) * tiles::POOLED_PART +
                                               ((row + tap / 3) * CNN_TILE_SIDE + tap % 3) * CNN_PART),
                    add || row > 0 || i > 0);
        wgmma_commit();
        if (row > 0)
            wgmma_wait<1>();
        if (row + 1 < CNN_SIDE1)
            cnn_hopper_weight_load<Arithmetic>(a[(row + 1) % 2], grad_at, row + 1);
    }
    wgmma_wait<0>();
#pragma unroll
    for (int tap = 0; tap < CNN_TAPS; tap++)
        cnn_hopper_settle(sum[tap]);
}

// A thread's sums, divided by the operands' scales, into the block's partial gradient, or on top of what is there.
CNN_DEVICE void cnn_hopper_weight_store(float *partial, const float (&sum)[CNN_TAPS][CNN_HOPPER_WEIGHT_SUMS],
                                        float inverse, bool add, int warp, int lane)
{
    partial += (warp * 16 + lane / 4) * CNN_PATCH + lane % 4 * 2;
#pragma unroll
    for (int tap = 0; tap < CNN_TAPS; tap++)
#pragma unroll
        for (int i = 0; i < CNN_HOPPER_WEIGHT_SUMS; i += 2) {
            float2 *to = (float2 *)(partial + i / 2 % 2 * 8 * CNN_PATCH + tap * CNN_CHANNELS1 + i / 4 * 8);
            const float2 old = add ? *to : make_float2(0.0f, 0.0f);
            *to = make_float2(fmaf(sum[tap][i], inverse, old.x), fmaf(sum[tap][i + 1], inverse, old.y));
        }
}

template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hopper_weight_role(const Arguments &arguments, const char *shared, uint64_t *full, uint64_t *empty,
                                       int count, int warp, int lane)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    enum { GRADS = tiles::kind::grads, BY_IMAGE = cnn_weight_by_image<Arithmetic>::VALUE };
    float *partial = arguments.workspace.grad_conv2_partial + (size_t)blockIdx.x * CNN_CHANNELS2 * CNN_PATCH;
    const float inverse = 1.0f / cnn_hopper_grad_scale<Arithmetic>(arguments, lane) /
                          cnn_hopper_pooled_scale<Arithmetic>(arguments, lane);
    float sum[CNN_TAPS][CNN_HOPPER_WEIGHT_SUMS] = {};
    for (int i = 0; i < count; i++) {
        mbarrier_wait(full + i % GRADS, i / GRADS & 1);
        cnn_hopper_weight_image<Arithmetic>(sum, shared + tiles::GRAD_AT + i % GRADS * tiles::GRAD,
                                            shared + tiles::POOLED_AT + i % 2 * tiles::POOLED, warp, lane, !BY_IMAGE);
        mbarrier_arrive(empty + i % GRADS);
        if (BY_IMAGE)
            cnn_hopper_weight_store(partial, sum, inverse, i > 0, warp, lane);
    }
    if (!BY_IMAGE)
        cnn_hopper_weight_store(partial, sum, inverse, false, warp, lane);
}

// --- the data gradient's weight --------------------------------------------------------------------------------------

// Where 4 or 8 outputs of an input channel and tap lie: [column of taps][chunk of outputs][row of taps, input].
template <typename Arithmetic> CNN_DEVICE int cnn_hopper_weight_at(int input, int tap, int output)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    return (tap % 3 * CNN_HOPPER_CHUNKS2 + output / CNN_HOPPER_CHUNK) * tiles::WEIGHT_CHUNK +
           (tap / 3 * CNN_CHANNELS1 + cnn_weight_row(input)) * CNN_PART +
           output % CNN_HOPPER_CHUNK * (int)sizeof(typename tiles::kind::element);
}

// Copies the weight. Returns what it was multiplied by.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE float cnn_hopper_data_weight(const Arguments &arguments, char *shared)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    const typename Arithmetic::operand *weight = arguments.workspace.conv2_backward;
    if constexpr (!tiles::kind::scaled) {
        enum { PIECES = CNN_CHANNELS2 * CNN_PATCH / CNN_HOPPER_CHUNK };
#pragma unroll
        for (int i = 0; i < PIECES; i += tiles::THREADS) {
            const int at = (i + (int)threadIdx.x) * CNN_HOPPER_CHUNK;
            if (i + (int)threadIdx.x < PIECES)
                cp_async_16(shared + tiles::WEIGHT_AT +
                                cnn_hopper_weight_at<Arithmetic>(at / (CNN_TAPS * CNN_CHANNELS2),
                                                                 at / CNN_CHANNELS2 % CNN_TAPS, at % CNN_CHANNELS2),
                            weight + at);
        }
        cp_async_wait_all();
        return 1.0f;
    } else {
        enum { PIECES = CNN_CHANNELS2 * CNN_PATCH / 4, OWN = PIECES / tiles::THREADS };
        static_assert(PIECES % tiles::THREADS == 0, "pieces of the weight");
        float *scratch = (float *)(shared + tiles::SCRATCH_AT), four[OWN][4], most = 0.0f;
#pragma unroll
        for (int i = 0; i < OWN; i++)
            cnn_load4(four[i], weight + (i * tiles::THREADS + (int)threadIdx.x) * 4);
#pragma unroll
        for (int i = 0; i < 4 * OWN; i++)
            most = fmaxf(most, fabsf(four[i / 4][i % 4]));
        most = cnn_hopper_warp_most(most);
        if (threadIdx.x % 32 == 0)
            scratch[threadIdx.x / 32] = most;
        __syncthreads();
        most = cnn_hopper_warp_most(scratch[threadIdx.x % (tiles::THREADS / 32)]);
        const float scale = cnn_half_scale(most);
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            const int at = (i * tiles::THREADS + (int)threadIdx.x) * 4;
            char *to = shared + tiles::WEIGHT_AT +
                       cnn_hopper_weight_at<Arithmetic>(at / (CNN_TAPS * CNN_CHANNELS2), at / CNN_CHANNELS2 % CNN_TAPS,
                                                        at % CNN_CHANNELS2);
#pragma unroll
            for (int j = 0; j < 4; j++)
                four[i][j] *= scale;
#pragma unroll
            for (int part = 0; part < tiles::kind::parts; part++) {
                __align__(8) uint32_t packed[2];
                cnn_hopper_pack<typename tiles::kind::element>(packed, four[i], part + 1 < tiles::kind::parts);
                cnn_copy_words<2>(to + part * tiles::WEIGHT_PART, packed);
            }
        }
        return scale;
    }
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
    cnn_hopper_settle(sum[0]);
    cnn_hopper_settle(sum[1]);
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

// Waits for them. out[row][4 pairs of channels] of a warp's four rows: the thread's pixel is lane / 4 of the half, pair
// j of its channels is columns 8 j + 2 (lane % 4) of the products.
CNN_DEVICE void cnn_hopper_data_end(float (&out)[CNN_HOPPER_WARP_ROWS][8], float (&sum)[2][CNN_HOPPER_DATA_SUMS],
                                    float4 *exchange, int name, int warp, int lane)
{
    wgmma_wait<0>();
    cnn_hopper_settle(sum[0]);
    cnn_hopper_settle(sum[1]);
    // Sum (row, tap, channel) of the thread: rows 0 2 in the upper and lower rows of sum[0], 1 3 of sum[1].
#define CNN_HOPPER_SUM(row, tap, i) sum[(row) % 2][((tap)*4 + (i) / 2) * 4 + (row) / 2 * 2 + (i) % 2]
#define CNN_HOPPER_FOUR(row, tap, i)                                                                                   \
    make_float4(CNN_HOPPER_SUM(row, tap, i), CNN_HOPPER_SUM(row, tap, (i) + 1), CNN_HOPPER_SUM(row, tap, (i) + 2),     \
                CNN_HOPPER_SUM(row, tap, (i) + 3))
    float4 *down = exchange, *up = exchange + 3 * 64; // [boundary][two][lane]
    warpgroup_sync(name);                             // the last ones have been read
#pragma unroll
    for (int i = 0; i < 2; i++) {
        if (warp < 3)
            down[(warp * 2 + i) * 32 + lane] = CNN_HOPPER_FOUR(3, 0, 4 * i);
        if (warp > 0)
            up[((warp - 1) * 2 + i) * 32 + lane] = CNN_HOPPER_FOUR(0, 2, 4 * i);
    }
#pragma unroll
    for (int row = 0; row < CNN_HOPPER_WARP_ROWS; row++)
#pragma unroll
        for (int i = 0; i < 8; i++) {
            out[row][i] = CNN_HOPPER_SUM(row, 1, i);
            if (row > 0)
                out[row][i] += CNN_HOPPER_SUM(row - 1, 0, i);
            if (row < CNN_HOPPER_WARP_ROWS - 1)
                out[row][i] += CNN_HOPPER_SUM(row + 1, 2, i);
        }
#undef CNN_HOPPER_FOUR
#undef CNN_HOPPER_SUM
    warpgroup_sync(name);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        float four[4];
        if (warp > 0) {
            cnn_load4(four, (const float *)&down[((warp - 1) * 2 + i) * 32 + lane]);
#pragma unroll
            for (int j = 0; j < 4; j++)
                out[0][4 * i + j] += four[j];
        }
        if (warp < 3) {
            cnn_load4(four, (const float *)&up[(warp * 2 + i) * 32 + lane]);
#pragma unroll
            for (int j = 0; j < 4; j++)
                out[CNN_HOPPER_WARP_ROWS - 1][4 * i + j] += four[j];
        }
    }
}

// 8 by 8 elements of 16 bits, a lane's two of row lane / 4 before and after.
CNN_DEVICE uint32_t cnn_hopper_turn(uint32_t matrix)
{
    uint32_t turned;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(matrix));
    return turned;
}

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
            part[i][j] = cnn_hopper_turn(packed);
            if (i + 1 < PARTS)
                cnn_stem_leave(&first, &second, packed);
        }
    }
}

// How many sets of conv1's sums a warp has, so that products do not wait for each other; three parts leave no room.
template <typename Arithmetic> struct cnn_hopper_stem_sets {
    enum { COUNT = cnn_stem_grad_parts<Arithmetic>::COUNT < 3 ? 2 : 1 };
};

// stem[group][set][tile] += the sums of two rows' windows, of 8 pixels each, as cnn_stem_row does for a row's.
// `codes` and `pixels`: where this lane's row of a fragment begins.
template <typename Arithmetic>
CNN_DEVICE void cnn_hopper_stem_rows(float (*stem)[cnn_hopper_stem_sets<Arithmetic>::COUNT][2][4],
                                     const float (*out)[8], const char *codes, const char *pixels, bool outside,
                                     int lane)
{
    enum { PARTS = cnn_stem_grad_parts<Arithmetic>::COUNT, SETS = cnn_hopper_stem_sets<Arithmetic>::COUNT };
    uint32_t code[2][2], selector[2][4];
    ldmatrix_x2_transposed(code[0], codes);
    ldmatrix_x2_transposed(code[1], codes + CNN_DATA_CHANNELS);
#pragma unroll
    for (int group = 0; group < 2; group++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            selector[group][j] = cnn_stem_selector(outside ? CNN_NO_WINNER * 0x01010101u : code[group][j / 2], j % 2);
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

// Adds up what the data warps have, each of other windows, in the order of their numbers, by way of `exchange`,
// [32 channels][CNN_STEM_SUMS].
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

// One of `groups` warpgroups that share the halves of every image.
template <typename Arithmetic, typename Arguments>
CNN_DEVICE void cnn_hopper_data_role(const Arguments &arguments, char *shared, float4 *exchange, uint64_t *full,
                                     uint64_t *empty, int count, float weight_scale, int group, int groups, int warp,
                                     int lane)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    enum { GRADS = tiles::kind::grads, NAME = 2, ALL = 4 }; // NAME, ALL: of barriers
    const int first_row = warp * CNN_HOPPER_WARP_ROWS, rows = min(CNN_HOPPER_WARP_ROWS + 0, CNN_SIDE1 - first_row);
    // A lane's row of the fragments: pixel lane % 8 of the half, of the first or the second of two rows.
    const int codes_at = ((first_row + (lane >> 3 & 1)) * CNN_SIDE1 + (lane & 7)) * CNN_CHANNELS1;
    const int tap = lane < 16 ? lane & 7 : CNN_TAPS - 1;
    const int pixels_at = tap % 3 * CNN_PLANE + ((first_row + (lane >> 3 & 1)) * 2 + tap / 3) * CNN_PLANE_ROW;
    float total[2][2][4] = {};
    for (int i = 0; i < count; i++) {
        mbarrier_wait(full + i % GRADS, i / GRADS & 1);
#pragma unroll 1
        for (int half = group; half < 2; half += groups) {
            float sum[2][CNN_HOPPER_DATA_SUMS], out[CNN_HOPPER_WARP_ROWS][8];
            cnn_hopper_data_issue<Arithmetic>(sum, shared + tiles::GRAD_AT + i % GRADS * tiles::GRAD,
                                              shared + tiles::WEIGHT_AT, half);
            cnn_hopper_data_end(out, sum, exchange, NAME + group, warp, lane);
            cnn_hopper_stem<Arithmetic>(total, out, shared + tiles::STEM_AT + i % GRADS * tiles::STEM, codes_at,
                                        pixels_at, half, rows, lane);
        }
        mbarrier_arrive(empty + i % GRADS);
    }
    const float inverse = 1.0f / cnn_hopper_grad_scale<Arithmetic>(arguments, lane) / weight_scale;
    cnn_hopper_stem_store(arguments.workspace.stem_sums_partial + (size_t)blockIdx.x * CNN_CHANNELS1 * CNN_STEM_SUMS,
                          total, (float *)(shared + tiles::EXCHANGE_AT), inverse, group * 4 + warp, groups * 4, ALL,
                          lane);
}

// --- launch ----------------------------------------------------------------------------------------------------------

template <typename Arithmetic>
static __global__ void __launch_bounds__(cnn_hopper_tiles<Arithmetic>::THREADS, 1)
    cnn_backward_wgmma(cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    typedef typename tiles::kind kind;
    extern __shared__ __align__(128) char cnn_shared[];
    uint64_t *full = (uint64_t *)(cnn_shared + tiles::BARRIERS_AT), *empty = full + kind::grads;
    const int group = threadIdx.x / HOPPER_WARPGROUP, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    const int count = (arguments.n - 1 - (int)blockIdx.x) / (int)gridDim.x + 1;
    // Kernels before the one before have ended: the batch is known, and the first of them packed the weight.
    uint32_t word[CNN_STAGE_WORDS] = {0};
    if (threadIdx.x < CNN_STAGE_THREADS)
        cnn_stage_load_pixels(arguments.operands.images +
                                  (size_t)arguments.operands.order[*arguments.operands.cursor + blockIdx.x] *
                                      CNN_PIXELS,
                              word, threadIdx.x);
    cnn_hopper_clear<Arithmetic>(cnn_shared);
    if (threadIdx.x == 0) {
        for (int i = 0; i < kind::grads; i++) {
            mbarrier_init(full + i, CNN_STAGE_THREADS);
            mbarrier_init(empty + i, 2 * HOPPER_WARPGROUP);
        }
        mbarrier_init_fence();
    }
    const float weight_scale = cnn_hopper_data_weight<Arithmetic>(arguments, cnn_shared);
    __syncthreads(); // the planes are cleared
    heddle_wait_for_previous();
    heddle_release_next();
    cnn_hopper_first_image<Arithmetic>(arguments, cnn_shared, word);
    __syncthreads();
    float4 *exchange = (float4 *)(cnn_shared + tiles::EXCHANGE_AT);
    // Of two blocks that share an image the first has the weight's role, and both groups of the second the data's. What
    // those of its first group exchange lies where a second image would.
    const bool shares = kind::parts > 1 && gridDim.y == 2, second = kind::parts > 1 && blockIdx.y == 1;
    if (group == 0) {
        cnn_hopper_registers<kind::weight_registers, tiles::REGISTERS>();
        if (!second)
            cnn_hopper_weight_role<Arithmetic>(arguments, cnn_shared, full, empty, count, warp, lane);
        else
            cnn_hopper_data_role<Arithmetic>(arguments, cnn_shared,
                                             (float4 *)(cnn_shared + tiles::POOLED_AT + tiles::POOLED), full, empty,
                                             count, weight_scale, 1, 2, warp, lane);
    } else if (group == 1) {
        cnn_hopper_registers<kind::data_registers, tiles::REGISTERS>();
        if (!shares || second)
            cnn_hopper_data_role<Arithmetic>(arguments, cnn_shared, exchange, full, empty, count, weight_scale, 0,
                                             shares ? 2 : 1, warp, lane);
    } else {
        cnn_hopper_registers<kind::stage_registers, tiles::REGISTERS>();
        cnn_hopper_stage_role<Arithmetic>(arguments, cnn_shared, full, empty, count, threadIdx.x % HOPPER_WARPGROUP);
    }
}

template <typename Arithmetic>
static cudaError_t cnn_launch_backward_wgmma(
    const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments, cudaStream_t stream)
{
    typedef cnn_hopper_tiles<Arithmetic> tiles;
    // Products of 16 bits are so short that with two images to a block the way to the first one matters more, and that
    // is shorter in backward.h. Products in parts are so long that a few images have two multiprocessors each.
    const bool few = arguments.n <= arguments.backward_blocks && 2 * arguments.n <= arguments.multiprocessors;
    if (!tiles::kind::scaled && arguments.n <= 2 * arguments.backward_blocks)
        return cnn_launch_backward<Arithmetic>(arguments, stream);
    const cudaError_t error =
        cudaFuncSetAttribute(cnn_backward_wgmma<Arithmetic>, cudaFuncAttributeMaxDynamicSharedMemorySize, tiles::BYTES);
    if (error != cudaSuccess)
        return error;
    return heddle_cuda_launch_dependent(cnn_backward_wgmma<Arithmetic>,
                                        dim3(arguments.backward_blocks, few && tiles::kind::parts > 1 ? 2 : 1),
                                        dim3(tiles::THREADS), tiles::BYTES, stream, arguments);
}

#endif

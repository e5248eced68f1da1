// backward_wgmma.h for launches in which no block has a second image: there is no staging role; all threads load the
// image, and then all warpgroups multiply. `Halves`: of an image's columns, per block. With one, two blocks, a cluster,
// share an image:
//
//   weight  one warpgroup: 64 outputs by 96, as in backward_wgmma.h. The sixteen pixels of a product are eight of two
//           rows: only the distance between the groups of eight of K changes
//   data    two warpgroups, eight rows each: 64 pixels by 96. A warp has two consecutive rows; sums for other rows go
//           through shared memory. The result is the gradient of 2 × 8 windows of conv1, as many as one product of
//           mma.sync takes, so the same warps continue with conv1's sums
//
// The two blocks have sums over different pixels. Each sends the other one half of them, one column of taps while the
// next is multiplied, and adds and stores the other half. So finish.h has no more partial sums to add than with one
// block per image.
//
// With two SMs per image that is faster, though some of the blocks have to wait for an SM that the previous kernel
// still holds; with one, a block has both halves.
//
// Limited by: a chain of latencies: the loads before the first product, the products, of which an image has too few to
// fill the tensor cores, and the stores. All code runs once, and comes from the L2 cache.
#pragma once

#include "ops/cnn_step/backward_wgmma_few_begin.h"
#include "ops/cnn_step/backward_wgmma_products.h"
#include "ops/cnn_step/backward_wgmma_stem.h"
#include "ops/cuda/dependent.h"
#include "ops/cuda/hopper.h"

// With fewer images than that, the data gradient's sums are rounded like float32, if a float is two parts.
enum { CNN_FEW_ROUNDED = 16 };

// Whether the weight's products wait until the data gradient's are issued, which have more work after them: if both
// take long, and the data gradient's are issued at once.
template <typename Arithmetic, int Halves, bool Rounded> CNN_DEVICE constexpr bool cnn_few_is_behind()
{
    return Halves == 1 && cnn_hopper_kind<Arithmetic>::parts > 1 && !Rounded;
}
enum { CNN_FEW_ISSUED = 2 }; // the barrier they wait at

// --- the other block of the cluster ----------------------------------------------------------------------------------

// Where something of this block's shared memory lies in block `rank`'s.
CNN_DEVICE uint32_t cnn_few_remote(const void *shared, unsigned rank)
{
    uint32_t remote;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(hopper_shared(shared)), "r"(rank));
    return remote;
}

// The other block's barrier counts them when they arrive, so that neither waits for anything else.
CNN_DEVICE void cnn_few_send(uint32_t remote, float4 four, uint32_t remote_barrier)
{
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(remote),
        "f"(four.x), "f"(four.y), "f"(four.z), "f"(four.w), "r"(remote_barrier)
        : "memory");
}
CNN_DEVICE void cnn_few_send(uint32_t remote, float2 two, uint32_t remote_barrier)
{
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(remote),
        "f"(two.x), "f"(two.y), "r"(remote_barrier)
        : "memory");
}

// When both blocks have come here, the other block has initialised its barriers; this orders nothing else.
CNN_DEVICE void cnn_few_arrive()
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
CNN_DEVICE void cnn_few_meet()
{
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

// --- weight warps ----------------------------------------------------------------------------------------------------

// Sixteen outputs by eight pixels of two rows, transposed.
template <typename Arithmetic, int Halves>
CNN_DEVICE void cnn_few_weight_load(uint32_t (&a)[cnn_hopper_kind<Arithmetic>::parts][4], const char *grad_at, int step)
{
    typedef cnn_few_tiles<Arithmetic, Halves> tiles;
#pragma unroll
    for (int part = 0; part < tiles::kind::parts; part++)
        ldmatrix_x4_transposed(a[part],
                               grad_at + part * tiles::GRAD_PART +
                                   (step / Halves * 2 * tiles::PITCH + step % Halves * CNN_HOPPER_HALF) * CNN_PART);
}

// sum (column of taps, 64 outputs, row of taps, 32 inputs) = over both halves' pixels, grad (pixel, output) * pooled
// (pixel + tap, input). A step is eight pixels of two rows, and the next one's are loaded while its products run.
template <typename Arithmetic>
CNN_DEVICE void cnn_few_weight_products(float (&sum)[CNN_HOPPER_TAPS][CNN_HOPPER_WEIGHT_SUMS], const char *shared,
                                        int warp, int lane)
{
    enum { HALVES = 2, STEPS = HALVES * CNN_SIDE1 / 2 };
    typedef cnn_few_tiles<Arithmetic, HALVES> tiles;
    typedef cnn_hopper_products<tiles::kind::parts> products;
    const char *grad_at = shared + tiles::GRAD_AT + (warp * 2 + (lane >> 3 & 1)) * tiles::GRAD_CHUNK +
                          ((lane >> 4) * tiles::PITCH + tiles::LEFT + (lane & 7)) * CNN_PART;
    const uint64_t b = cnn_hopper_descriptor(shared + tiles::POOLED_AT, tiles::POOLED_ROW, tiles::STRIP);
    uint32_t a[2][tiles::kind::parts][4];
    cnn_few_weight_load<Arithmetic, HALVES>(a[0], grad_at, 0);
#pragma unroll
    for (int column = 0; column < CNN_HOPPER_TAPS; column++)
        wgmma_settle(sum[column]);
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < products::count; i++)
#pragma unroll
            for (int column = 0; column < CNN_HOPPER_TAPS; column++)
                cnn_hopper_weight_product(
                    typename tiles::kind::element(), sum[column], a[step % 2][products::left(i)],
                    wgmma_descriptor_at(b, products::right(i) * tiles::POOLED_PART +
                                               step / HALVES * 2 * tiles::POOLED_ROW +
                                               (step % HALVES * CNN_HOPPER_HALF + column) * CNN_PART),
                    step > 0 || i > 0);
        wgmma_commit();
        if (step > 0)
            wgmma_wait<1>();
        if (step + 1 < STEPS)
            cnn_few_weight_load<Arithmetic, HALVES>(a[(step + 1) % 2], grad_at, step + 1);
    }
    wgmma_wait<0>();
#pragma unroll
    for (int column = 0; column < CNN_HOPPER_TAPS; column++)
        wgmma_settle(sum[column]);
}

// The same over one half's pixels, which all fit in registers: column by column of taps, so that one column's sums are
// sent while the next is multiplied. Issued here, and not waited for.
template <typename Arithmetic, bool Behind>
CNN_DEVICE void cnn_few_weight_columns(float (&sum)[CNN_HOPPER_TAPS][CNN_HOPPER_WEIGHT_SUMS], const char *shared,
                                       int warp, int lane)
{
    typedef cnn_few_tiles<Arithmetic, 1> tiles;
    typedef cnn_hopper_products<tiles::kind::parts> products;
    enum { STEPS = CNN_SIDE1 / 2, PARTS = tiles::kind::parts };
    const char *grad_at = shared + tiles::GRAD_AT + (warp * 2 + (lane >> 3 & 1)) * tiles::GRAD_CHUNK +
                          ((lane >> 4) * tiles::PITCH + tiles::LEFT + (lane & 7)) * CNN_PART;
    const uint64_t b = cnn_hopper_descriptor(shared + tiles::POOLED_AT, tiles::POOLED_ROW, tiles::STRIP);
    uint32_t a[STEPS][PARTS][4];
#pragma unroll
    for (int step = 0; step < STEPS; step++)
        cnn_few_weight_load<Arithmetic, 1>(a[step], grad_at, step);
    if (Behind)
        __barrier_sync_count(CNN_FEW_ISSUED, tiles::THREADS);
#pragma unroll
    for (int column = 0; column < CNN_HOPPER_TAPS; column++)
        wgmma_settle(sum[column]);
    wgmma_fence();
#pragma unroll
    for (int column = 0; column < CNN_HOPPER_TAPS; column++) {
#pragma unroll
        for (int i = 0; i < STEPS * products::count; i++) {
            const int step = i / products::count, part = i % products::count;
            cnn_hopper_weight_product(typename tiles::kind::element(), sum[column], a[step][products::left(part)],
                                      wgmma_descriptor_at(b, products::right(part) * tiles::POOLED_PART +
                                                                 step * 2 * tiles::POOLED_ROW + column * CNN_PART),
                                      i > 0);
        }
        wgmma_commit();
    }
}

// Stores a thread's sums, divided by the operands' scales, to the image's partial gradient.
CNN_DEVICE void cnn_few_weight_store(float *partial, const float (&sum)[CNN_HOPPER_TAPS][CNN_HOPPER_WEIGHT_SUMS],
                                     float inverse)
{
    enum { TAP_SUMS = CNN_HOPPER_WEIGHT_SUMS / CNN_HOPPER_TAPS };
#pragma unroll
    for (int i = 0; i < CNN_TAPS * TAP_SUMS; i += 2) {
        const int tap = i / TAP_SUMS, at = i % TAP_SUMS;
        const float *two = sum[tap % 3] + tap / 3 * TAP_SUMS + at;
        *(float2 *)(partial + at / 2 % 2 * 8 * CNN_PATCH + tap * CNN_CHANNELS1 + at / 4 * 8) =
            make_float2(two[0] * inverse, two[1] * inverse);
    }
}

// The same with the sums of two blocks. Of a thread's 16 sums of a tap, the first eight are of inputs 0 to 15: block 0
// adds and stores those, block 1 the others. Four of them, number `i` of a column's, and where:
enum { CNN_FEW_COLUMN_FOURS = CNN_TAPS * 2 / CNN_HOPPER_TAPS };
CNN_DEVICE float4 cnn_few_weight_four(const float (&sum)[CNN_HOPPER_WEIGHT_SUMS], int i, bool upper)
{
    enum { TAP_SUMS = CNN_HOPPER_WEIGHT_SUMS / CNN_HOPPER_TAPS };
    const float *low = sum + i / 2 * TAP_SUMS + i % 2 * 4, *high = low + 8;
    return upper ? make_float4(high[0], high[1], high[2], high[3]) : make_float4(low[0], low[1], low[2], low[3]);
}
CNN_DEVICE int cnn_few_weight_received(int column, int i)
{
    return (column * CNN_FEW_COLUMN_FOURS + i) * HOPPER_WARPGROUP;
}

CNN_DEVICE void cnn_few_weight_send(const float (&sum)[CNN_HOPPER_WEIGHT_SUMS], const float4 *received,
                                    const uint64_t *barrier, int column, int rank)
{
    const uint32_t remote = cnn_few_remote(received, rank ^ 1), sent = cnn_few_remote(barrier, rank ^ 1);
#pragma unroll
    for (int i = 0; i < CNN_FEW_COLUMN_FOURS; i++)
        cnn_few_send(remote + cnn_few_weight_received(column, i) * (int)sizeof(float4),
                     cnn_few_weight_four(sum, i, rank == 0), sent);
}

CNN_DEVICE void cnn_few_weight_add(float *partial, const float (&sum)[CNN_HOPPER_WEIGHT_SUMS], const float4 *received,
                                   uint64_t *barrier, int column, float inverse, int rank)
{
    mbarrier_wait(barrier, 0);
#pragma unroll
    for (int i = 0; i < CNN_FEW_COLUMN_FOURS; i++) {
        const float4 own = cnn_few_weight_four(sum, i, rank == 1), more = received[cnn_few_weight_received(column, i)];
        float *to = partial + rank * 16 + (i / 2 * 3 + column) * CNN_CHANNELS1 + i % 2 * 8;
        *(float2 *)to = make_float2((own.x + more.x) * inverse, (own.y + more.y) * inverse);
        *(float2 *)(to + 8 * CNN_PATCH) = // of the output eight further on
            make_float2((own.z + more.z) * inverse, (own.w + more.w) * inverse);
    }
}

CNN_DEVICE void cnn_few_weight_exchange(float *partial, float (&sum)[CNN_HOPPER_TAPS][CNN_HOPPER_WEIGHT_SUMS],
                                        float4 *received, uint64_t *barriers, float inverse, int rank)
{
    wgmma_wait<2>();
    wgmma_settle(sum[0]);
    cnn_few_weight_send(sum[0], received, barriers, 0, rank);
    wgmma_wait<1>();
    wgmma_settle(sum[1]);
    cnn_few_weight_send(sum[1], received, barriers + 1, 1, rank);
    wgmma_wait<0>();
    wgmma_settle(sum[2]);
    cnn_few_weight_send(sum[2], received, barriers + 2, 2, rank);
#pragma unroll
    for (int column = 0; column < CNN_HOPPER_TAPS; column++)
        cnn_few_weight_add(partial, sum[column], received, barriers + column, column, inverse, rank);
}

template <typename Arithmetic, int Halves, bool Behind, typename Arguments>
CNN_DEVICE void cnn_few_weight_role(const Arguments &arguments, char *shared, cnn_few_barriers *barriers, float inverse,
                                    int rank, int warp, int lane)
{
    float sum[CNN_HOPPER_TAPS][CNN_HOPPER_WEIGHT_SUMS] = {};
    if constexpr (Halves == 2)
        cnn_few_weight_products<Arithmetic>(sum, shared, warp, lane);
    else
        cnn_few_weight_columns<Arithmetic, Behind>(sum, shared, warp, lane);
    float *partial = arguments.workspace.grad_conv2_partial + (size_t)blockIdx.x * CNN_CHANNELS2 * CNN_PATCH +
                     (warp * 16 + lane / 4) * CNN_PATCH + lane % 4 * 2;
    if constexpr (Halves == 2) {
        cnn_few_weight_store(partial, sum, inverse);
    } else {
        float4 *received = (float4 *)(shared + cnn_few_tiles<Arithmetic, Halves>::RECEIVED_AT) + warp * 32 + lane;
        cnn_few_weight_exchange(partial, sum, received, barriers->weight, inverse, rank);
    }
}

// --- data warps ------------------------------------------------------------------------------------------------------

// One of the products of sum (eight rows of eight pixels; row of taps, input) = over the columns of taps and outputs:
// of a column, `shift`, and 16 outputs from `chunk` on; `i` says of which parts.
template <typename Arithmetic, int Halves> struct cnn_few_data_factors {
    uint64_t a, b;
};
template <typename Arithmetic, int Halves>
CNN_DEVICE cnn_few_data_factors<Arithmetic, Halves> cnn_few_data_from(const char *shared, int group, int half)
{
    typedef cnn_few_tiles<Arithmetic, Halves> tiles;
    return {cnn_hopper_descriptor(shared + tiles::GRAD_AT +
                                      (group * 8 * tiles::PITCH + tiles::LEFT - 1 + half * CNN_HOPPER_HALF) * CNN_PART,
                                  tiles::GRAD_CHUNK, tiles::PITCH * CNN_PART),
            cnn_hopper_descriptor(shared + tiles::WEIGHT_AT, 8 * CNN_PART, tiles::WEIGHT_CHUNK)};
}
template <typename Arithmetic, int Halves>
CNN_DEVICE void cnn_few_data_product(float (&sum)[CNN_HOPPER_DATA_SUMS],
                                     const cnn_few_data_factors<Arithmetic, Halves> &from, int i, int shift, int chunk,
                                     bool add)
{
    typedef cnn_few_tiles<Arithmetic, Halves> tiles;
    typedef cnn_hopper_products<tiles::kind::parts> products;
    cnn_hopper_data_product_turned(
        typename tiles::kind::element(), sum,
        wgmma_descriptor_at(from.a,
                            products::left(i) * tiles::GRAD_PART + chunk * tiles::GRAD_CHUNK + shift * CNN_PART),
        wgmma_descriptor_at(from.b, products::right(i) * tiles::WEIGHT_PART + shift * 3 * tiles::WEIGHT_TAP +
                                        chunk * 8 * CNN_PART),
        add);
}

// Issues the first `Count` of the products of parts, all added by the tensor cores.
template <typename Arithmetic, int Halves, int Count>
CNN_DEVICE void cnn_few_data_products(float (&sum)[CNN_HOPPER_DATA_SUMS], const char *shared, int group, int half)
{
    const cnn_few_data_factors<Arithmetic, Halves> from = cnn_few_data_from<Arithmetic, Halves>(shared, group, half);
    wgmma_settle(sum);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < Count; i++)
#pragma unroll
        for (int shift = 0; shift < 3; shift++)
#pragma unroll
            for (int chunk = 0; chunk < CNN_HOPPER_CHUNKS2; chunk += 2)
                cnn_few_data_product(sum, from, i, shift, chunk, i > 0 || shift > 0 || chunk > 0);
    wgmma_commit();
}

// All of them, of two parts. Tensor cores truncate a sum where float32 would round it, so each product of the large
// parts is a separate sum, added to the others outside. The small products are thousands of times smaller: their
// truncation does not matter.
template <typename Arithmetic, int Halves>
CNN_DEVICE void cnn_few_data_rounded(float (&sum)[CNN_HOPPER_DATA_SUMS], const char *shared, int group, int half)
{
    enum { LARGE = cnn_hopper_products<2>::count - 1 };
    static_assert(cnn_few_tiles<Arithmetic, Halves>::kind::parts == 2, "of two parts");
    const cnn_few_data_factors<Arithmetic, Halves> from = cnn_few_data_from<Arithmetic, Halves>(shared, group, half);
    cnn_few_data_products<Arithmetic, Halves, LARGE>(sum, shared, group, half);
#pragma unroll
    for (int shift = 0; shift < 3; shift++)
#pragma unroll
        for (int chunk = 0; chunk < CNN_HOPPER_CHUNKS2; chunk += 2) {
            float one[CNN_HOPPER_DATA_SUMS];
            wgmma_settle(one);
            wgmma_fence();
            cnn_few_data_product(one, from, LARGE, shift, chunk, false);
            wgmma_commit();
            wgmma_wait<0>();
            wgmma_settle(one);
            wgmma_settle(sum);
#pragma unroll
            for (int i = 0; i < CNN_HOPPER_DATA_SUMS; i++)
                sum[i] += one[i];
        }
}

// The gradient of pooled1 of a warp's two rows, from its own sums and from those that the warps above and below leave
// in `exchange`: one third of a row's sums belongs to the row below it, one to the row above.
#define CNN_FEW_SUM(row, tap, i) sum[((tap)*4 + (i) / 2) * 4 + (row)*2 + (i) % 2]
CNN_DEVICE void cnn_few_data_rows(float (&out)[2][8], const float (&sum)[CNN_HOPPER_DATA_SUMS], float4 *exchange,
                                  int boundaries, int name, int warp, int lane)
{
    float4 *down = exchange + lane, *up = down + boundaries * 2 * 32; // [boundary][four of eight][lane]
#pragma unroll
    for (int i = 0; i < 2; i++) {
        if (warp < boundaries)
            down[(warp * 2 + i) * 32] = make_float4(CNN_FEW_SUM(1, 0, 4 * i), CNN_FEW_SUM(1, 0, 4 * i + 1),
                                                    CNN_FEW_SUM(1, 0, 4 * i + 2), CNN_FEW_SUM(1, 0, 4 * i + 3));
        if (warp > 0 && warp <= boundaries)
            up[((warp - 1) * 2 + i) * 32] = make_float4(CNN_FEW_SUM(0, 2, 4 * i), CNN_FEW_SUM(0, 2, 4 * i + 1),
                                                        CNN_FEW_SUM(0, 2, 4 * i + 2), CNN_FEW_SUM(0, 2, 4 * i + 3));
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        out[0][i] = CNN_FEW_SUM(0, 1, i) + CNN_FEW_SUM(1, 2, i);
        out[1][i] = CNN_FEW_SUM(1, 1, i) + CNN_FEW_SUM(0, 0, i);
    }
    __barrier_sync_count(name, 2 * HOPPER_WARPGROUP);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        float above[4] = {}, below[4] = {};
        if (warp > 0 && warp <= boundaries)
            cnn_load4(above, (const float *)&down[((warp - 1) * 2 + i) * 32]);
        if (warp < boundaries)
            cnn_load4(below, (const float *)&up[(warp * 2 + i) * 32]);
#pragma unroll
        for (int j = 0; j < 4; j++)
            out[0][4 * i + j] += above[j], out[1][4 * i + j] += below[j];
    }
}
#undef CNN_FEW_SUM

// Selectors of __byte_perm as in cnn_stem_selector, of the 2 × 8 windows that a warp has, for channels lane / 4 and 8
// more of each 16. ldmatrix gives a lane the codes of two neighbouring channels, which are not its own.
CNN_DEVICE void cnn_few_stem_selectors(uint32_t (&selector)[2][4], const char *codes, bool outside, int lane)
{
    const int from = lane / 8 * 4 + lane % 4; // has channels lane / 4 and its neighbour
    const uint32_t own = lane / 4 % 2 == 0 ? 0x4420 : 0x4431;
#pragma unroll
    for (int group = 0; group < 2; group++) {
        uint32_t code[2];
        ldmatrix_x2_transposed(code, codes + group * CNN_DATA_CHANNELS);
#pragma unroll
        for (int j = 0; j < 4; j++) { // the lower eight channels, the upper; of the second row
            const uint32_t two = __shfl_sync(0xffffffffu, code[j / 2], from + j % 2 * 16);
            selector[group][j] = __byte_perm(outside ? CNN_NO_WINNER * 0x01010101u : two, 0, own) * 0x11u;
        }
    }
}

// stem[group][set][tile] += conv1's sums of a warp's windows, as cnn_hopper_stem_rows, but with channels in order;
// `half`: of the image.
template <typename Arithmetic, int Halves>
CNN_DEVICE void cnn_few_stem_add(float (*stem)[cnn_hopper_stem_sets<Arithmetic>::COUNT][2][4], const float (&out)[2][8],
                                 const char *shared, int half, int warp, int lane)
{
    typedef cnn_few_tiles<Arithmetic, Halves> tiles;
    const int row = warp * 2 + (lane >> 3 & 1), tap = lane < 16 ? lane & 7 : CNN_TAPS - 1;
    const int local = Halves == 1 ? 0 : half;
    const char *codes =
        shared + tiles::CODES_AT + (row * tiles::PIXELS + local * CNN_HOPPER_HALF + (lane & 7)) * CNN_CHANNELS1;
    const char *pixels =
        shared + tiles::PLANES_AT + tap % 3 * CNN_PLANE + (row * 2 + tap / 3) * CNN_PLANE_ROW + half * CNN_PART;
    if (warp >= tiles::DATA_WARPS)
        return;
    uint32_t selector[2][4];
    cnn_few_stem_selectors(selector, codes, half == 1 && (lane & 3) == 3, lane);
    cnn_hopper_stem_products<Arithmetic>(stem, out, selector, pixels, lane);
}

// Adds the sums of all warps, in the order of their numbers. Of two blocks the second sends them to the first, which
// adds and stores.
template <typename Arithmetic, int Halves>
CNN_DEVICE void cnn_few_stem_end(float *partial, const float (*stem)[cnn_hopper_stem_sets<Arithmetic>::COUNT][2][4],
                                 char *shared, cnn_few_barriers *barriers, float inverse, int rank, int name, int warp,
                                 int lane)
{
    typedef cnn_few_tiles<Arithmetic, Halves> tiles;
    enum { SETS = cnn_hopper_stem_sets<Arithmetic>::COUNT };
    float2 *sums = (float2 *)(shared + tiles::STEM_AT), *received = sums + tiles::DATA_WARPS * tiles::STEM_SUMS / 2;
    if (warp < tiles::DATA_WARPS)
#pragma unroll
        for (int i = 0; i < 16; i += 2) { // two columns of a channel
            const int column = i / 4 % 2 * 8 + lane % 4 * 2;
            const int channel = i / 8 * CNN_DATA_CHANNELS + i / 2 % 2 * 8 + lane / 4;
            const float *one = &stem[i / 8][0][i / 4 % 2][i % 4], *other = &stem[i / 8][SETS - 1][i / 4 % 2][i % 4];
            if (column < CNN_STEM_SUMS)
                sums[(warp * tiles::STEM_SUMS + channel * CNN_STEM_SUMS + column) / 2] =
                    SETS > 1 ? make_float2(one[0] + other[0], one[1] + other[1]) : make_float2(one[0], one[1]);
        }
    __barrier_sync_count(name, 2 * HOPPER_WARPGROUP);
    const int i = warp * 32 + lane;
    if (i >= tiles::STEM_SUMS / 2)
        return;
    float2 total = make_float2(0.0f, 0.0f);
#pragma unroll
    for (int j = 0; j < tiles::DATA_WARPS; j++) {
        const float2 more = sums[j * tiles::STEM_SUMS / 2 + i];
        total.x += more.x, total.y += more.y;
    }
    if (Halves == 1 && rank == 1) {
        cnn_few_send(cnn_few_remote(received + i, 0), total, cnn_few_remote(&barriers->stem, 0));
        return;
    }
    if (Halves == 1) {
        mbarrier_wait(&barriers->stem, 0);
        total.x += received[i].x, total.y += received[i].y;
    }
    ((float2 *)partial)[i] = make_float2(total.x * inverse, total.y * inverse);
}

// The work of a data warpgroup. If its sums fit in registers, all products are issued first: those of the second half
// run while the first half is processed.
template <typename Arithmetic, int Halves, bool Rounded, typename Arguments>
CNN_DEVICE void cnn_few_data_role(const Arguments &arguments, char *shared, cnn_few_barriers *barriers, float inverse,
                                  int rank, int group, int warp, int lane)
{
    typedef cnn_few_tiles<Arithmetic, Halves> tiles;
    enum { NAME = 1, FIRST = tiles::kind::parts == 1 ? Halves : 1 }; // of a barrier; how many are issued first
    enum { PRODUCTS = cnn_hopper_products<tiles::kind::parts>::count };
    float stem[2][cnn_hopper_stem_sets<Arithmetic>::COUNT][2][4] = {}, sum[FIRST][CNN_HOPPER_DATA_SUMS] = {};
    mbarrier_wait(&barriers->loaded, 0);
    if constexpr (Rounded) {
        cnn_few_data_rounded<Arithmetic, Halves>(sum[0], shared, group, 0);
    } else {
#pragma unroll
        for (int half = 0; half < FIRST; half++)
            cnn_few_data_products<Arithmetic, Halves, PRODUCTS>(sum[half], shared, group, half);
    }
    if constexpr (cnn_few_is_behind<Arithmetic, Halves, Rounded>())
        hopper_arrive<CNN_FEW_ISSUED, tiles::THREADS>();
#pragma unroll
    for (int half = 0; half < Halves; half++) {
        float out[2][8];
        if (half >= FIRST)
            cnn_few_data_products<Arithmetic, Halves, PRODUCTS>(sum[half % FIRST], shared, group, half);
        if (half + 1 < FIRST)
            wgmma_wait<1>();
        else
            wgmma_wait<0>();
        wgmma_settle(sum[half % FIRST]);
        if (half > 0)
            __barrier_sync_count(NAME, 2 * HOPPER_WARPGROUP); // the first half's have been read
        cnn_few_data_rows(out, sum[half % FIRST], (float4 *)(shared + tiles::EXCHANGE_AT), tiles::DATA_WARPS - 1, NAME,
                          warp, lane);
        cnn_few_stem_add<Arithmetic, Halves>(stem, out, shared, Halves == 1 ? rank : half, warp, lane);
    }
    cnn_few_stem_end<Arithmetic, Halves>(arguments.workspace.stem_sums_partial +
                                             (size_t)blockIdx.x * CNN_CHANNELS1 * CNN_STEM_SUMS,
                                         stem, shared, barriers, inverse, rank, NAME, warp, lane);
}

// --- launch ----------------------------------------------------------------------------------------------------------

// `Rounded`: the data gradient's sums are rounded like float32, if a block has half of an image.
template <typename Arithmetic, int Halves, bool Rounded>
static __global__ void __cluster_dims__(1, 3 - Halves, 1)
    __launch_bounds__(cnn_few_tiles<Arithmetic, Halves>::THREADS, 1)
        cnn_backward_few(cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments)
{
    typedef cnn_few_tiles<Arithmetic, Halves> tiles;
    extern __shared__ __align__(128) char cnn_shared[];
    cnn_few_barriers *barriers = (cnn_few_barriers *)(cnn_shared + tiles::BARRIERS_AT);
    const int group = threadIdx.x / HOPPER_WARPGROUP, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    const int rank = blockIdx.y;
    if (threadIdx.x < 32)
        cnn_few_weight<Arithmetic, Halves>(arguments, cnn_shared, barriers);
    if (Halves == 1)
        cnn_few_arrive();
    cnn_few_first<Arithmetic> first;
    cnn_few_load<Arithmetic, Halves>(arguments, cnn_shared, rank, &first);
    if (Halves == 1)
        cnn_few_meet();
    heddle_wait_for_previous();
    heddle_release_next();
    cnn_few_gradient<Arithmetic, Halves>(arguments, cnn_shared, rank, &first);
    __syncthreads();
    const float weight_inverse = 1.0f / first.grad_scale / first.pooled_scale;
    const float data_inverse = 1.0f / first.grad_scale / (tiles::kind::scaled ? CNN_CONV2_SCALE : 1.0f);
    if (group == 0) {
        cnn_hopper_registers<tiles::WEIGHT_REGISTERS, tiles::REGISTERS>();
        cnn_few_weight_role<Arithmetic, Halves, cnn_few_is_behind<Arithmetic, Halves, Rounded>()>(
            arguments, cnn_shared, barriers, weight_inverse, rank, warp, lane);
    } else if (group < 3) {
        cnn_hopper_registers<tiles::DATA_REGISTERS, tiles::REGISTERS>();
        cnn_few_data_role<Arithmetic, Halves, Rounded>(arguments, cnn_shared, barriers, data_inverse, rank, group - 1,
                                                       (group - 1) * 4 + warp, lane);
    } else {
        cnn_hopper_registers<tiles::REST_REGISTERS, tiles::REGISTERS>();
    }
}

template <typename Arithmetic, int Halves, bool Rounded>
static cudaError_t
cnn_launch_few(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
               cudaStream_t stream)
{
    typedef cnn_few_tiles<Arithmetic, Halves> tiles;
    const cudaError_t error = cudaFuncSetAttribute(cnn_backward_few<Arithmetic, Halves, Rounded>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, tiles::BYTES);
    if (error != cudaSuccess)
        return error;
    return heddle_cuda_launch_dependent(cnn_backward_few<Arithmetic, Halves, Rounded>, dim3(arguments.n, 3 - Halves),
                                        dim3(tiles::THREADS), tiles::BYTES, stream, arguments);
}

// For no more images than blocks. A handful of images uses nearly fp32 (heddle_cnn_step_is_mnist_cnn_in_tf32), and
// waits for launches, not for sums.
template <typename Arithmetic>
static cudaError_t
cnn_launch_backward_few(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
                        cudaStream_t stream)
{
#if CUDART_VERSION >= 12010 // which has st.async
    if (2 * arguments.n <= arguments.multiprocessors) {
        if constexpr (cnn_hopper_kind<Arithmetic>::parts == 2)
            if (arguments.n < CNN_FEW_ROUNDED)
                return cnn_launch_few<Arithmetic, 1, true>(arguments, stream);
        return cnn_launch_few<Arithmetic, 1, false>(arguments, stream);
    }
#endif
    return cnn_launch_few<Arithmetic, 2, false>(arguments, stream);
}

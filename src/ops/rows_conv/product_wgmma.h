// The product behind rows_conv_forward and rows_conv_backward_data on Hopper: output rows = the sum over the filter's
// taps of shifted input rows times the tap's weights, as one kernel of wgmma and TMA.
//
// A frame of images is a matrix with one row per pixel and zero rows between images (rows_conv.h), so a tap is a shift
// by a number of rows. A block loads the rows of a tile once for 64 channels, with the rows before and after that the
// taps reach, and each tap's product reads them from another first row: wgmma takes an operand at any row of a swizzled
// tile, because the swizzle follows the address. So a 3x3 convolution loads its input once, not nine times.
//
// The products are transposed, 64 output channels by up to 256 rows: a wgmma of 256 columns reads the least shared
// memory for its work, and a thread then has many rows of two channels, so that a channel's sums stay in its registers.
//
// For the gradient of the input the weights are read as their transpose: a tile of 64 output channels by 64 columns has
// its columns, the channels of the result, where wgmma needs M (Turned 1).
//
// Two warpgroups multiply; three threads of a third load. The two have tiles of different rows (Share 0) or the two
// halves of 128 channels of the same rows (Share 1). Weights that fit are loaded once and stay resident; then
// warpgroups with their own tiles are independent, and one stores while the other multiplies. Other weights pass
// through a ring of stages.
//
// Pairs of fp16 (rows_pair) are multiplied as hi * hi' + (hi * lo' + lo * hi') / 2048, in three passes over the
// channels: both mixed products first, then the sums are scaled, then the product of the upper halves is added to them.
// Rows and weights are then tensors (row, plane, column), where a plane is all upper or all lower halves, so that what
// a load has beyond the last column of a plane is zero. Of 32 channels a load has both planes, and the passes over taps
// read one or the other half of the same rows.
//
// Bytes are loaded and multiplied as if two of them were one 16-bit element: all sizes in columns are then half of what
// they are in bytes, and only the instruction and its sums, which are int32, differ. Weights are loaded in another
// order of channels: of each 16, the even ones first. So a thread has two neighbours, which make one 16-bit element of
// the output.
//
// Limited by: the tensor cores if a frame has many rows; else by the time from the first load to the first product.
#pragma once

#include "ops/cuda/dependent.h"
#include "ops/cuda/element16.h"
#include "ops/cuda/wgmma16.h"

enum {
    ROWS_CHUNK = 64, // channels of one load: 128 bytes of 16-bit elements
    ROWS_STEP = 16,  // channels of one wgmma
    ROWS_MOST_TAPS = 25,
    ROWS_WARPGROUPS = 2, // that multiply
    ROWS_MOST_WEIGHTS = 20,
    ROWS_MOST_INPUTS = 8,
    ROWS_THREADS = (1 + ROWS_WARPGROUPS) * HOPPER_WARPGROUP,
    ROWS_PRODUCER_REGISTERS = 40,
    ROWS_CONSUMER_REGISTERS = 232,
    ROWS_BOX_BYTES = 64 * HOPPER_ROW_BYTES, // 64 rows of 64 channels
    ROWS_OUT_BOXES = 2,                     // staged for the store, per warpgroup
};

// What wgmma multiplies, and whether rows are pairs of them.
template <typename Element> struct rows_factor {
    typedef Element type;
    typedef float sum;
    enum { PAIRS = 0, PLANES = 1, BYTES = 0 };
};
template <> struct rows_factor<rows_pair> {
    typedef __half type;
    typedef float sum;
    enum { PAIRS = 1, PLANES = 2, BYTES = 0 };
};
template <> struct rows_factor<int8_t> {
    typedef int8_t type;
    typedef int sum;
    enum { PAIRS = 0, PLANES = 1, BYTES = 1 };
};

// What loads take rows and weights for. Pairs of 32 channels, which Steps 2 means, are fp16 of 64: a load has both
// planes side by side.
template <typename Element, int Steps> struct rows_loads {
    typedef Element type;
    enum { JOINED = 0, PAIRS = rows_factor<Element>::PAIRS, PLANES = rows_factor<Element>::PLANES };
};
template <> struct rows_loads<rows_pair, 2> {
    typedef __half type;
    enum { JOINED = 1, PAIRS = 0, PLANES = 1 };
};

// The work of a launch, and how its blocks share it. Filled by the host.
struct rows_product {
    int rows, c, k;                  // of the frame; channels in and out
    int chunks, taps;                // of 64 channels; of the filter
    int first;                       // the smallest shift
    int box_rows, boxes;             // how TMA loads the rows of one load
    int input_stages, weight_stages; // the first for each ring
    int resident;                    // every weight has its own stage
    int tiles, channel_tiles;        // of the output
    int pitch, image_rows;           // rows of the frame from line to line, from image to image
    int out_h, out_w;                // lines and columns of an image that hold results
    int span, parts, part_rows;      // where results are pooled: rows from tile to tile, or from part to part of a span
    int shift[ROWS_MOST_TAPS];
};

struct rows_product_barriers {
    uint64_t weights_full[ROWS_MOST_WEIGHTS], weights_empty[ROWS_MOST_WEIGHTS];
    uint64_t input_full[ROWS_WARPGROUPS][ROWS_MOST_INPUTS], input_empty[ROWS_WARPGROUPS][ROWS_MOST_INPUTS];
};

// A place in a ring of stages.
struct rows_stage {
    int index;
    unsigned phase;
};

HOPPER_DEVICE void rows_advance(rows_stage *at, int stages)
{
    if (++at->index == stages) {
        at->index = 0;
        at->phase ^= 1;
    }
}

// The tiles of a block: one of the channel tiles, and every n-th of the row tiles.
struct rows_block {
    int channel, group, groups, rounds;
};

template <int Share> HOPPER_DEVICE rows_block rows_block_of(const rows_product &job)
{
    const int steps = Share ? job.tiles : (job.tiles + ROWS_WARPGROUPS - 1) / ROWS_WARPGROUPS;
    rows_block block;
    block.channel = blockIdx.x % job.channel_tiles * (Share ? 128 : 64);
    block.group = blockIdx.x / job.channel_tiles;
    block.groups = gridDim.x / job.channel_tiles;
    block.rounds = block.group < steps ? (steps - block.group + block.groups - 1) / block.groups : 0;
    return block;
}

// The row tile of a round. Beyond the last one all rows are zero and none is stored.
template <int Share> HOPPER_DEVICE int rows_tile_of(const rows_block &block, int round, int warpgroup)
{
    const int step = block.group + round * block.groups;
    return Share ? step : step * ROWS_WARPGROUPS + warpgroup;
}

// The first row of a tile. Tiles for pooling are whole images or lines.
template <int Rows, bool Pools> HOPPER_DEVICE int rows_first_of(const rows_product &job, int tile)
{
    return Pools ? tile / job.parts * job.span + tile % job.parts * job.part_rows : tile * Rows;
}

HOPPER_DEVICE bool rows_holds_result(const rows_product &job, int row)
{
    const int in_image = row % job.image_rows;
    return row < job.rows && in_image / job.pitch < job.out_h && in_image % job.pitch < job.out_w;
}

// A matrix whose rows are taps of so many columns; with pairs a tensor (rows, planes, columns), two planes per tap.
// Both types have 16 bits, and loads and stores do not convert them.
template <typename Element>
static heddle_status rows_map(CUtensorMap *map, const void *matrix, int rows, int taps, int columns, unsigned box_rows)
{
    const CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    if (!rows_factor<Element>::PAIRS)
        return tma_map(map, type, sizeof(uint16_t), matrix, rows, (long long)taps * columns, box_rows);
    const cuuint64_t plane = columns * sizeof(uint16_t), planes = 2 * (cuuint64_t)taps;
    const cuuint64_t size[3] = {(cuuint64_t)columns, planes, (cuuint64_t)rows}, pitch[2] = {plane, planes * plane};
    const cuuint32_t box[3] = {ROWS_CHUNK, 1, box_rows};
    return tma_map_boxes(map, type, matrix, 3, size, pitch, box, CU_TENSOR_MAP_SWIZZLE_128B);
}

// Bytes of weights (channels, taps, columns), two as one element: of every 16 channels the even ones first.
enum { ROWS_WEAVE = 16 };

static inline heddle_status rows_map_woven(CUtensorMap *map, const void *weight, int channels, int taps, int columns,
                                           unsigned box_rows)
{
    const cuuint64_t tap = columns * sizeof(uint16_t), channel = taps * tap;
    const cuuint64_t size[5] = {(cuuint64_t)columns, (cuuint64_t)taps, ROWS_WEAVE / 2, 2,
                                (cuuint64_t)(channels / ROWS_WEAVE)};
    const cuuint64_t pitch[4] = {tap, 2 * channel, channel, ROWS_WEAVE * channel};
    const cuuint32_t box[5] = {ROWS_CHUNK, 1, ROWS_WEAVE / 2, 2, box_rows / ROWS_WEAVE};
    return tma_map_boxes(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, weight, 5, size, pitch, box,
                         CU_TENSOR_MAP_SWIZZLE_128B);
}

// --- loading ---------------------------------------------------------------------------------------------------------

// The passes over pairs: of which operand the lower halves are read. The other one has the weights, or grad_output.
enum { ROWS_OTHER_LOWER, ROWS_INPUT_LOWER, ROWS_NONE_LOWER, ROWS_PASSES };

// A box of a matrix whose rows are taps, `width` columns each. Pairs: a tensor with two planes per tap; `lower` is the
// second.
template <int Pairs>
HOPPER_DEVICE void rows_load_box(void *stage, const CUtensorMap *map, int width, int tap, int lower, int column,
                                 int row, uint64_t *full)
{
    if (Pairs)
        tma_load3(stage, map, column, 2 * tap + lower, row, full);
    else
        tma_load(stage, map, tap * width + column, row, full);
}

// The weights of one tap and chunk: 64 rows of channels, or, if transposed, 64 columns, for each warpgroup's share.
template <int Share, int Turned, int Pairs, int Bytes>
HOPPER_DEVICE void rows_load_weight(const rows_product &job, const CUtensorMap *map, unsigned char *stage, int channel,
                                    int chunk, int tap, int lower, uint64_t *full)
{
    if (Bytes)
        tma_load5(stage, map, chunk * ROWS_CHUNK, tap, 0, 0, channel / ROWS_WEAVE, full);
    else if (!Turned)
        rows_load_box<Pairs>(stage, map, job.c, tap, lower, chunk * ROWS_CHUNK, channel, full);
#pragma unroll
    for (int half = 0; Turned && half < (Share ? 2 : 1); half++)
        rows_load_box<Pairs>(stage + half * ROWS_BOX_BYTES, map, job.k, tap, lower, channel + half * 64,
                             chunk * ROWS_CHUNK, full);
}

// Resident weights are loaded once, by the first passes: those of the last pass are there.
template <int Share, int Turned, int Pairs, int Bytes>
HOPPER_DEVICE void rows_load_weights(const rows_product &job, const rows_block &block, const CUtensorMap *map,
                                     unsigned char *stages, rows_product_barriers *barriers)
{
    const int bytes = (Share ? 2 : 1) * ROWS_BOX_BYTES;
    rows_stage at = {0, 0};
    const int passes = Pairs ? job.resident ? (int)ROWS_NONE_LOWER : (int)ROWS_PASSES : 1;
    for (int round = 0; round < (job.resident && block.rounds ? 1 : block.rounds); round++)
        for (int pass = 0; pass < passes; pass++)
            for (int chunk = 0; chunk < job.chunks; chunk++)
                for (int tap = 0; tap < job.taps; tap++) {
                    mbarrier_wait(&barriers->weights_empty[at.index], at.phase ^ 1);
                    mbarrier_arrive_expect(&barriers->weights_full[at.index], bytes);
                    rows_load_weight<Share, Turned, Pairs, Bytes>(job, map, stages + at.index * bytes, block.channel,
                                                                  chunk, tap, pass == ROWS_OTHER_LOWER,
                                                                  &barriers->weights_full[at.index]);
                    rows_advance(&at, job.weight_stages);
                }
}

// The rows of the tiles of one warpgroup, or of both if they share them.
template <int Rows, int Share, int Pairs, bool Pools>
HOPPER_DEVICE void rows_load_input(const rows_product &job, const rows_block &block, const CUtensorMap *map,
                                   unsigned char *stages, rows_product_barriers *barriers, int warpgroup)
{
    const int box_bytes = job.box_rows * HOPPER_ROW_BYTES;
    rows_stage at = {0, 0};
    for (int round = 0; round < block.rounds; round++) {
        const int row = rows_first_of<Rows, Pools>(job, rows_tile_of<Share>(block, round, warpgroup)) + job.first;
        for (int pass = 0; pass < (Pairs ? (int)ROWS_PASSES : 1); pass++)
            for (int chunk = 0; chunk < job.chunks; chunk++) {
                uint64_t *full = &barriers->input_full[warpgroup][at.index];
                mbarrier_wait(&barriers->input_empty[warpgroup][at.index], at.phase ^ 1);
                mbarrier_arrive_expect(full, job.boxes * box_bytes);
                for (int box = 0; box < job.boxes; box++)
                    rows_load_box<Pairs>(stages + (at.index * job.boxes + box) * box_bytes, map, 0, 0,
                                         pass == ROWS_INPUT_LOWER, chunk * ROWS_CHUNK, row + box * job.box_rows, full);
                rows_advance(&at, job.input_stages);
            }
    }
}

// --- multiplying -----------------------------------------------------------------------------------------------------

// What a warpgroup reads, and the stages it has yet to release: their products were issued but have not finished.
struct rows_reader {
    const unsigned char *inputs, *weights;
    rows_product_barriers *barriers;
    int ring;
    rows_stage input, weight;
    int used_input, used_weight; // -1: none
};

HOPPER_DEVICE void rows_release(const rows_product &job, rows_reader *from)
{
    if (threadIdx.x % HOPPER_WARPGROUP == 0) {
        if (from->used_weight >= 0 && !job.resident)
            mbarrier_arrive(&from->barriers->weights_empty[from->used_weight]);
        if (from->used_input >= 0)
            mbarrier_arrive(&from->barriers->input_empty[from->ring][from->used_input]);
    }
    from->used_input = from->used_weight = -1;
}

// The products of some taps of the chunk that is being read, Steps times 16 channels of each; all but the last are
// done. `begun`: the sums are added to.
template <typename Element, int Rows, int Share, int Steps, int Turned>
HOPPER_DEVICE void rows_multiply_taps(const rows_product &job, typename rows_factor<Element>::sum (&sums)[Rows / 2],
                                      rows_reader *from, int first, int end, int begun)
{
    const int weight_bytes = (Share ? 2 : 1) * ROWS_BOX_BYTES, along = ROWS_STEP * (Turned ? (int)HOPPER_ROW_BYTES : 2);
    const unsigned char *input = from->inputs + from->input.index * job.boxes * job.box_rows * HOPPER_ROW_BYTES;
    for (int tap = first; tap < end; tap++) {
        const uint64_t a = wgmma_descriptor(from->weights + from->weight.index * weight_bytes, 0);
        const uint64_t b = wgmma_descriptor(input + (job.shift[tap] - job.first) * HOPPER_ROW_BYTES, 0);
        mbarrier_wait(&from->barriers->weights_full[from->weight.index], job.resident ? 0 : from->weight.phase);
        wgmma_fence();
#pragma unroll
        for (int step = 0; step < Steps; step++)
            wgmma16<Rows, typename rows_factor<Element>::type>::template multiply<Turned, 0>(
                sums, wgmma_descriptor_at(a, step * along), wgmma_descriptor_at(b, step * ROWS_STEP * 2),
                begun + tap + step > 0);
        wgmma_commit();
        wgmma_wait<1>();
        rows_release(job, from);
        from->used_weight = from->weight.index;
        rows_advance(&from->weight, job.weight_stages);
    }
}

HOPPER_DEVICE void rows_wait_for_chunk(const rows_reader *from)
{
    mbarrier_wait(&from->barriers->input_full[from->ring][from->input.index], from->input.phase);
}

HOPPER_DEVICE void rows_leave_chunk(const rows_product &job, rows_reader *from)
{
    from->used_input = from->input.index;
    rows_advance(&from->input, job.input_stages);
}

// Those of all taps of so many chunks.
template <typename Element, int Rows, int Share, int Steps, int Turned>
HOPPER_DEVICE void rows_multiply_chunks(const rows_product &job, typename rows_factor<Element>::sum (&sums)[Rows / 2],
                                        rows_reader *from, int chunks, int begun)
{
    for (int chunk = 0; chunk < chunks; chunk++) {
        rows_wait_for_chunk(from);
        rows_multiply_taps<Element, Rows, Share, Steps, Turned>(job, sums, from, 0, job.taps, begun + chunk);
        rows_leave_chunk(job, from);
    }
}

template <int Count> HOPPER_DEVICE void rows_scale_sums(float (&sums)[Count], float scale)
{
    wgmma_settle(sums);
#pragma unroll
    for (int i = 0; i < Count; i++)
        sums[i] *= scale;
    wgmma_settle(sums);
}

// All products of one tile with both planes in each load: the mixed ones, then those of the upper halves. Weights are
// resident.
template <typename Element, int Rows, int Steps>
HOPPER_DEVICE void rows_multiply_joined(const rows_product &job, float (&sums)[Rows / 2], rows_reader *from)
{
    typedef wgmma16<Rows, typename rows_factor<Element>::type> product;
    const int lower = Steps * ROWS_STEP * 2; // bytes
    const unsigned char *input = from->inputs + from->input.index * job.boxes * job.box_rows * HOPPER_ROW_BYTES;
    mbarrier_wait(&from->barriers->input_full[from->ring][from->input.index], from->input.phase);
#pragma unroll
    for (int mixed = 1; mixed >= 0; mixed--) {
        for (int tap = 0; tap < job.taps; tap++) {
            const uint64_t a = wgmma_descriptor(from->weights + tap * ROWS_BOX_BYTES, 0);
            const uint64_t b = wgmma_descriptor(input + (job.shift[tap] - job.first) * HOPPER_ROW_BYTES, 0);
            mbarrier_wait(&from->barriers->weights_full[tap], 0);
            wgmma_fence();
#pragma unroll
            for (int step = 0; step < Steps; step++) {
                const int at = step * ROWS_STEP * 2;
                product::template multiply<0, 0>(sums, wgmma_descriptor_at(a, at + mixed * lower),
                                                 wgmma_descriptor_at(b, at), !mixed || tap + step > 0);
                if (mixed)
                    product::template multiply<0, 0>(sums, wgmma_descriptor_at(a, at),
                                                     wgmma_descriptor_at(b, at + lower), 1);
            }
            wgmma_commit();
            wgmma_wait<1>();
        }
        wgmma_wait<0>();
        if (mixed)
            rows_scale_sums(sums, rows_pair_unscale);
    }
    from->used_input = from->input.index;
    rows_release(job, from);
    rows_advance(&from->input, job.input_stages);
}

// Tensor cores cut off what float32 would round, the more the longer a sum. The gradient of a batchnorm's bias, a sum
// in which almost everything cancels, shows that. So for gradients of pairs' rows, the products of upper halves are
// summed in parts, which are added outside the tensor cores.
template <typename Element, int Turned> struct rows_sums {
    enum { IN_PARTS = rows_factor<Element>::PAIRS && Turned };
};

enum { ROWS_PART = 5 }; // products of one tap and chunk: two parts of a 3x3 filter

template <typename Element, int Rows, int Share, int Steps, int Turned>
HOPPER_DEVICE void rows_multiply_in_parts(const rows_product &job, float (&sums)[Rows / 2], rows_reader *from)
{
    float kept[Rows / 2] = {};
    int room = ROWS_PART;
    for (int chunk = 0; chunk < job.chunks; chunk++) {
        rows_wait_for_chunk(from);
        for (int tap = 0; tap < job.taps;) {
            const int end = min(job.taps, tap + room);
            rows_multiply_taps<Element, Rows, Share, Steps, Turned>(job, sums, from, tap, end, 1);
            room -= end - tap;
            tap = end;
            if (room == 0) {
                wgmma_wait<0>();
                rows_release(job, from);
                wgmma_settle(sums);
#pragma unroll
                for (int i = 0; i < Rows / 2; i++)
                    kept[i] += sums[i];
                rows_scale_sums(sums, 0.0f); // begun in any other way, the products are serialised by ptxas
                room = ROWS_PART;
            }
        }
        rows_leave_chunk(job, from);
    }
    wgmma_wait<0>();
    rows_release(job, from);
    wgmma_settle(sums);
#pragma unroll
    for (int i = 0; i < Rows / 2; i++)
        sums[i] += kept[i];
}

// All products of one tile: sums (64 channels, Rows).
template <typename Element, int Rows, int Share, int Steps, int Turned>
HOPPER_DEVICE void rows_multiply(const rows_product &job, typename rows_factor<Element>::sum (&sums)[Rows / 2],
                                 rows_reader *from)
{
    const int pairs = rows_factor<Element>::PAIRS;
    if constexpr (rows_loads<Element, Steps>::JOINED) {
        rows_multiply_joined<Element, Rows, Steps>(job, sums, from);
        return;
    }
    if constexpr (rows_factor<Element>::PAIRS) {
        rows_multiply_chunks<Element, Rows, Share, Steps, Turned>(job, sums, from, ROWS_NONE_LOWER * job.chunks, 0);
        wgmma_wait<0>();
        rows_release(job, from);
        rows_scale_sums(sums, rows_pair_unscale);
        if (job.resident) // the upper halves again
            from->weight.index = job.chunks * job.taps;
    }
    if constexpr (rows_sums<Element, Turned>::IN_PARTS) {
        rows_multiply_in_parts<Element, Rows, Share, Steps, Turned>(job, sums, from);
    } else {
        rows_multiply_chunks<Element, Rows, Share, Steps, Turned>(job, sums, from, job.chunks, pairs);
        wgmma_wait<0>();
        rows_release(job, from);
    }
}

// conv1 with relu and pooling in forward_wgmma.h: forward_stem.h's, with products issued by four warps together.
//
// Pooled rows are taken as 16 windows wide, the last two outside: eight windows per warp, and the next turn's are a
// fixed number of rows further down, so that no address is computed twice. A turn's products run while the windows of
// the turn before are pooled.
#pragma once

#include "ops/cnn_step/forward_stem.h"
#include "ops/cnn_step/forward_wgmma_products.h"

// What a lane reads in turn `turn`: patches of the windows' upper outputs, and of their lower ones. `last_step` is how
// far `last` moves per turn.
template <int TurnRows>
CNN_DEVICE void cnn_wgmma_patches(uint32_t (&above)[4], uint32_t (&below)[4], const uint32_t *first,
                                  const uint32_t *last, int turn)
{
    first += turn * 2 * TurnRows * CNN_STEM_PITCH;
    above[0] = first[0], above[1] = first[CNN_STEM_COPY], above[2] = last[0], above[3] = last[CNN_STEM_COPY];
    below[0] = first[CNN_STEM_PITCH], below[1] = first[CNN_STEM_COPY + CNN_STEM_PITCH];
    below[2] = last[CNN_STEM_PITCH], below[3] = last[CNN_STEM_COPY + CNN_STEM_PITCH];
}

// Stores if `inside`, without a branch: in a branch no product may be in flight.
CNN_DEVICE void cnn_store_inside_shared(void *to, bool inside, uint4 four)
{
    asm volatile("{\n\t"
                 ".reg .pred inside;\n\t"
                 "setp.ne.b32 inside, %5, 0;\n\t"
                 "@inside st.shared.v4.b32 [%0], {%1, %2, %3, %4};\n\t"
                 "}" ::"r"(hopper_shared(to)),
                 "r"(four.x), "r"(four.y), "r"(four.z), "r"(four.w), "r"((int)inside)
                 : "memory");
}
CNN_DEVICE void cnn_store_inside_global(void *to, bool inside, uint4 four)
{
    asm volatile("{\n\t"
                 ".reg .pred inside;\n\t"
                 "setp.ne.b32 inside, %5, 0;\n\t"
                 "@inside st.global.v4.b32 [%0], {%1, %2, %3, %4};\n\t"
                 "}" ::"l"(to),
                 "r"(four.x), "r"(four.y), "r"(four.z), "r"(four.w), "r"((int)inside)
                 : "memory");
}
CNN_DEVICE void cnn_store_inside_global(void *to, bool inside, uint2 two)
{
    asm volatile("{\n\t"
                 ".reg .pred inside;\n\t"
                 "setp.ne.b32 inside, %3, 0;\n\t"
                 "@inside st.global.v2.b32 [%0], {%1, %2};\n\t"
                 "}" ::"l"(to),
                 "r"(two.x), "r"(two.y), "r"((int)inside)
                 : "memory");
}

// Eight channels of a pooled pixel, to shared and to global memory: rounded, or times `scale` as half.
template <typename Arithmetic, typename Narrow>
CNN_DEVICE void cnn_wgmma_stem_store(Narrow *tile, Narrow *pooled, const float values[8], float scale, bool inside)
{
    float scaled[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        scaled[i] = std::is_same<Narrow, typename Arithmetic::operand>::value ? values[i] : values[i] * scale;
    const uint4 eight = cnn_eight<Narrow>(scaled);
    cnn_store_inside_shared(tile, inside, eight);
    cnn_store_inside_global(pooled, inside, eight);
}

// Pooled image `image` from `stem`, into `tile` and global memory, by four warps of which this is number `warp`.
template <typename Arithmetic, typename Arguments, typename Element, typename Weight>
CNN_DEVICE void cnn_wgmma_stem_forward(const Arguments &arguments, int image, const uint32_t *stem, Element *tile,
                                       const Weight &weight, int warp)
{
    typedef cnn_tile<Element> Tile;
    enum { TURN_ROWS = 2, TURNS = CNN_SIDE1 / TURN_ROWS };
    const int lane = threadIdx.x % 32, t = lane % 4, mask = cnn_stem_mask(arguments.n >> 31);
    const int x = warp % 2 * 8 + lane / 4, y = warp / 2, corner = 2 * y * CNN_STEM_PITCH + x;
    const bool inside = x < CNN_SIDE1;
    const uint32_t *first = stem + corner + t / 2 * CNN_STEM_PITCH + t % 2; // rows 0 and 1 of the patch
    const uint32_t *last = stem + (t < 2 ? corner + 2 * CNN_STEM_PITCH + t : (int)CNN_STEM_ONES); // row 2, or ones
    const int last_step = t < 2 ? 2 * TURN_ROWS * CNN_STEM_PITCH : 0;
    Element *to_tile = tile + ((y + 1) * CNN_TILE_SIDE + x + 1) * Tile::pixel + t * Tile::eight;
    const size_t at = ((size_t)image * CNN_PIXELS1 + y * CNN_SIDE1 + x) * CNN_CHANNELS1 + t * 8;
    Element *to_pooled = (Element *)arguments.workspace.pooled1 + at;
    uint8_t *to_code = arguments.workspace.code1 + at;
    uint32_t above[2][4], below[2][4];
    float z[2][2][CNN_STEM_OUTPUTS]; // [turn % 2]: positions 0 1 of the windows are above, 2 3 below
    cnn_wgmma_patches<TURN_ROWS>(above[0], below[0], first, last, 0);
    weight.issue(z[0][0], z[0][1], above[0], below[0]);
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
        const int now = turn % 2, next = (turn + 1) % 2, pixels = turn * TURN_ROWS * CNN_SIDE1;
        last += last_step;
        if (turn + 1 < TURNS)
            cnn_wgmma_patches<TURN_ROWS>(above[next], below[next], first, last, turn + 1);
        wgmma_wait<0>();
        wgmma_settle(z[now][0]), wgmma_settle(z[now][1]);
        if (turn + 1 < TURNS)
            weight.issue(z[next][0], z[next][1], above[next], below[next]);
        float pooled[8];
        uint32_t codes[2];
        cnn_stem_pool(Arithmetic(), pooled, codes, z[now], mask);
        cnn_wgmma_stem_store<Arithmetic>(to_tile + turn * TURN_ROWS * CNN_TILE_SIDE * Tile::pixel,
                                         to_pooled + pixels * CNN_CHANNELS1, pooled, weight.scale, inside);
        cnn_store_inside_global(to_code + pixels * CNN_CHANNELS1, inside, make_uint2(codes[0], codes[1]));
    }
}

// Windows `first` up to `end` of image `image`, eight per warp of the block.
template <typename Arithmetic, typename Arguments, typename Element, typename Weight>
CNN_DEVICE void cnn_wgmma_stem_some(const Arguments &arguments, int image, const uint32_t *stem, Element *tile,
                                    const Weight &weight, int first, int end)
{
    typedef cnn_tile<Element> Tile;
    const int lane = threadIdx.x % 32, t = lane % 4, mask = cnn_stem_mask(arguments.n >> 31);
    const int window = first + threadIdx.x / 32 * 8 + lane / 4, y = window / CNN_SIDE1, x = window % CNN_SIDE1;
    const int corner = window < end ? 2 * y * CNN_STEM_PITCH + x : 0;
    const uint32_t *upper = stem + corner + t / 2 * CNN_STEM_PITCH + t % 2;
    const uint32_t *last = stem + (t < 2 ? corner + 2 * CNN_STEM_PITCH + t : (int)CNN_STEM_ONES);
    uint32_t above[4], below[4], codes[2];
    cnn_wgmma_patches<0>(above, below, upper, last, 0);
    float z[2][CNN_STEM_OUTPUTS], pooled[8];
    weight.multiply(z[0], z[1], above, below);
    cnn_stem_pool(Arithmetic(), pooled, codes, z, mask);
    if (window >= end)
        return;
    const size_t at = ((size_t)image * CNN_PIXELS1 + window) * CNN_CHANNELS1 + t * 8;
    Element *to_tile = tile + ((y + 1) * CNN_TILE_SIDE + x + 1) * Tile::pixel + t * Tile::eight;
    Element *to_pooled = (Element *)arguments.workspace.pooled1 + at;
    if constexpr (std::is_same<Element, typename Arithmetic::operand>::value)
        cnn_stem_store(to_tile, to_pooled, pooled);
    else
        cnn_stem_store_halves<Arithmetic>(to_tile, to_pooled, (size_t)arguments.n * CNN_PIXELS1 * CNN_CHANNELS1, pooled,
                                          weight.scale);
    *(uint2 *)(arguments.workspace.code1 + at) = make_uint2(codes[0], codes[1]);
}

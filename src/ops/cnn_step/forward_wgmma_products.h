// Products of forward_wgmma.h: conv1 and conv2 by wgmma.
//
// Both operands of conv2, and the weight of conv1, lie in shared memory in chunks of 16 bytes along K: chunk k of a
// matrix, for all its rows, then chunk k + 1. A row of the pooled image is a pixel, so a tap is another start address.
//
// conv1's products are forward_stem.h's, but issued by four warps together, 16 outputs each, with the patches in
// registers as there. One of them covers all 32 channels. That matters beside conv2's: the tensor cores alternate
// between warps, and a warp with many small products waits many times for a large one.
#pragma once

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/forward_stem.h"
#include "ops/cnn_step/layout.h"
#include "ops/cnn_step/prepare.h"
#include "ops/cuda/hopper.h"

enum {
    CNN_WGMMA_UPPER = 8,                               // rows of an image in a product, or the CNN_SIDE1 - 8 others
    CNN_WGMMA_QUARTER = 4,                             // the same if two blocks share an image
    CNN_WGMMA_CHUNK = 16,                              // bytes
    CNN_STEM_DEPTH = 16,                               // K of conv1: nine taps, the bias, and padding
    CNN_STEM_CHUNK = 8,                                // of these in a chunk
    CNN_STEM_OPERAND = CNN_CHANNELS1 * CNN_STEM_DEPTH, // elements of a part of conv1's weight
};

// The descriptor of an operand in chunks: `distance` bytes from one chunk to the next, eight rows of one chunk
// adjacent. This is the lower half of a descriptor; the upper one is the same for all. All threads of a warp have the
// same value: declared so, it stays in the registers that wgmma needs it in.
CNN_DEVICE uint32_t cnn_wgmma_place(const void *shared, unsigned distance)
{
    return __shfl_sync(0xffffffffu, (hopper_shared(shared) & 0x3ffff) >> 4 | (distance >> 4) << 16, 0);
}

// The whole descriptor of what lies `bytes` further on.
CNN_DEVICE uint64_t cnn_wgmma_descriptor(uint32_t place, unsigned bytes)
{
    const uint64_t eight_rows = 8 * CNN_WGMMA_CHUNK;
    return eight_rows >> 4 << 32 | (place + (bytes >> 4));
}

// --- conv2 -----------------------------------------------------------------------------------------------------------

#define CNN_WGMMA_UPPER_NAMES HOPPER_D64_NAMES ", %64, %65, add, 1, 1"
#define CNN_WGMMA_LOWER_NAMES                                                                                          \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "  \
    "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "   \
    "%46, %47}, %48, %49, add, 1, 1"
#define CNN_WGMMA(type, count, instruction, transposed, names, add_name, outputs)                                      \
    CNN_DEVICE void cnn_wgmma(type, float(&d)[count], uint64_t a, uint64_t b, int add)                                 \
    {                                                                                                                  \
        asm volatile("{\n\t"                                                                                           \
                     ".reg .pred add;\n\t"                                                                             \
                     "setp.ne.b32 add, " add_name ", 0;\n\t"                                                           \
                     "wgmma.mma_async.sync.aligned." instruction " " names transposed ";\n\t"                          \
                     "}"                                                                                               \
                     : outputs                                                                                         \
                     : "l"(a), "l"(b), "r"(add));                                                                      \
    }
#define CNN_WGMMA_BOTH(type, shape, types, transposed)                                                                 \
    CNN_WGMMA(type, 64, "m64n128" shape types, transposed, CNN_WGMMA_UPPER_NAMES, "%66", HOPPER_D64(d, 0))             \
    CNN_WGMMA(type, 48, "m64n96" shape types, transposed, CNN_WGMMA_LOWER_NAMES, "%50", CNN_WGMMA_LOWER_OUTPUTS)       \
    CNN_WGMMA(type, 32, "m64n64" shape types, transposed, CNN_WGMMA_QUARTER_NAMES, "%34", HOPPER_D32(d, 0))
#define CNN_WGMMA_LOWER_OUTPUTS HOPPER_D32(d, 0), HOPPER_D16(d, 32)
#define CNN_WGMMA_QUARTER_NAMES                                                                                        \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "  \
    "%24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, add, 1, 1"
// d = a (64 channels, 32 bytes) * b (32 bytes, 128, 96 or 64 pixels) + (add ? d : 0)
CNN_WGMMA_BOTH(cnn_fp16, "k16", ".f32.f16.f16", ", 0, 0")
CNN_WGMMA_BOTH(cnn_bf16, "k16", ".f32.bf16.bf16", ", 0, 0")
#undef CNN_WGMMA
#undef CNN_WGMMA_BOTH
#undef CNN_WGMMA_UPPER_NAMES
#undef CNN_WGMMA_LOWER_NAMES
#undef CNN_WGMMA_QUARTER_NAMES
#undef CNN_WGMMA_LOWER_OUTPUTS

// Issues the products of pixels from `first_pixel` on and of taps first ... first + taps - 1; the sums so far are kept
// if `add`.
template <typename Product, int Count, typename Element>
CNN_DEVICE void cnn_wgmma_issue(float (&sum)[Count], const Element *weight, const Element *tile, int first_pixel,
                                int first, int taps, bool add)
{
    typedef cnn_tile<Element> Tile;
    const unsigned weight_distance = CNN_CHANNELS2 * CNN_WGMMA_CHUNK, tile_distance = Tile::plane * CNN_WGMMA_CHUNK;
    const uint32_t a = cnn_wgmma_place(weight, weight_distance);
    const uint32_t b = cnn_wgmma_place(tile + first_pixel * Tile::chunk, tile_distance);
    const int steps = CNN_CHANNELS1 / Tile::chunk / 2; // of a tap
#pragma unroll
    for (int tap = first; tap < first + taps; tap++)
#pragma unroll
        for (int step = 0; step < steps; step++) {
            const unsigned shift = (tap / 3 * CNN_TILE_SIDE + tap % 3) * CNN_WGMMA_CHUNK + 2 * step * tile_distance;
            cnn_wgmma(Product(), sum, cnn_wgmma_descriptor(a, 2 * (tap * steps + step) * weight_distance),
                      cnn_wgmma_descriptor(b, shift), add || tap > first || step > 0);
        }
}

// One thread of each warp arrives for it; no branch, since products may be in flight.
CNN_DEVICE void cnn_wgmma_arrive(uint64_t *barrier)
{
    asm volatile("{\n\t"
                 ".reg .pred first;\n\t"
                 "setp.eq.u32 first, %1, 0;\n\t"
                 "@first mbarrier.arrive.shared::cta.b64 _, [%0];\n\t"
                 "}" ::"r"(hopper_shared(barrier)),
                 "r"(threadIdx.x % 32)
                 : "memory");
}

// Products of all taps. When few are left, the part that waits at `turn` for the tensor cores may begin.
template <typename Arithmetic, int Count, typename Element>
CNN_DEVICE void cnn_wgmma_conv2(Arithmetic, float (&sum)[Count], const Element *weight, const Element *tile,
                                int first_pixel, uint64_t *turn)
{
    enum { LEFT = 1 }; // taps: as long as it takes the next to begin
    wgmma_settle(sum);
    wgmma_fence();
    cnn_wgmma_issue<Arithmetic>(sum, weight, tile, first_pixel, 0, CNN_TAPS - LEFT, false);
    wgmma_commit();
    cnn_wgmma_issue<Arithmetic>(sum, weight, tile, first_pixel, CNN_TAPS - LEFT, LEFT, true);
    wgmma_commit();
    wgmma_wait<1>();
    cnn_wgmma_arrive(turn);
    wgmma_wait<0>();
    wgmma_settle(sum);
}

// tf32 by half.
template <int Count>
CNN_DEVICE void cnn_wgmma_conv2(cnn_tf32, float (&sum)[Count], const __half *weight, const __half *tile,
                                int first_pixel, uint64_t *turn)
{
    cnn_wgmma_conv2(cnn_fp16(), sum, weight, tile, first_pixel, turn);
}

// The same with two parts: three of their four products. Tensor cores truncate sums where float would round them, so
// that long sums are too small: the products of the large parts are two sums, added outside; the small products, which
// are thousands of times smaller, may be in one of them. All are issued at once.
template <int Count>
CNN_DEVICE void cnn_wgmma_conv2(cnn_tf32x3, float (&sum)[Count], const __half *weight, const __half *tile,
                                int first_pixel, uint64_t *turn)
{
    enum { CUT = 4, LEFT = 3 }; // taps of the first sum; and of the second, left when the next may begin
    const __half *small_weight = weight + CNN_CHANNELS2 * CNN_PATCH, *small_tile = tile + cnn_tile<__half>::size;
    float other[Count];
    wgmma_settle(sum), wgmma_settle(other);
    wgmma_fence();
    cnn_wgmma_issue<cnn_fp16>(other, small_weight, tile, first_pixel, 0, CNN_TAPS, false);
    cnn_wgmma_issue<cnn_fp16>(other, weight, small_tile, first_pixel, 0, CNN_TAPS, true);
    cnn_wgmma_issue<cnn_fp16>(other, weight, tile, first_pixel, 0, CUT, true);
    cnn_wgmma_issue<cnn_fp16>(sum, weight, tile, first_pixel, CUT, CNN_TAPS - CUT - LEFT, false);
    wgmma_commit();
    cnn_wgmma_issue<cnn_fp16>(sum, weight, tile, first_pixel, CNN_TAPS - LEFT, LEFT, true);
    wgmma_commit();
    wgmma_wait<1>();
    cnn_wgmma_arrive(turn);
    wgmma_wait<0>();
    wgmma_settle(sum), wgmma_settle(other);
#pragma unroll
    for (int i = 0; i < Count; i++)
        sum[i] += other[i];
}

// --- conv1 -----------------------------------------------------------------------------------------------------------

// d = a (64 outputs, 16) * b (16, 32 channels) + (add ? d : 0); a is in registers, 16 outputs per warp.
CNN_DEVICE void cnn_wgmma_stem(float (&d)[CNN_STEM_OUTPUTS], const uint32_t (&a)[4], uint64_t b, int add)
{
    asm volatile("{\n\t"
                 ".reg .pred add;\n\t"
                 "setp.ne.b32 add, %21, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, "
                 "%11, %12, %13, %14, %15}, {%16, %17, %18, %19}, %20, add, 1, 1, 0;\n\t"
                 "}"
                 : HOPPER_D16(d, 0)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

// Where conv1's folded weight comes from: shared memory, or as the step before left it.
template <typename Shared> struct cnn_wgmma_folded_here {
    const Shared *shared;
    __device__ __forceinline__ float weight(int channel, int tap) const
    {
        return shared->stem_weight[channel][tap];
    }
    __device__ __forceinline__ float bias(int channel) const
    {
        return shared->stem_bias[channel];
    }
};
struct cnn_wgmma_folded_before {
    const float *folded;
    __device__ __forceinline__ float weight(int channel, int tap) const
    {
        return folded[tap * CNN_CHANNELS1 + channel];
    }
    __device__ __forceinline__ float bias(int channel) const
    {
        return weight(channel, CNN_FOLDED_BIAS);
    }
};

// conv1's weight, folded with batchnorm 1, into `operand`, `Parts` parts of it: rows are tiles of eight channels in
// forward_stem.h's order, K is row K / 4 of the patch and pixel K % 4; at 12, 13 and 14 the first part has the three
// parts of the bias. By the first CNN_STEM_OPERAND / 2 threads.
template <int Parts, typename Folded>
CNN_DEVICE void cnn_wgmma_stem_weight(__nv_bfloat16 *operand, const Folded &folded)
{
    const int row = threadIdx.x % CNN_CHANNELS1, k = threadIdx.x / CNN_CHANNELS1 * 2;
    if (k >= CNN_STEM_DEPTH)
        return;
    const int channel = cnn_stem_channel(row / 8, row % 8), y = k / 4, x = k % 4;
    const int tap = y < 3 ? y * 3 + x : 0; // no branch: all three loads are in flight at once
    float rest[2] = {folded.weight(channel, tap), folded.weight(channel, x == 0 ? tap + 1 : tap)};
    const float bias = folded.bias(channel), high = __bfloat162float(__float2bfloat16_rn(bias));
    const float middle = __bfloat162float(__float2bfloat16_rn(bias - high));
    rest[0] = y < 3 ? rest[0] : 0, rest[1] = y < 3 && x == 0 ? rest[1] : 0;
#pragma unroll
    for (int part = 0; part < Parts; part++, operand += CNN_STEM_OPERAND) {
        __nv_bfloat162 two = __floats2bfloat162_rn(rest[0], rest[1]);
        rest[0] -= __low2float(two), rest[1] -= __high2float(two);
        if (part == 0 && y == 3)
            two = __floats2bfloat162_rn(x == 0 ? high : bias - high - middle, x == 0 ? middle : 0.0f);
        *(__nv_bfloat162 *)(operand + (k / CNN_STEM_CHUNK * CNN_CHANNELS1 + row) * CNN_STEM_CHUNK +
                            k % CNN_STEM_CHUNK) = two;
    }
}

// How cnn_stem_forward multiplies here: four warps together.
template <int Parts> struct cnn_stem_by_wgmma {
    enum { TOGETHER = HOPPER_WARPGROUP / 32 };
    uint32_t weight; // its place
    float scale;     // of the pooled image in shared memory
    __device__ __forceinline__ void multiply(float (&above)[CNN_STEM_OUTPUTS], float (&below)[CNN_STEM_OUTPUTS],
                                             const uint32_t (&a)[4], const uint32_t (&b)[4]) const
    {
        issue(above, below, a, b);
        wgmma_wait<0>();
        wgmma_settle(above), wgmma_settle(below);
    }
    __device__ __forceinline__ void issue(float (&above)[CNN_STEM_OUTPUTS], float (&below)[CNN_STEM_OUTPUTS],
                                          const uint32_t (&a)[4], const uint32_t (&b)[4]) const
    {
        wgmma_settle(above), wgmma_settle(below);
        wgmma_fence();
#pragma unroll
        for (int part = 0; part < Parts; part++) {
            const uint64_t now = cnn_wgmma_descriptor(weight, part * CNN_STEM_OPERAND * sizeof(__nv_bfloat16));
            cnn_wgmma_stem(above, a, now, part > 0);
            cnn_wgmma_stem(below, b, now, part > 0);
        }
        wgmma_commit();
    }
};
template <int Parts> CNN_DEVICE cnn_stem_by_wgmma<Parts> cnn_wgmma_stem_multiplier(const __nv_bfloat16 *operand)
{
    return {cnn_wgmma_place(operand, CNN_CHANNELS1 * CNN_WGMMA_CHUNK), 1};
}

// Vectors of floats as wide as one instruction set has them. A file compiled for an instruction set defines
// HEDDLE_SIMD_NEON, _AVX2, _AVX512 or _GENERIC before this header; nothing here is visible outside such files.
//
// Arithmetic is the compiler's own on vector types (a * b + c becomes a fused operation if there is one); the functions
// are what C has no operator for.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(HEDDLE_SIMD_NEON)
#include <arm_neon.h>
#endif

#if defined(HEDDLE_SIMD_AVX512)
enum { LANES = 16 };
#elif defined(HEDDLE_SIMD_AVX2)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t mask __attribute__((vector_size(LANES * sizeof(int32_t)))); // all ones or all zeros per lane

#define INLINE static inline __attribute__((always_inline))

// For a loop body that is faster as a separate function: inlined, compilers keep one pointer per stream, and run out of
// registers.
#define APART static __attribute__((noinline))

// In front of a short loop over registers: unless it is unrolled, its array lives in memory. If the loop's length is
// known only after inlining, clang's first attempt fails, and must not warn.
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

INLINE vec vec_load(const float *from)
{
    vec value;
    memcpy(&value, from, sizeof value);
    return value;
}

INLINE void vec_store(float *to, vec value)
{
    memcpy(to, &value, sizeof value);
}

INLINE vec vec_splat(float value)
{
    return value - (vec){0};
}

// The first `live` lanes (LANES or more: all); the others are zero, and are not read.
INLINE vec vec_load_part(const float *from, int live)
{
    vec value = {0};
    if (live >= LANES)
        return vec_load(from);
    if (live > 0)
        memcpy(&value, from, (size_t)live * sizeof(float));
    return value;
}

INLINE void vec_store_part(float *to, vec value, int live)
{
    if (live >= LANES)
        vec_store(to, value);
    else if (live > 0)
        memcpy(to, &value, (size_t)live * sizeof(float));
}

INLINE vec vec_select(mask where, vec yes, vec otherwise)
{
#if defined(HEDDLE_SIMD_NEON)
    return vbslq_f32((uint32x4_t)where, yes, otherwise);
#else
    return (vec)((where & (mask)yes) | (~where & (mask)otherwise));
#endif
}

INLINE mask mask_select(mask where, mask yes, mask otherwise)
{
#if defined(HEDDLE_SIMD_NEON)
    return (mask)vbslq_s32((uint32x4_t)where, yes, otherwise);
#else
    return (where & yes) | (~where & otherwise);
#endif
}

INLINE mask mask_splat(int32_t value)
{
    return value - (mask){0};
}

INLINE vec vec_keep(mask where, vec value)
{
    return (vec)(where & (mask)value);
}

// The larger one; NaN if either is.
INLINE vec vec_max(vec a, vec b)
{
#if defined(HEDDLE_SIMD_NEON)
    return vmaxq_f32(a, b);
#else
    return vec_select((a > b) | (a != a), a, b); // NOLINT(misc-redundant-expression): a differs from itself if NaN
#endif
}

// --- one byte per lane: the codes of pooling windows ----------------------------------------------------------------

INLINE mask codes_load(const uint8_t *from, int live)
{
    uint8_t bytes[LANES] = {0};
    if (live >= LANES)
        memcpy(bytes, from, LANES);
    else if (live > 0)
        memcpy(bytes, from, (size_t)live);
#if defined(HEDDLE_SIMD_NEON)
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    uint8x8_t narrow = vcreate_u8(word);
    return (mask)vmovl_u16(vget_low_u16(vmovl_u8(narrow)));
#else
    typedef uint8_t byte_lanes __attribute__((vector_size(LANES)));
    byte_lanes narrow;
    memcpy(&narrow, bytes, sizeof narrow);
    return __builtin_convertvector(narrow, mask);
#endif
}

INLINE void codes_store(uint8_t *to, mask codes, int live)
{
#if defined(HEDDLE_SIMD_NEON)
    uint16x4_t half = vmovn_u32((uint32x4_t)codes);
    uint32_t bytes = vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(half, half))), 0);
#else
    typedef uint8_t byte_lanes __attribute__((vector_size(LANES)));
    byte_lanes bytes = __builtin_convertvector(codes, byte_lanes);
#endif
    if (live >= LANES)
        memcpy(to, &bytes, sizeof bytes);
    else if (live > 0)
        memcpy(to, &bytes, (size_t)live);
}

// --- four neighbouring floats, each to be multiplied with a whole vector --------------------------------------------
// NEON multiplies by a lane of a register; elsewhere each is spread over a vector when it is used.

#if defined(HEDDLE_SIMD_NEON)
typedef float32x4_t quad;
#define quad_load(from)                       vld1q_f32(from)
#define quad_multiply_add(sum, b, four, lane) vfmaq_laneq_f32((sum), (b), (four), (lane))
#else
typedef const float *quad;
#define quad_load(from)                       (from)
#define quad_multiply_add(sum, b, four, lane) ((sum) + (b)*vec_splat((four)[lane]))
#endif

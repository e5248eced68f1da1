// The instructions of backward_wgmma.h and hidden_backward_wgmma.h: products of the shapes they need, the layout of
// their operands, which parts of a float are multiplied, and the registers per role.
#pragma once

#include "ops/cnn_step/backward_wgmma_tiles.h"
#include "ops/cuda/hopper.h"

enum {
    CNN_HOPPER_WEIGHT_SUMS = CNN_CHANNELS2 * CNN_HOPPER_ROWS / HOPPER_WARPGROUP, // a thread's, of a column of taps
    CNN_HOPPER_DATA_SUMS = 64 * CNN_HOPPER_ROWS / HOPPER_WARPGROUP,
    CNN_HOPPER_STEM_SUMS = 64 * CNN_HOPPER_OFFSETS / HOPPER_WARPGROUP,
    CNN_HOPPER_WARP_ROWS = 4, // of the image: a warp's of the data gradient
    CNN_HOPPER_HALF = 8,      // pixels of half a row
};

#define CNN_HOPPER_WEIGHT_PRODUCT(element, instruction)                                                                \
    CNN_DEVICE void cnn_hopper_weight_product(element, float(&d)[CNN_HOPPER_WEIGHT_SUMS], const uint32_t(&a)[4],       \
                                              uint64_t b, int add)                                                     \
    {                                                                                                                  \
        asm volatile("{\n\t"                                                                                           \
                     ".reg .pred add;\n\t"                                                                             \
                     "setp.ne.b32 add, %53, 0;\n\t"                                                                    \
                     "wgmma.mma_async.sync.aligned.m64n96k16.f32." instruction                                         \
                     " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "    \
                     "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, " \
                     "%39, %40, %41, %42, %43, %44, %45, %46, %47}, {%48, %49, %50, %51}, %52, add, 1, 1, 1;\n\t"      \
                     "}"                                                                                               \
                     : HOPPER_D32(d, 0), HOPPER_D16(d, 32)                                                             \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));                                  \
    }
// d = a (64 outputs, 16 pixels) * b (16 pixels, 3 taps, 32 inputs; N-major) + (add ? d : 0)
CNN_HOPPER_WEIGHT_PRODUCT(__half, "f16.f16")
CNN_HOPPER_WEIGHT_PRODUCT(__nv_bfloat16, "bf16.bf16")
#undef CNN_HOPPER_WEIGHT_PRODUCT

#define CNN_HOPPER_TURNED_PRODUCT(element, instruction)                                                                \
    CNN_DEVICE void cnn_hopper_turned_product(element, float(&d)[CNN_HOPPER_WEIGHT_SUMS], uint64_t a, uint64_t b,      \
                                              int add)                                                                 \
    {                                                                                                                  \
        asm volatile("{\n\t"                                                                                           \
                     ".reg .pred add;\n\t"                                                                             \
                     "setp.ne.b32 add, %50, 0;\n\t"                                                                    \
                     "wgmma.mma_async.sync.aligned.m64n96k16.f32." instruction                                         \
                     " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "    \
                     "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, " \
                     "%39, %40, %41, %42, %43, %44, %45, %46, %47}, %48, %49, add, 1, 1, 1, 1;\n\t"                    \
                     "}"                                                                                               \
                     : HOPPER_D32(d, 0), HOPPER_D16(d, 32)                                                             \
                     : "l"(a), "l"(b), "r"(add));                                                                      \
    }
// The same with a in shared memory, M-major.
CNN_HOPPER_TURNED_PRODUCT(__half, "f16.f16")
CNN_HOPPER_TURNED_PRODUCT(__nv_bfloat16, "bf16.bf16")
#undef CNN_HOPPER_TURNED_PRODUCT

#define CNN_HOPPER_DATA_PRODUCT(function, element, instruction, turned)                                                \
    CNN_DEVICE void function(element, float(&d)[CNN_HOPPER_DATA_SUMS], uint64_t a, uint64_t b, int add)                \
    {                                                                                                                  \
        asm volatile("{\n\t"                                                                                           \
                     ".reg .pred add;\n\t"                                                                             \
                     "setp.ne.b32 add, %50, 0;\n\t"                                                                    \
                     "wgmma.mma_async.sync.aligned.m64n96k16.f32." instruction                                         \
                     " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "    \
                     "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, " \
                     "%39, %40, %41, %42, %43, %44, %45, %46, %47}, %48, %49, add, 1, 1, 0, " turned ";\n\t"           \
                     "}"                                                                                               \
                     : HOPPER_D32(d, 0), HOPPER_D16(d, 32)                                                             \
                     : "l"(a), "l"(b), "r"(add));                                                                      \
    }
// d = a (64 pixels, 16 outputs) * b (16 outputs, 3 taps, 32 inputs) + (add ? d : 0); turned: b is N-major
CNN_HOPPER_DATA_PRODUCT(cnn_hopper_data_product, __half, "f16.f16", "0")
CNN_HOPPER_DATA_PRODUCT(cnn_hopper_data_product, __nv_bfloat16, "bf16.bf16", "0")
CNN_HOPPER_DATA_PRODUCT(cnn_hopper_data_product_turned, __half, "f16.f16", "1")
CNN_HOPPER_DATA_PRODUCT(cnn_hopper_data_product_turned, __nv_bfloat16, "bf16.bf16", "1")
#undef CNN_HOPPER_DATA_PRODUCT

#define CNN_HOPPER_STEM_PRODUCT(element, instruction)                                                                  \
    CNN_DEVICE void cnn_hopper_stem_product(element, float(&d)[CNN_HOPPER_STEM_SUMS], const uint32_t(&a)[4],           \
                                            uint64_t b, int add)                                                       \
    {                                                                                                                  \
        asm volatile("{\n\t"                                                                                           \
                     ".reg .pred add;\n\t"                                                                             \
                     "setp.ne.b32 add, %17, 0;\n\t"                                                                    \
                     "wgmma.mma_async.sync.aligned.m64n24k16.f32." instruction                                         \
                     " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11}, "                                           \
                     "{%12, %13, %14, %15}, %16, add, 1, 1, 0;\n\t"                                                    \
                     "}"                                                                                               \
                     : HOPPER_D4(d, 0), HOPPER_D4(d, 4), HOPPER_D4(d, 8)                                               \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));                                  \
    }
// d = a (64 channels of two places, 16 windows) * b (16 windows, 24 pixels; K-major) + (add ? d : 0)
CNN_HOPPER_STEM_PRODUCT(__half, "f16.f16")
CNN_HOPPER_STEM_PRODUCT(__nv_bfloat16, "bf16.bf16")
#undef CNN_HOPPER_STEM_PRODUCT

// The descriptor of an operand in chunks, without swizzle. K-major: `leading` bytes from one chunk of K to the next,
// `stride` from eight rows to the next. M- or N-major: `leading` from eight of K to the next, `stride` from one chunk
// to the next.
CNN_DEVICE uint64_t cnn_hopper_descriptor(const void *shared, unsigned leading, unsigned stride)
{
    const uint64_t address = (hopper_shared(shared) & 0x3ffff) >> 4;
    return address | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32;
}

// Which parts of the two factors a product takes, the small ones first; 0 is the larger part.
template <int Parts> struct cnn_hopper_products {
    static const int count = 1;
    static __device__ __forceinline__ int left(int)
    {
        return 0;
    }
    static __device__ __forceinline__ int right(int)
    {
        return 0;
    }
};
template <> struct cnn_hopper_products<2> {
    static const int count = 3;
    static __device__ __forceinline__ int left(int i)
    {
        return i == 0;
    }
    static __device__ __forceinline__ int right(int i)
    {
        return i == 1;
    }
};

// The registers per thread that a role needs, of those it was launched with.
template <int Wanted, int Launched> CNN_DEVICE void cnn_hopper_registers()
{
    if constexpr (Wanted > Launched)
        registers_take<Wanted>();
    else if constexpr (Wanted < Launched)
        registers_give_back<Wanted>();
}

// wgmma of 16-bit elements, and of bytes, e4m3 and floats K-major, for any tile width that the rungs use: one template
// over the columns of b, the element type and the operands' layouts. hopper.h explains descriptors and which thread
// holds which sum.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "ops/cuda/hopper.h"

// wgmma16<Columns, Element>::multiply<MMajorA, MMajorB>(d, a, b, add): d = a (64, 16) * b (16, Columns) + (add ? d :
// 0).
template <int Columns, typename Element> struct wgmma16;

// The registers of d as text, "%0, %1, ...", and as operands.
#define WGMMA16_NAMES_8  "%0, %1, %2, %3, %4, %5, %6, %7"
#define WGMMA16_NAMES_16 WGMMA16_NAMES_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA16_NAMES_32                                                                                               \
    WGMMA16_NAMES_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA16_NAMES_48                                                                                               \
    WGMMA16_NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA16_NAMES_64                                                                                               \
    WGMMA16_NAMES_48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA16_NAMES_88                                                                                               \
    WGMMA16_NAMES_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, "    \
                     "%82, %83, %84, %85, %86, %87"
#define WGMMA16_NAMES_96                                                                                               \
    WGMMA16_NAMES_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, "    \
                     "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define WGMMA16_NAMES_112                                                                                              \
    WGMMA16_NAMES_96 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define WGMMA16_NAMES_128                                                                                              \
    WGMMA16_NAMES_112 ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "   \
                      "%127"
#define WGMMA16_D8(d)   HOPPER_D4(d, 0), HOPPER_D4(d, 4)
#define WGMMA16_D16(d)  HOPPER_D16(d, 0)
#define WGMMA16_D32(d)  HOPPER_D32(d, 0)
#define WGMMA16_D48(d)  HOPPER_D32(d, 0), HOPPER_D16(d, 32)
#define WGMMA16_D64(d)  HOPPER_D64(d, 0)
#define WGMMA16_D88(d)  HOPPER_D64(d, 0), HOPPER_D16(d, 64), HOPPER_D4(d, 80), HOPPER_D4(d, 84)
#define WGMMA16_D96(d)  HOPPER_D64(d, 0), HOPPER_D32(d, 64)
#define WGMMA16_D112(d) HOPPER_D64(d, 0), HOPPER_D32(d, 64), HOPPER_D16(d, 96)
#define WGMMA16_D128(d) HOPPER_D64(d, 0), HOPPER_D64(d, 64)

// `a`, `b`, ... are the numbers of the operands after d.
#define WGMMA16(columns, element, name, count, a, b, add, major_a, major_b)                                            \
    template <> struct wgmma16<columns, element> {                                                                     \
        template <int MMajorA, int MMajorB>                                                                            \
        HOPPER_DEVICE void multiply(float (&d)[count], uint64_t from_a, uint64_t from_b, int add_to)                   \
        {                                                                                                              \
            asm volatile("{\n\t"                                                                                       \
                         ".reg .pred add;\n\t"                                                                         \
                         "setp.ne.b32 add, %" #add ", 0;\n\t"                                                          \
                         "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." name "." name                         \
                         " {" WGMMA16_NAMES_##count "}, %" #a ", %" #b ", add, 1, 1, %" #major_a ", %" #major_b        \
                                                    ";\n\t"                                                            \
                                                    "}"                                                                \
                         : WGMMA16_D##count(d)                                                                         \
                         : "l"(from_a), "l"(from_b), "r"(add_to), "n"(MMajorA), "n"(MMajorB));                         \
        }                                                                                                              \
    };
#define WGMMA16_BOTH(columns, count, a, b, add, major_a, major_b)                                                      \
    WGMMA16(columns, __nv_bfloat16, "bf16", count, a, b, add, major_a, major_b)                                        \
    WGMMA16(columns, __half, "f16", count, a, b, add, major_a, major_b)

WGMMA16_BOTH(16, 8, 8, 9, 10, 11, 12)
WGMMA16_BOTH(32, 16, 16, 17, 18, 19, 20)
WGMMA16_BOTH(64, 32, 32, 33, 34, 35, 36)
WGMMA16_BOTH(96, 48, 48, 49, 50, 51, 52)
WGMMA16_BOTH(128, 64, 64, 65, 66, 67, 68)
WGMMA16_BOTH(176, 88, 88, 89, 90, 91, 92)
WGMMA16_BOTH(192, 96, 96, 97, 98, 99, 100)
WGMMA16_BOTH(224, 112, 112, 113, 114, 115, 116)
WGMMA16_BOTH(256, 128, 128, 129, 130, 131, 132)

// wgmma16_rows<Columns, Element>::multiply<MMajorB>(d, a, b, add): the same with a in registers, two numbers in each.
// a[2 c + h] is row 16 w + 8 h + l / 4, columns 8 c + 2 (l % 4) and the next: as sums lie in d, so that a product can
// be the next one's rows. They may be overwritten only after a wait for this product.
template <int Columns, typename Element> struct wgmma16_rows;

#define WGMMA16_ROWS(columns, element, name, count, a0, a1, a2, a3, b, add, major_b)                                   \
    template <> struct wgmma16_rows<columns, element> {                                                                \
        template <int MMajorB>                                                                                         \
        HOPPER_DEVICE void multiply(float (&d)[count], const uint32_t (&a)[4], uint64_t from_b, int add_to)            \
        {                                                                                                              \
            asm volatile("{\n\t"                                                                                       \
                         ".reg .pred add;\n\t"                                                                         \
                         "setp.ne.b32 add, %" #add ", 0;\n\t"                                                          \
                         "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." name "." name                         \
                         " {" WGMMA16_NAMES_##count "}, {%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b                \
                                                    ", add, 1, 1, %" #major_b ";\n\t"                                  \
                                                    "}"                                                                \
                         : WGMMA16_D##count(d)                                                                         \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(from_b), "r"(add_to), "n"(MMajorB));        \
        }                                                                                                              \
    };
#define WGMMA16_ROWS_BOTH(columns, count, a0, a1, a2, a3, b, add, major_b)                                             \
    WGMMA16_ROWS(columns, __nv_bfloat16, "bf16", count, a0, a1, a2, a3, b, add, major_b)                               \
    WGMMA16_ROWS(columns, __half, "f16", count, a0, a1, a2, a3, b, add, major_b)

WGMMA16_ROWS_BOTH(64, 32, 32, 33, 34, 35, 36, 37, 38)
WGMMA16_ROWS_BOTH(128, 64, 64, 65, 66, 67, 68, 69, 70)

// The same of elements of other sizes, of which wgmma reads 32 bytes of k, only K-major. `types`: of the sums and the
// operands, after k; `signs`: what follows `add`.
#define WGMMA_K_MAJOR(columns, element, sum, types, signs, sums, names, a, b, add)                                     \
    template <> struct wgmma16<columns, element> {                                                                     \
        template <int MMajorA, int MMajorB>                                                                            \
        HOPPER_DEVICE void multiply(sum (&d)[columns / 2], uint64_t from_a, uint64_t from_b, int add_to)               \
        {                                                                                                              \
            static_assert(!MMajorA && !MMajorB, "wgmma reads other types than those of 16 bits only K-major");         \
            asm volatile("{\n\t"                                                                                       \
                         ".reg .pred add;\n\t"                                                                         \
                         "setp.ne.b32 add, %" #add ", 0;\n\t"                                                          \
                         "wgmma.mma_async.sync.aligned.m64n" #columns types " {" names "}, %" #a ", %" #b              \
                         ", add" signs ";\n\t"                                                                         \
                         "}"                                                                                           \
                         : sums(d)                                                                                     \
                         : "l"(from_a), "l"(from_b), "r"(add_to));                                                     \
        }                                                                                                              \
    };

// Bytes, summed in int32.
#define WGMMA8_D4(d, i)  "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define WGMMA8_D16(d, i) WGMMA8_D4(d, i), WGMMA8_D4(d, i + 4), WGMMA8_D4(d, i + 8), WGMMA8_D4(d, i + 12)
#define WGMMA8_D32(d)    WGMMA8_D16(d, 0), WGMMA8_D16(d, 16)
#define WGMMA8_D64(d)    WGMMA8_D32(d), WGMMA8_D16(d, 32), WGMMA8_D16(d, 48)
#define WGMMA8_D112(d)   WGMMA8_D64(d), WGMMA8_D16(d, 64), WGMMA8_D16(d, 80), WGMMA8_D16(d, 96)
#define WGMMA8_D128(d)   WGMMA8_D112(d), WGMMA8_D16(d, 112)
#define WGMMA8(columns, count, a, b, add)                                                                              \
    WGMMA_K_MAJOR(columns, int8_t, int, "k32.s32.s8.s8", "", WGMMA8_D##count, WGMMA16_NAMES_##count, a, b, add)
WGMMA8(64, 32, 32, 33, 34)
WGMMA8(128, 64, 64, 65, 66)
WGMMA8(224, 112, 112, 113, 114)
WGMMA8(256, 128, 128, 129, 130)

// e4m3, summed in float32, of which the tensor cores of Hopper keep about 14 bits.
#define WGMMA_E4M3(columns, count, a, b, add)                                                                          \
    WGMMA_K_MAJOR(columns, __nv_fp8_e4m3, float, "k32.f32.e4m3.e4m3", ", 1, 1", WGMMA16_D##count,                      \
                  WGMMA16_NAMES_##count, a, b, add)
WGMMA_E4M3(64, 32, 32, 33, 34)
WGMMA_E4M3(128, 64, 64, 65, 66)

// Floats as tf32: of each the upper 19 bits count.
#define WGMMA_TF32(columns, count, a, b, add)                                                                          \
    WGMMA_K_MAJOR(columns, float, float, "k8.f32.tf32.tf32", ", 1, 1", WGMMA16_D##count, WGMMA16_NAMES_##count, a, b,  \
                  add)
WGMMA_TF32(64, 32, 32, 33, 34)
WGMMA_TF32(128, 64, 64, 65, 66)

// What the hidden layer's kernels for Hopper share: products of the shapes they need, and maps of their matrices.
#pragma once

#include <type_traits>

#include "ops/cnn_step/backward_wgmma_products.h"
#include "ops/cnn_step/layout.h"

enum { CNN_HIDDEN_HOPPER_SUMS = 64 * 64 / HOPPER_WARPGROUP }; // a thread's, of a product

#define CNN_HIDDEN_HOPPER_PRODUCT(element, instruction)                                                                \
    template <int TransposedA>                                                                                         \
    CNN_DEVICE void cnn_hidden_hopper_product(element, float(&d)[CNN_HIDDEN_HOPPER_SUMS], uint64_t a, uint64_t b,      \
                                              int add)                                                                 \
    {                                                                                                                  \
        asm volatile("{\n\t"                                                                                           \
                     ".reg .pred add;\n\t"                                                                             \
                     "setp.ne.b32 add, %34, 0;\n\t"                                                                    \
                     "wgmma.mma_async.sync.aligned.m64n64k16.f32." instruction " " HOPPER_D32_NAMES                    \
                     ", %32, %33, add, 1, 1, %35, 1;\n\t"                                                              \
                     "}"                                                                                               \
                     : HOPPER_D32(d, 0)                                                                                \
                     : "l"(a), "l"(b), "r"(add), "n"(TransposedA));                                                    \
    }
// d = a (64, 16; M-major if said so) * b (16, 64; N-major) + (add ? d : 0)
CNN_HIDDEN_HOPPER_PRODUCT(__half, "f16.f16")
CNN_HIDDEN_HOPPER_PRODUCT(__nv_bfloat16, "bf16.bf16")
#undef CNN_HIDDEN_HOPPER_PRODUCT

#define CNN_HIDDEN_HOPPER_PRODUCT(element, instruction)                                                                \
    template <int NMajorB>                                                                                             \
    CNN_DEVICE void cnn_hidden_hopper_product_registers(element, float(&d)[2 * CNN_HIDDEN_HOPPER_SUMS],                \
                                                        const uint32_t(&a)[4], uint64_t b, int add)                    \
    {                                                                                                                  \
        asm volatile("{\n\t"                                                                                           \
                     ".reg .pred add;\n\t"                                                                             \
                     "setp.ne.b32 add, %69, 0;\n\t"                                                                    \
                     "wgmma.mma_async.sync.aligned.m64n128k16.f32." instruction " " HOPPER_D64_NAMES                   \
                     ", {%64, %65, %66, %67}, %68, add, 1, 1, %70;\n\t"                                                \
                     "}"                                                                                               \
                     : HOPPER_D64(d, 0)                                                                                \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add), "n"(NMajorB));                    \
    }
// d = a (64, 16; in registers) * b (16, 128; N-major if said so) + (add ? d : 0)
CNN_HIDDEN_HOPPER_PRODUCT(__half, "f16.f16")
CNN_HIDDEN_HOPPER_PRODUCT(__nv_bfloat16, "bf16.bf16")
#undef CNN_HIDDEN_HOPPER_PRODUCT

#define CNN_HIDDEN_HOPPER_PRODUCT(element, instruction)                                                                \
    CNN_DEVICE void cnn_hidden_hopper_product_ones(element, float(&d)[4], uint64_t a, uint64_t b)                      \
    {                                                                                                                  \
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32." instruction                                          \
                     " {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 1, 0;"                                                       \
                     : HOPPER_D4(d, 0)                                                                                 \
                     : "l"(a), "l"(b));                                                                                \
    }
// d += a (64, 16; M-major) * b (16, 8)
CNN_HIDDEN_HOPPER_PRODUCT(__half, "f16.f16")
CNN_HIDDEN_HOPPER_PRODUCT(__nv_bfloat16, "bf16.bf16")
#undef CNN_HIDDEN_HOPPER_PRODUCT

// How far the next 16 of K are: in a row of 128 bytes, or 16 rows on.
enum { CNN_HIDDEN_HOPPER_ALONG = 32, CNN_HIDDEN_HOPPER_DOWN = 16 * HOPPER_ROW_BYTES };

// Of a matrix (rows, columns) of 16 bits, in boxes of box_rows by 64 columns.
template <typename Element>
static heddle_status cnn_hidden_wgmma_map(CUtensorMap *map, const Element *matrix, int rows, int columns, int box_rows)
{
    const CUtensorMapDataType type =
        std::is_same<Element, __half>::value ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    return tma_map(map, type, sizeof(Element), matrix, rows, columns, box_rows);
}

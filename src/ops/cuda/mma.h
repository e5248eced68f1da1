// Tensor-core instructions and asynchronous copies as functions over inline PTX, which nvcc assembles and the
// simulator's compiler translates. Fragments are laid out as the PTX manual shows them; every function is called by the
// whole warp. Needs sm_80 or later.
//
//   mma_m16n8k8_tf32       d: float[4] = a: uint32[4] (tf32)       b: uint32[2] + c: float[4]
//   mma_m16n8k16_half      d: float[4] = a: uint32[4] (2 halves)   b: uint32[2] + c: float[4]
//   mma_m16n8k16_bfloat16  d: float[4] = a: uint32[4] (2 bfloats)  b: uint32[2] + c: float[4]
//   mma_m16n8k32_int8      d: int[4]   = a: uint32[4] (4 bytes)    b: uint32[2] + c: int[4]
//   ldmatrix_x2, _x4, and the same with _transposed: 8×8 matrices of 16-bit elements from shared memory; lane i gives
//       the address of row i (16 bytes, aligned); lanes past the matrices' rows give any valid address
//   cp_async_4, _16: copies from global to shared memory; cp_async_commit; cp_async_wait_group<N>; cp_async_wait_all
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HEDDLE_MMA static __device__ __forceinline__

HEDDLE_MMA unsigned mma_shared_address(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

HEDDLE_MMA void mma_m16n8k8_tf32(float d[4], const uint32_t a[4], const uint32_t b[2], const float c[4])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%10, %11, %12, %13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
                   "f"(c[3]));
}

HEDDLE_MMA void mma_m16n8k16_half(float d[4], const uint32_t a[4], const uint32_t b[2], const float c[4])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%10, %11, %12, %13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
                   "f"(c[3]));
}

HEDDLE_MMA void mma_m16n8k16_bfloat16(float d[4], const uint32_t a[4], const uint32_t b[2], const float c[4])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%10, %11, %12, %13};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]),
                   "f"(c[3]));
}

HEDDLE_MMA void mma_m16n8k32_int8(int d[4], const uint32_t a[4], const uint32_t b[2], const int c[4])
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%10, %11, %12, %13};"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
                   "r"(c[3]));
}

// The nearest number with tf32's 10 bits of fraction, which is all that tensor cores read.
HEDDLE_MMA uint32_t mma_to_tf32(float value)
{
    uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return bits;
}

HEDDLE_MMA void ldmatrix_x2(uint32_t d[2], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(mma_shared_address(row))
                 : "memory");
}
HEDDLE_MMA void ldmatrix_x4(uint32_t d[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(mma_shared_address(row))
                 : "memory");
}
HEDDLE_MMA void ldmatrix_x2_transposed(uint32_t d[2], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(mma_shared_address(row))
                 : "memory");
}
HEDDLE_MMA void ldmatrix_x4_transposed(uint32_t d[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(mma_shared_address(row))
                 : "memory");
}

HEDDLE_MMA void cp_async_4(void *shared, const void *global)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(mma_shared_address(shared)), "l"(global) : "memory");
}
HEDDLE_MMA void cp_async_16(void *shared, const void *global)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(mma_shared_address(shared)), "l"(global) : "memory");
}
HEDDLE_MMA void cp_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int Groups> HEDDLE_MMA void cp_async_wait_group()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}
HEDDLE_MMA void cp_async_wait_all()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

#undef HEDDLE_MMA

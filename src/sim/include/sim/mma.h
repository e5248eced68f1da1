// Tensor-core instructions and asynchronous copies as functions, for kernels that run on the hardware and on the
// simulated GPU: PTX under nvcc, the same meaning lane by lane here (mma_simulated.h). Fragments are laid out as the
// PTX manual shows them; every function is called by the whole warp. Needs sm_80 or later.
//
//   mma_m16n8k8_tf32       d: float[4] = a: uint32[4] (tf32)       b: uint32[2] + c: float[4]
//   mma_m16n8k16_half      d: float[4] = a: uint32[4] (2 halves)   b: uint32[2] + c: float[4]
//   mma_m16n8k16_bfloat16  d: float[4] = a: uint32[4] (2 bfloats)  b: uint32[2] + c: float[4]
//   mma_m16n8k32_int8      d: int[4]   = a: uint32[4] (4 bytes)    b: uint32[2] + c: int[4]
//   ldmatrix_x1, _x2, _x4 and the same with _transposed: 8 by 8 matrices of 16-bit elements from shared memory; lane i
//       gives the address of row i (16 bytes, aligned); lanes past the matrices' rows give any valid address
//   cp_async_4, _8, _16: copies from global to shared memory; cp_async_commit; cp_async_wait_group<N>;
//   cp_async_wait_all
#ifndef SIM_MMA_H
#define SIM_MMA_H

#include <stddef.h>
#include <stdint.h>

#if defined(SIM_WATCHED) // the stand-in header defines it, as 0 or 1; nvcc does not

#include "sim/mma_simulated.h"

#else

#define SIM_MMA static __device__ __forceinline__

SIM_MMA unsigned sim_shared_address(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

#define SIM_MMA_FLOAT(name, instruction)                                                                               \
    SIM_MMA void name(float d[4], const uint32_t a[4], const uint32_t b[2], const float c[4])                          \
    {                                                                                                                  \
        asm volatile(instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"                \
                     : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                                  \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]),         \
                       "f"(c[2]), "f"(c[3]));                                                                          \
    }
SIM_MMA_FLOAT(mma_m16n8k8_tf32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
SIM_MMA_FLOAT(mma_m16n8k16_half, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
SIM_MMA_FLOAT(mma_m16n8k16_bfloat16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
#undef SIM_MMA_FLOAT

SIM_MMA void mma_m16n8k32_int8(int d[4], const uint32_t a[4], const uint32_t b[2], const int c[4])
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%10, %11, %12, %13};"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
                   "r"(c[3]));
}

// A float with the 10 bits of fraction that tf32 has, rounded as the tensor cores want it.
SIM_MMA uint32_t mma_to_tf32(float value)
{
    uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return bits;
}

#define SIM_LDMATRIX_1(name, trans)                                                                                    \
    SIM_MMA void name(uint32_t d[1], const void *row)                                                                  \
    {                                                                                                                  \
        asm volatile("ldmatrix.sync.aligned.m8n8.x1" trans ".shared.b16 {%0}, [%1];"                                   \
                     : "=r"(d[0])                                                                                      \
                     : "r"(sim_shared_address(row))                                                                    \
                     : "memory");                                                                                      \
    }
#define SIM_LDMATRIX_2(name, trans)                                                                                    \
    SIM_MMA void name(uint32_t d[2], const void *row)                                                                  \
    {                                                                                                                  \
        asm volatile("ldmatrix.sync.aligned.m8n8.x2" trans ".shared.b16 {%0, %1}, [%2];"                               \
                     : "=r"(d[0]), "=r"(d[1])                                                                          \
                     : "r"(sim_shared_address(row))                                                                    \
                     : "memory");                                                                                      \
    }
#define SIM_LDMATRIX_4(name, trans)                                                                                    \
    SIM_MMA void name(uint32_t d[4], const void *row)                                                                  \
    {                                                                                                                  \
        asm volatile("ldmatrix.sync.aligned.m8n8.x4" trans ".shared.b16 {%0, %1, %2, %3}, [%4];"                       \
                     : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                                  \
                     : "r"(sim_shared_address(row))                                                                    \
                     : "memory");                                                                                      \
    }
SIM_LDMATRIX_1(ldmatrix_x1, "")
SIM_LDMATRIX_2(ldmatrix_x2, "")
SIM_LDMATRIX_4(ldmatrix_x4, "")
SIM_LDMATRIX_1(ldmatrix_x1_transposed, ".trans")
SIM_LDMATRIX_2(ldmatrix_x2_transposed, ".trans")
SIM_LDMATRIX_4(ldmatrix_x4_transposed, ".trans")
#undef SIM_LDMATRIX_1
#undef SIM_LDMATRIX_2
#undef SIM_LDMATRIX_4

SIM_MMA void cp_async_4(void *shared, const void *global)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(sim_shared_address(shared)), "l"(global) : "memory");
}
SIM_MMA void cp_async_8(void *shared, const void *global)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(sim_shared_address(shared)), "l"(global) : "memory");
}
SIM_MMA void cp_async_16(void *shared, const void *global)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sim_shared_address(shared)), "l"(global) : "memory");
}
SIM_MMA void cp_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int Groups> SIM_MMA void cp_async_wait_group()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}
SIM_MMA void cp_async_wait_all()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

#undef SIM_MMA

#endif

#endif

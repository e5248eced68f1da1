// Matrix products for the CPU rungs of several operators: how one product is split into pieces over the pool, and the
// two ways to compute a piece (heddle's blocked kernel, and OpenBLAS if installed).
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heddle/op.h"

// c (m, n) = alpha * op(a) (m, k) * op(b) (k, n) + beta * c, plus bias (n) on every row unless NULL. The leading
// dimensions are the distance between stored rows; a transposed operand is stored (k, m) or (n, k). If beta is 0, c is
// not read.
typedef struct heddle_gemm {
    int m, n, k;
    bool transpose_a, transpose_b;
    const float *a, *b;
    float *c;
    int leading_a, leading_b, leading_c;
    float alpha, beta;
    const float *bias;
} heddle_gemm;

// Computes a product in the calling thread, without `bias`. `scratch` has scratch_bytes, 64-byte aligned.
typedef struct heddle_gemm_kernel {
    void (*run)(const heddle_gemm *gemm, void *scratch);
    size_t scratch_bytes;
} heddle_gemm_kernel;

// Which of the two is higher on the ladders. On 64-bit Arm heddle's kernel is faster than OpenBLAS 0.3.21, by a tenth
// to a third on a Neoverse V1; elsewhere OpenBLAS has kernels written by hand for each generation.
#if defined(__aarch64__)
#define HEDDLE_BLOCKED_BEATS_OPENBLAS 1
#else
#define HEDDLE_BLOCKED_BEATS_OPENBLAS 0
#endif

extern const heddle_gemm_kernel heddle_gemm_blocked;
#if HEDDLE_HAVE_OPENBLAS
extern const heddle_gemm_kernel heddle_gemm_openblas;
#endif

// Runs the product on the pool. The pieces depend on m, n and k alone, so the result does not depend on the threads.
void heddle_gemm_run(heddle_pool *pool, const heddle_gemm_kernel *kernel, const heddle_gemm *gemm, void *workspace);
size_t heddle_gemm_workspace(const heddle_gemm_kernel *kernel, int m, int n, int k, int threads);

// Rounded up to whole cache lines, like all parts of a workspace.
static inline size_t heddle_align_bytes(size_t bytes)
{
    const size_t line = 64;
    return (bytes + line - 1) / line * line;
}

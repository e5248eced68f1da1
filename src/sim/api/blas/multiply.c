// Multiplication of matrices of any type: blocks of A are packed into plain columns, so that the inner loop reads in
// order whatever the transposition. Sums are floats; doubles and integers are summed as doubles, which hold them
// exactly.
#include <stdlib.h>
#include <string.h>

#include "api/blas/blas.h"

// 128 rows of 256 floats are 128 KiB: packed A stays in the second-level cache, a column of sums in the first.
enum { BLOCK_ROWS = 128, BLOCK_DEPTH = 256 };

typedef struct problem {
    size_t m, n, k;
    double alpha, beta;
    sim_blas_operand a, b;
    void *c;
    cudaDataType c_type;
    size_t c_stride;
} problem;

#define REAL       float
#define TYPE       CUDA_R_32F
#define NAME(part) part##_float
#include "api/blas/multiply_kernel.h"
#undef REAL
#undef TYPE
#undef NAME

#define REAL       double
#define TYPE       CUDA_R_64F
#define NAME(part) part##_double
#include "api/blas/multiply_kernel.h"
#undef REAL
#undef TYPE
#undef NAME

static bool summed_as_double(cudaDataType type)
{
    return type == CUDA_R_64F || type == CUDA_R_8I || type == CUDA_R_8U || type == CUDA_R_32I;
}

void sim_blas_multiply(size_t m, size_t n, size_t k, double alpha, sim_blas_operand a, sim_blas_operand b, double beta,
                       void *c, cudaDataType c_type, size_t c_stride)
{
    problem p = {m, n, k, alpha, beta, a, b, c, c_type, c_stride};
    if (m == 0 || n == 0)
        return;
    if (alpha == 0)
        p.k = 0; // A and B are not read then, as BLAS has it
    if (summed_as_double(a.type))
        multiply_double(&p);
    else
        multiply_float(&p);
}

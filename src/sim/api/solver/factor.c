// The factorisations behind cuSOLVER, for real and complex matrices: factor_kernel.h, once for each.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/solver/solver.h"

enum { MOST_SWEEPS = 40 }; // of Jacobi's rotations; ten are many

static long pivot_at(const solver_work *w, size_t index)
{
    return w->wide_pivots ? (long)((const int64_t *)w->pivots)[index] : ((const int32_t *)w->pivots)[index];
}

static void store_pivot(const solver_work *w, size_t index, size_t row)
{
    if (w->wide_pivots)
        ((int64_t *)w->pivots)[index] = (int64_t)row + 1;
    else
        ((int32_t *)w->pivots)[index] = (int32_t)row + 1;
}

#define SCALAR                  double
#define NAME(part)              part##_real
#define CONJUGATE(x)            (x)
#define REAL_OF(x)              (x)
#define SIZE_OF(x)              fabs(x)
#define LOAD(type, data, i)     sim_blas_load(type, data, i)
#define STORE(type, data, i, x) sim_blas_store(type, data, i, x)
#include "api/solver/factor_kernel.h"
#undef SCALAR
#undef NAME
#undef CONJUGATE
#undef REAL_OF
#undef SIZE_OF
#undef LOAD
#undef STORE

#define SCALAR              double complex
#define NAME(part)          part##_complex
#define CONJUGATE(x)        conj(x)
#define REAL_OF(x)          creal(x)
#define SIZE_OF(x)          cabs(x)
#define LOAD(type, data, i) (sim_blas_load(type, data, 2 * (i)) + I * sim_blas_load(type, data, 2 * (i) + 1))
#define STORE(type, data, i, x)                                                                                        \
    (sim_blas_store(type, data, 2 * (i), creal(x)), sim_blas_store(type, data, 2 * (i) + 1, cimag(x)))
#include "api/solver/factor_kernel.h"

int sim_solver_run(const solver_work *work)
{
    return work->is_complex ? run_complex(work) : run_real(work);
}

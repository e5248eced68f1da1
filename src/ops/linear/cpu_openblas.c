// linear, the vendor's rung: OpenBLAS computes the pieces, heddle's pool runs them.
//
// Limited by: the multiplier units, and by packing the weights again in every call.

#include "ops/linear/linear.h"

#if HEDDLE_HAVE_OPENBLAS

heddle_status heddle_linear_forward_cpu_openblas(const heddle_call *call)
{
    return heddle_linear_forward_by(&heddle_gemm_openblas, call);
}

heddle_status heddle_linear_backward_cpu_openblas(const heddle_call *call)
{
    return heddle_linear_backward_by(&heddle_gemm_openblas, call);
}

size_t heddle_linear_forward_cpu_openblas_workspace(const void *shape, int threads)
{
    return heddle_linear_forward_workspace_by(&heddle_gemm_openblas, shape, threads);
}

size_t heddle_linear_backward_cpu_openblas_workspace(const void *shape, int threads)
{
    return heddle_linear_backward_workspace_by(&heddle_gemm_openblas, shape, threads);
}

#endif

// linear, second rung: matmul's blocked kernel on the layer's own layouts; the sums start with the bias.
//
// Limited by: the multiplier units, and by packing the weights again in every call.

#include "ops/linear/linear.h"

heddle_status heddle_linear_forward_cpu_blocked(const heddle_call *call)
{
    return heddle_linear_forward_by(&heddle_gemm_blocked, call);
}

heddle_status heddle_linear_backward_cpu_blocked(const heddle_call *call)
{
    return heddle_linear_backward_by(&heddle_gemm_blocked, call);
}

size_t heddle_linear_forward_cpu_blocked_workspace(const void *shape, int threads)
{
    return heddle_linear_forward_workspace_by(&heddle_gemm_blocked, shape, threads);
}

size_t heddle_linear_backward_cpu_blocked_workspace(const void *shape, int threads)
{
    return heddle_linear_backward_workspace_by(&heddle_gemm_blocked, shape, threads);
}

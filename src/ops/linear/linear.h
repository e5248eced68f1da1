// linear: its operators and its rungs.
#pragma once

#include "heddle/op.h"
#include "ops/matmul/gemm.h"

extern const heddle_op heddle_op_linear_forward, heddle_op_linear_backward;

heddle_status heddle_linear_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_linear_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_linear_forward_cpu_blocked(const heddle_call *call);
heddle_status heddle_linear_backward_cpu_blocked(const heddle_call *call);
size_t heddle_linear_forward_cpu_blocked_workspace(const void *shape, int threads);
size_t heddle_linear_backward_cpu_blocked_workspace(const void *shape, int threads);
#if HEDDLE_HAVE_OPENBLAS
heddle_status heddle_linear_forward_cpu_openblas(const heddle_call *call);
heddle_status heddle_linear_backward_cpu_openblas(const heddle_call *call);
size_t heddle_linear_forward_cpu_openblas_workspace(const void *shape, int threads);
size_t heddle_linear_backward_cpu_openblas_workspace(const void *shape, int threads);
#endif

// The operators as matrix products, run by `kernel` (products.c).
heddle_status heddle_linear_forward_by(const heddle_gemm_kernel *kernel, const heddle_call *call);
heddle_status heddle_linear_backward_by(const heddle_gemm_kernel *kernel, const heddle_call *call);
size_t heddle_linear_forward_workspace_by(const heddle_gemm_kernel *kernel, const void *shape, int threads);
size_t heddle_linear_backward_workspace_by(const heddle_gemm_kernel *kernel, const void *shape, int threads);

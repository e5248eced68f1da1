// matmul: its operators and its rungs.
#pragma once

#include "heddle/op.h"
#include "heddle/ops.h"
#include "ops/matmul/gemm.h"

extern const heddle_op heddle_op_matmul_forward, heddle_op_matmul_backward;

// The part of the forward operator that does not depend on the element type; matmul_bf16 shares it.
enum { HEDDLE_MATMUL_FIELDS = 7 };
extern const heddle_field heddle_matmul_fields[HEDDLE_MATMUL_FIELDS];
int heddle_matmul_dims_a(const void *shape, int dims[HEDDLE_MAX_DIMS]);
int heddle_matmul_dims_b(const void *shape, int dims[HEDDLE_MAX_DIMS]);
int heddle_matmul_dims_output(const void *shape, int dims[HEDDLE_MAX_DIMS]);
heddle_status heddle_matmul_validate(const void *shape);
void heddle_matmul_reference(const void *shape, const double *const *input, double *const *output);
int64_t heddle_matmul_reduction(const void *shape);

// Shared memory per block, in bytes, of the mma.sync rungs in tf32 and bf16: three stages, each of 128 and 256 rows of
// 128 bytes.
enum { HEDDLE_MATMUL_RING_BYTES = 3 * (128 + 256) * 128 };

// Bytes of workspace of the rungs that split k, in tf32 and bf16: for copies of operands whose rows do not start at
// multiples of 16 bytes, and of floats that do not lie along k.
size_t heddle_split_workspace(const heddle_matmul_shape *shape, size_t element_bytes);

heddle_status heddle_matmul_forward_cpu_naive(const heddle_call *call);
heddle_status heddle_matmul_backward_cpu_naive(const heddle_call *call);
heddle_status heddle_matmul_forward_cpu_blocked(const heddle_call *call);
heddle_status heddle_matmul_backward_cpu_blocked(const heddle_call *call);
size_t heddle_matmul_forward_cpu_blocked_workspace(const void *shape, int threads);
size_t heddle_matmul_backward_cpu_blocked_workspace(const void *shape, int threads);
#if HEDDLE_HAVE_OPENBLAS
heddle_status heddle_matmul_forward_cpu_openblas(const heddle_call *call);
heddle_status heddle_matmul_backward_cpu_openblas(const heddle_call *call);
size_t heddle_matmul_forward_cpu_openblas_workspace(const void *shape, int threads);
size_t heddle_matmul_backward_cpu_openblas_workspace(const void *shape, int threads);
#endif

// The operators as matrix products, run by `kernel` (products.c).
heddle_status heddle_matmul_forward_by(const heddle_gemm_kernel *kernel, const heddle_call *call);
heddle_status heddle_matmul_backward_by(const heddle_gemm_kernel *kernel, const heddle_call *call);
size_t heddle_matmul_forward_workspace_by(const heddle_gemm_kernel *kernel, const void *shape, int threads);
size_t heddle_matmul_backward_workspace_by(const heddle_gemm_kernel *kernel, const void *shape, int threads);

// matmul_host: its operator and its rungs on the CPU.
#pragma once

#include "heddle/op.h"
#include "ops/matmul/gemm.h"

extern const heddle_op heddle_op_matmul_host;

// matmul's rungs on the CPU, which uses host memory anyway (cpu.c).
heddle_status heddle_matmul_host_cpu_naive(const heddle_call *call);
heddle_status heddle_matmul_host_cpu_blocked(const heddle_call *call);
size_t heddle_matmul_host_cpu_blocked_workspace(const void *shape, int threads);
#if HEDDLE_HAVE_OPENBLAS
heddle_status heddle_matmul_host_cpu_openblas(const heddle_call *call);
size_t heddle_matmul_host_cpu_openblas_workspace(const void *shape, int threads);
#endif

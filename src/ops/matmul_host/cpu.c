// matmul_host on the CPU, which uses host memory anyway: matmul's own rungs.

#include "heddle/ops.h"
#include "ops/matmul/matmul.h"
#include "ops/matmul_host/matmul_host.h"

static heddle_matmul_shape plain(const void *shape_)
{
    const heddle_matmul_host_shape *shape = shape_;
    return (heddle_matmul_shape){.m = shape->m, .n = shape->n, .k = shape->k, .alpha = 1};
}

static heddle_status launch_by(heddle_status (*launch)(const heddle_call *call), const heddle_call *call)
{
    heddle_matmul_shape shape = plain(call->shape);
    heddle_call inner = *call;
    inner.shape = &shape;
    return launch(&inner);
}

heddle_status heddle_matmul_host_cpu_naive(const heddle_call *call)
{
    return launch_by(heddle_matmul_forward_cpu_naive, call);
}

heddle_status heddle_matmul_host_cpu_blocked(const heddle_call *call)
{
    return launch_by(heddle_matmul_forward_cpu_blocked, call);
}

size_t heddle_matmul_host_cpu_blocked_workspace(const void *shape_, int threads)
{
    heddle_matmul_shape shape = plain(shape_);
    return heddle_matmul_forward_cpu_blocked_workspace(&shape, threads);
}

#if HEDDLE_HAVE_OPENBLAS
heddle_status heddle_matmul_host_cpu_openblas(const heddle_call *call)
{
    return launch_by(heddle_matmul_forward_cpu_openblas, call);
}

size_t heddle_matmul_host_cpu_openblas_workspace(const void *shape_, int threads)
{
    heddle_matmul_shape shape = plain(shape_);
    return heddle_matmul_forward_cpu_openblas_workspace(&shape, threads);
}
#endif

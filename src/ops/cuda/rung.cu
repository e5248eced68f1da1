// The list of a module's rungs.

#include "ops/cuda/rung.h"

#include <string.h>

#include "device/cuda/cuda.h"

static heddle_cuda_rung *rungs;

void heddle_cuda_rung_add(heddle_cuda_rung *rung)
{
    rung->next = rungs;
    rungs = rung;
}

heddle_launcher *heddle_cuda_launcher(const char *op, const char *rung)
{
    for (heddle_cuda_rung *one = rungs; one; one = one->next)
        if (strcmp(one->op, op) == 0 && strcmp(one->rung, rung) == 0)
            return one->launch;
    return NULL;
}

cudaStream_t heddle_cuda_stream_of(const heddle_call *call)
{
    return heddle_cuda_raw(call->stream);
}

heddle_status heddle_cuda_launched(const char *rung)
{
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        return HEDDLE_OK;
    return heddle_cuda_fail(HEDDLE_DEVICE, "rung %s could not be launched: %s (%s)", rung, cudaGetErrorString(error),
                            cudaGetErrorName(error));
}

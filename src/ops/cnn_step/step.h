// One cnn_step on a GPU: what a rung's file includes beside its kernels.
#pragma once

#include "ops/cnn_step/finish.h"
#include "ops/cnn_step/head.h"
#include "ops/cnn_step/kernels.h"
#include "ops/cnn_step/prepare.h"

template <typename Arithmetic>
static heddle_status cnn_step_rung(const heddle_call *call, const char *rung,
                                   const cnn_step_kernels<Arithmetic> &kernels)
{
    const cnn_step_arguments<Arithmetic> arguments = cnn_step_prepare_arguments<Arithmetic>(
        *(const heddle_cnn_step_shape *)call->shape, heddle_cnn_step_unpack(call), call->workspace, kernels.in_halves);
    cnn_kernel_launch<Arithmetic> *const all[] = {kernels.prepare, kernels.forward,         kernels.hidden,
                                                  kernels.head,    kernels.hidden_backward, kernels.backward,
                                                  kernels.finish};
    if (cnn_launch_all<Arithmetic>(arguments, heddle_cuda_stream_of(call), all) == CNN_NO_MAP)
        return HEDDLE_UNSUPPORTED;
    return heddle_cuda_launched(rung); // what the runtime refuses is its last error
}

// matmul_host, rung 3: the streams of rung 2 with a faster product of fp32 class: tensor cores multiply every float in
// parts (matmul's rung 16 on Hopper, by wgmma; its rung 15 elsewhere, by mma.sync).
//
// Rung 2 hides the copies and is limited by the float32 units. Tensor cores multiply about twice as fast, so the link
// matters again: a tile of s by s does s / 4 multiplications per byte that comes in, and it takes tiles with twice the
// side of rung 2's to keep the tensor cores fed.
//
// Limited by: the tensor cores if there is memory for large tiles, else the link in.

#include "ops/matmul_host/streams.h"

// Hopper's rung is not in every build and runs on no other GPU.
static heddle_launcher *choose(void)
{
    const int hopper = 90;
    heddle_launcher *found = NULL;
    if (heddle_cuda_capability() / 10 == hopper / 10)
        found = heddle_cuda_launcher("matmul_forward", "16_bf16x6_wgmma");
    return found ? found : heddle_cuda_launcher("matmul_forward", "15_tf32x3_mma_sync");
}

static heddle_status multiply_parts(const heddle_call *call, const heddle_matmul_shape *shape, const float *a,
                                    const float *b, float *output, void *workspace)
{
    heddle_launcher *multiply = choose();
    if (!multiply)
        return heddle_cuda_fail(HEDDLE_MISSING, "matmul_host: this build has no product of fp32 class");
    heddle_call inner = {};
    inner.shape = shape;
    inner.input[0] = a;
    inner.input[1] = b;
    inner.output[0] = output;
    inner.workspace = workspace;
    inner.stream = call->stream;
    return multiply(&inner);
}

static heddle_status launch(const heddle_call *call)
{
    return host_run_streams(call, multiply_parts);
}

HEDDLE_CUDA_RUNG("matmul_host", "03_streams_tf32x3", launch)

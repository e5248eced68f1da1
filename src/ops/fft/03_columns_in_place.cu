// fft2d, rung 3: rows, then columns in place. A block handles several adjacent columns, so that memory is read and
// written in whole sectors, and nothing is transposed. The rung before took four passes through memory.
//
// Limited by: memory bandwidth: two passes through memory.

#include "device/cuda/check.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/fft/launch.h"

static heddle_status launch(const heddle_call *call)
{
    const heddle_fft2d_shape *shape = (const heddle_fft2d_shape *)call->shape;
    long long images = shape->batch;
    float *output = (float *)call->output[0];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    heddle_fft_job rows = heddle_fft_rows(HEDDLE_FFT_COMPLEX, shape->w, images * shape->h, shape->inverse != 0,
                                          (const float *)call->input[0], output);
    heddle_fft_job columns =
        heddle_fft_rows(HEDDLE_FFT_COMPLEX, shape->h, images * shape->w, shape->inverse != 0, output, output);
    heddle_fft_lines side_by_side = {shape->w, (long long)shape->h * shape->w, 1, shape->w, shape->h};
    columns.from = columns.to = side_by_side;
    rows.scale = shape->scale;
    HEDDLE_CUDA_TRY(heddle_fft_launch(&rows, call->workspace, stream));
    HEDDLE_CUDA_TRY(heddle_fft_launch(&columns, call->workspace, stream));
    return heddle_cuda_launched("03_columns_in_place");
}

HEDDLE_CUDA_RUNG("fft2d", "03_columns_in_place", launch)

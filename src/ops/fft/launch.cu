// Which kernels run a job: the passes of the rungs, combined for other operators.

#include "ops/fft/launch.h"

#include <limits.h>

#include "ops/cuda/rung.h"
#include "ops/fft/cuda_memory.h"
#include "ops/fft/half.h"
#include "ops/fft/passes.h"

static cudaError_t launch_one_kernel(const heddle_fft_job *job, cudaStream_t stream)
{
    if (job->lines > INT_MAX) // which a pass counts in 32 bits
        return cudaErrorInvalidValue;
    fft_pass pass = fft_pass_of(job);
    int n = job->kind == HEDDLE_FFT_COMPLEX ? job->n : job->n / 2;
    bool rows = job->from.stride == 1 && job->to.stride == 1;
    if (job->kind == HEDDLE_FFT_COMPLEX && n == HEDDLE_FFT_ONE_ROW)
        return rows ? fft_pass_rows(&pass, n, stream) : cudaErrorInvalidValue;
    if (job->kind != HEDDLE_FFT_COMPLEX && fft_is_for_registers(n))
        return fft_pass_half(&pass, n, job->kind, stream);
    if (job->kind != HEDDLE_FFT_COMPLEX || !fft_is_for_registers(n))
        return fft_pass_registers(&pass, n, job->kind, stream);
    return rows ? fft_pass_rows(&pass, n, stream) : fft_pass_columns(&pass, n, stream);
}

static bool is_contiguous(const heddle_fft_job *job)
{
    int half = job->n / 2 + 1;
    return fft_is_contiguous(job->from, job->kind == HEDDLE_FFT_OF_HALF ? half : job->n) &&
           fft_is_contiguous(job->to, job->kind == HEDDLE_FFT_TO_HALF ? half : job->n);
}

cudaError_t heddle_fft_launch(const heddle_fft_job *job, void *workspace, cudaStream_t stream)
{
    fft_memory memory = fft_cuda_memory(job);
    if (job->lines == 0)
        return cudaSuccess;
    if (memory.way != FFT_BY_ONE_KERNEL && !is_contiguous(job))
        return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    switch (memory.way) {
    case FFT_BY_ONE_KERNEL: error = launch_one_kernel(job, stream); break;
    case FFT_BY_PASSES: error = fft_launch_passes(job, workspace, stream); break;
    case FFT_BY_BLUESTEIN: error = fft_launch_bluestein(job, workspace, stream); break;
    case FFT_BY_HALF: error = fft_launch_by_half(job, workspace, stream); break;
    case FFT_BY_WHOLE: error = fft_launch_by_whole(job, workspace, stream); break;
    }
    return error != cudaSuccess ? error : cudaPeekAtLastError();
}

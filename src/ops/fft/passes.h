// The passes that the rungs of fft are made of, each in the file of its rung. They queue a kernel, and report an
// impossible launch.
#pragma once

#include <cuda_runtime.h>

#include "ops/fft/pass.h"

// Powers of two from 32 to 8192, lines with adjacent elements (05_radix16_registers).
cudaError_t fft_pass_rows(const fft_pass *pass, int n, cudaStream_t stream);
// The same for adjacent lines, before and after (06_four_step).
cudaError_t fft_pass_columns(const fft_pass *pass, int n, cudaStream_t stream);
// Powers of two from 64 to 1024: adjacent lines to lines with adjacent elements.
cudaError_t fft_pass_columns_to_rows(const fft_pass *pass, int n, cudaStream_t stream);
// Any product of 2, 3, 5 and 7 up to 4096, any lines, real ones too: n complex numbers or pairs of reals
// (07_mixed_radix).
cudaError_t fft_pass_mixed(const fft_pass *pass, int n, heddle_fft_kind kind, cudaStream_t stream);
// The same, in registers if the lines are whole and aligned (09_mixed_registers).
cudaError_t fft_pass_registers(const fft_pass *pass, int n, heddle_fft_kind kind, cudaStream_t stream);
// Powers of two from 32 to 4096 pairs of reals (03_half_length).
cudaError_t fft_pass_half(const fft_pass *pass, int n, heddle_fft_kind kind, cudaStream_t stream);
// The last pass of n pairs of reals, a power of two: as fft_pass_columns, and the result as of a real transform
// (rfft's 04_fused_passes).
cudaError_t fft_pass_apart(const fft_pass *pass, int factor, cudaStream_t stream);

// Whether the passes of powers of two can handle it.
static inline bool fft_is_for_registers(int n)
{
    return heddle_fft_is_power_of_two(n) && n >= 32 && n <= HEDDLE_FFT_ONE_KERNEL;
}

// Whole jobs: of several passes (06_four_step; real ones if heddle_fft_is_fused), and of any length (08_bluestein).
cudaError_t fft_launch_passes(const heddle_fft_job *job, void *workspace, cudaStream_t stream);
cudaError_t fft_launch_bluestein(const heddle_fft_job *job, void *workspace, cudaStream_t stream);

// A job that is one pass.
static inline fft_pass fft_pass_of(const heddle_fft_job *job)
{
    bool conjugate = job->kind == HEDDLE_FFT_COMPLEX && job->inverse;
    fft_pass pass;
    pass.input = job->input;
    pass.output = job->output;
    pass.lines = (unsigned)job->lines;
    pass.from = job->from;
    pass.to = job->to;
    pass.modulus = 0;
    pass.input_sign = pass.output_sign = conjugate ? -1.0f : 1.0f;
    pass.scale = job->scale;
    return pass;
}

// Transforms of real lines that one kernel cannot do, for rfft's rungs.
#pragma once

#include <cuda_runtime.h>

#include "ops/fft/fft.h"

// n even: pairs of reals as n / 2 complex numbers (03_half_length). Lines one after another.
cudaError_t fft_launch_by_half(const heddle_fft_job *job, void *workspace, cudaStream_t stream);
// Any n, as complex numbers (02_as_complex).
cudaError_t fft_launch_by_whole(const heddle_fft_job *job, void *workspace, cudaStream_t stream);

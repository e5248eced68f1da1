// Fourier transforms on a GPU for the rungs of fft, rfft and fft2d and for other operators: the jobs of fft.h as
// kernels on a stream. A 2-D transform is a job of rows and one of columns.
#pragma once

#include <cuda_runtime.h>

#include "ops/fft/fft.h"

// Queues a job, with heddle_fft_cuda_workspace bytes at `workspace`. Returns cudaErrorInvalidValue if its length does
// not allow the layout of its lines (see HEDDLE_FFT_ONE_KERNEL).
cudaError_t heddle_fft_launch(const heddle_fft_job *job, void *workspace, cudaStream_t stream);

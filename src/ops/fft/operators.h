// What the tables of fft, rfft and fft2d share: references and the launchers of the CPU rungs.
#pragma once

#include "heddle/ops.h"
#include "ops/fft/fft.h"

// output[k] = scale * Σ input[q] exp(∓2πi q k / n) in float64, of lines of n complex numbers with the same places in
// both, which may be the same array.
void heddle_fft_reference(int n, int inverse, double scale, const double *input, double *output, size_t lines,
                          const heddle_fft_lines *where);

// 5 n log2 n, as is usual for n complex numbers.
double heddle_fft_flops(double lines, double n);

// Rows, then columns in place, of fft2d.
void heddle_fft2d_jobs_of(const heddle_fft2d_shape *shape, const void *input, void *output, heddle_fft_job jobs[2]);

heddle_status heddle_fft_cpu_dft(const heddle_call *call);
size_t heddle_fft_cpu_dft_workspace(const void *shape, int threads); // rfft's too
heddle_status heddle_rfft_cpu_dft(const heddle_call *call);
heddle_status heddle_fft2d_cpu_dft(const heddle_call *call);
size_t heddle_fft2d_cpu_dft_workspace(const void *shape, int threads);

heddle_status heddle_fft_cpu_recursive(const heddle_call *call);
size_t heddle_fft_cpu_recursive_workspace(const void *shape, int threads);
heddle_status heddle_fft_cpu_iterative(const heddle_call *call);
size_t heddle_fft_cpu_iterative_workspace(const void *shape, int threads);

heddle_status heddle_fft_cpu_lanes(const heddle_call *call);
size_t heddle_fft_cpu_lanes_workspace(const void *shape, int threads);
heddle_status heddle_rfft_cpu_lanes(const heddle_call *call);
size_t heddle_rfft_cpu_lanes_workspace(const void *shape, int threads);
heddle_status heddle_fft2d_cpu_lanes(const heddle_call *call);
size_t heddle_fft2d_cpu_lanes_workspace(const void *shape, int threads);

heddle_status heddle_fft_cpu_fftw(const heddle_call *call);
heddle_status heddle_rfft_cpu_fftw(const heddle_call *call);
heddle_status heddle_fft2d_cpu_fftw(const heddle_call *call);

// Stages of a Fourier transform on the CPU, for eight lines at once: one vector for each part of each number.
#pragma once

enum { FFT_LANES = 8 }; // a vector of AVX, two of NEON or SSE

// The same number of eight lines.
typedef struct fft_lanes {
    float real[FFT_LANES], imaginary[FFT_LANES];
} fft_lanes;

// A stage of `radix` (2, 3, 4, 5 or 7) of Stockham's algorithm on n numbers, after stages whose radices multiply to
// `before`. roots: exp(-2πi k / n), n pairs.
void heddle_fft_cpu_stage(int radix, const fft_lanes *input, fft_lanes *output, int n, int before, const float *roots);

// exp(-2πi k / n) for k < count, pairs, rounded from float64.
void heddle_fft_cpu_roots(float *roots, long long count, long long n);

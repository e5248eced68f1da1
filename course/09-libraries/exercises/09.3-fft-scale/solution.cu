// Keeps the frequencies 0 to keep - 1 of a signal of n floats, and removes the others.
//
// Forward and back multiply the signal by n. The kernel in between reads what it keeps anyway, so it divides there: no
// more launches, and only half of the spectrum to touch.

#include <cufft.h>

__global__ void keep_low(cufftComplex *spectrum, int frequencies, int keep, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < frequencies)
        spectrum[i] = i < keep ? make_float2(spectrum[i].x / n, spectrum[i].y / n) : make_float2(0, 0);
}

void low_pass(float *signal, int n, int keep)
{
    int frequencies = n / 2 + 1; // a real signal of n numbers has so many different ones
    cufftComplex *spectrum;
    cufftHandle forward, inverse;

    cudaMalloc(&spectrum, frequencies * sizeof *spectrum);
    cufftPlan1d(&forward, n, CUFFT_R2C, 1);
    cufftPlan1d(&inverse, n, CUFFT_C2R, 1);
    cufftExecR2C(forward, signal, spectrum);
    keep_low<<<(frequencies + 127) / 128, 128>>>(spectrum, frequencies, keep, n);
    cufftExecC2R(inverse, spectrum, signal);
    cufftDestroy(forward);
    cufftDestroy(inverse);
    cudaFree(spectrum);
}

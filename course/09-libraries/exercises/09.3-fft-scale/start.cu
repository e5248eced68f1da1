// Keeps the frequencies 0 to keep - 1 of a signal of n floats, and removes the others.

#include <cufft.h>

__global__ void remove_high(cufftComplex *spectrum, int frequencies, int keep)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= keep && i < frequencies)
        spectrum[i] = make_float2(0, 0);
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
    remove_high<<<(frequencies + 127) / 128, 128>>>(spectrum, frequencies, keep);
    cufftExecC2R(inverse, spectrum, signal);
    cufftDestroy(forward);
    cufftDestroy(inverse);
    cudaFree(spectrum);
}

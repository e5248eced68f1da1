// Reads above the guard that protects only their use: the last block reads beyond the end all the same.
#include "../corpus.h"

__global__ void guarded(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = in[i]; // expect: out-of-bounds
    if (i < n)
        out[i] = value;
}

int main()
{
    const int n = 100;
    float *in = device_ramp(n, 0.0f, 1.0f), *out = device_zeros<float>(n);
    guarded<<<2, 64>>>(in, out, n);
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(in));
    SHOW(cudaFree(out));
    return 0;
}

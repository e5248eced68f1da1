// The text that load_inline is given: no headers, no main.
extern "C" __global__ void inline_axpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

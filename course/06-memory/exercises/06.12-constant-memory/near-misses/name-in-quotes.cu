// bad-call: pass the variable itself, without quotes

#define COEFFICIENTS 6

__constant__ float coefficients[COEFFICIENTS];

__global__ void polynomial(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (i >= n)
        return;
    float here = x[i];
    for (int power = COEFFICIENTS - 1; power >= 0; power--)
        sum = sum * here + coefficients[power];
    y[i] = sum;
}

// `host_coefficients` is on the host, x and y are on the device.
void evaluate(const float *host_coefficients, const float *x, float *y, int n)
{
    cudaMemcpyToSymbol("coefficients", host_coefficients, COEFFICIENTS * sizeof(float));
    polynomial<<<(n + 127) / 128, 128>>>(x, y, n);
}

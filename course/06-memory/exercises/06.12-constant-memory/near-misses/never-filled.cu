// wrong: nothing fills the constant array

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
    polynomial<<<(n + 127) / 128, 128>>>(x, y, n);
}

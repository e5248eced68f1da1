// y[i] = the polynomial with COEFFICIENTS coefficients, lowest power first, at x[i].

#define COEFFICIENTS 6

__global__ void polynomial(const float *x, float *y, int n, const float *coefficients)
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
    float *on_device; // TODO: constant memory instead

    cudaMalloc(&on_device, COEFFICIENTS * sizeof(float));
    cudaMemcpy(on_device, host_coefficients, COEFFICIENTS * sizeof(float), cudaMemcpyHostToDevice);
    polynomial<<<(n + 127) / 128, 128>>>(x, y, n, on_device);
    cudaFree(on_device);
}

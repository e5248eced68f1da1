// The sum 0² + 1² + … + (n - 1)²: squared on the device, added up on the host, in unified memory.

__global__ void square_all(float *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        values[i] *= values[i];
}

float sum_of_squares(int n)
{
    float *values, sum = 0;

    cudaMallocManaged(&values, n * sizeof(float));
    for (int i = 0; i < n; i++)
        values[i] = i;
    square_all<<<(n + 127) / 128, 128>>>(values, n);
    for (int i = 0; i < n; i++)
        sum += values[i];
    cudaFree(values);
    return sum;
}

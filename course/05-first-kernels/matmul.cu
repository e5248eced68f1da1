// The naive product without a main: heddle check matmul.cu --op matmul

// launch: <<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>
__global__ void matmul(const float *a, const float *b, float *output, int m, int n, int k)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n)
        return;
    float sum = 0;
    for (int p = 0; p < k; p++)
        sum += a[row * k + p] * b[p * n + column];
    output[row * n + column] = sum;
}

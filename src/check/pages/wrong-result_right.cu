__global__ void kernel(const float *input, float *output, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        output[i] = fmaxf(input[i], 0);
}

void relu_forward(const float *input, float *output, int n)
{
    kernel<<<(n + 255) / 256, 256>>>(input, output, n);
}

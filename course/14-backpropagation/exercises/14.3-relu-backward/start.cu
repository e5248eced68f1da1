// The gradient of relu: one thread per element.

__global__ void relu_backward(const float *input, const float *grad_output, float *grad_input, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        grad_input[i] = fmaxf(grad_output[i], 0);
}

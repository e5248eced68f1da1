// The gradient of relu: one thread per element.
//
// relu(x) follows x where x is above 0 and is constant elsewhere, so its slope there is 1 or 0. The slope depends on
// the input of the forward pass, which must therefore be kept until now. The sign of the gradient plays no part.

__global__ void relu_backward(const float *input, const float *grad_output, float *grad_input, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        grad_input[i] = input[i] > 0 ? grad_output[i] : 0;
}

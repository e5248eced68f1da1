// A polynomial as activation, y = a x^3 + b x + c, and its gradient: one thread per element.

__global__ void forward(const float *x, float *y, float a, float b, float c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        y[i] = x[i]; // TODO
}

__global__ void backward(const float *x, const float *grad_y, float *grad_x, float a, float b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        grad_x[i] = grad_y[i]; // TODO
}

// x + bias, then relu, in place. x: (rows, columns), bias: (columns)
//
// The sum stays in a register until relu has been applied. Two trips of the whole array through memory become one.

__global__ void add_bias_relu(float *x, const float *bias, int columns, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        x[i] = fmaxf(x[i] + bias[i % columns], 0);
}

void bias_relu(float *x, const float *bias, int rows, int columns)
{
    int n = rows * columns, blocks = (n + 127) / 128;

    add_bias_relu<<<blocks, 128>>>(x, bias, columns, n);
}

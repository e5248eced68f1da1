// The gradient of a bias: the sum of each column. grad_y: (rows, outputs), grad_bias: (outputs)
//
// There is a mistake in it. `heddle learn` shows which accesses collide.

__global__ void add_rows(const float *grad_y, float *grad_bias, int rows, int outputs)
{
    int output = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;

    if (output < outputs && row < rows)
        grad_bias[output] += grad_y[row * outputs + output];
}

void bias_gradient(const float *grad_y, float *grad_bias, int rows, int outputs)
{
    dim3 block(32, 8), grid((outputs + 31) / 32, (rows + 7) / 8);

    cudaMemset(grad_bias, 0, outputs * sizeof(float));
    add_rows<<<grid, block>>>(grad_y, grad_bias, rows, outputs);
}

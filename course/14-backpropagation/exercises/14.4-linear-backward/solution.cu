// Gradients of a linear layer, y = x W^T: one thread per element.
// x: (rows, inputs), w: (outputs, inputs), y: (rows, outputs), all row-major
//
// x[r][i] influences every output of its row, by w[o][i] each: grad_x = grad_y W. w[o][i] influences output o of every
// row, by x[r][i] each: grad_w = grad_y^T x. The sum runs over the dimension that the result does not have.

__global__ void grad_x(const float *grad_y, const float *w, float *result, int rows, int inputs, int outputs)
{
    int input = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    if (input >= inputs || row >= rows)
        return;
    for (int output = 0; output < outputs; output++)
        sum += grad_y[row * outputs + output] * w[output * inputs + input];
    result[row * inputs + input] = sum;
}

__global__ void grad_w(const float *grad_y, const float *x, float *result, int rows, int inputs, int outputs)
{
    int input = blockIdx.x * blockDim.x + threadIdx.x, output = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    if (input >= inputs || output >= outputs)
        return;
    for (int row = 0; row < rows; row++)
        sum += grad_y[row * outputs + output] * x[row * inputs + input];
    result[output * inputs + input] = sum;
}

// Gradients of a linear layer, y = x W^T: one thread per element.
// x: (rows, inputs), w: (outputs, inputs), y: (rows, outputs), all row-major

__global__ void grad_x(const float *grad_y, const float *w, float *result, int rows, int inputs, int outputs)
{
    int input = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    if (input >= inputs || row >= rows)
        return;
    // TODO: sum over the outputs
    result[row * inputs + input] = sum;
}

__global__ void grad_w(const float *grad_y, const float *x, float *result, int rows, int inputs, int outputs)
{
    int input = blockIdx.x * blockDim.x + threadIdx.x, output = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;

    if (input >= inputs || output >= outputs)
        return;
    // TODO: sum over the rows
    result[output * inputs + input] = sum;
}

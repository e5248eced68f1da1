// The gradient of a bias: the sum of each column. grad_y: (rows, outputs), grad_bias: (outputs)
//
// One thread per column, which adds up its column in a register: nobody else writes its sum, nothing has to be cleared,
// and the order of the additions is fixed, so the result is the same in every run. Neighbouring threads read
// neighbouring columns: each row is one coalesced load. (atomicAdd in the first version is correct, too. Its additions
// come in any order, so its last bits may vary.)

__global__ void add_rows(const float *grad_y, float *grad_bias, int rows, int outputs)
{
    int output = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (output >= outputs)
        return;
    for (int row = 0; row < rows; row++)
        sum += grad_y[row * outputs + output];
    grad_bias[output] = sum;
}

void bias_gradient(const float *grad_y, float *grad_bias, int rows, int outputs)
{
    add_rows<<<(outputs + 127) / 128, 128>>>(grad_y, grad_bias, rows, outputs);
}

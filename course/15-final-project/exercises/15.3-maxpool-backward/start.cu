// The gradient of 2 x 2 maximum pooling: one thread per square.
// input, grad_input: (planes, height, width), grad_output: (planes, height / 2, width / 2)

__global__ void maxpool_backward(const float *input, const float *grad_output, float *grad_input, int planes,
                                 int height, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, squares_per_row = width / 2;

    if (i >= planes * (height / 2) * squares_per_row)
        return;
    // All rows of squares, over all planes, have the number i / squares_per_row; each is two rows of the input.
    int corner = i / squares_per_row * 2 * width + i % squares_per_row * 2;
    int places[4] = {corner, corner + 1, corner + width, corner + width + 1};
    float largest = -INFINITY;

    for (int k = 0; k < 4; k++)
        largest = fmaxf(largest, input[places[k]]);
    for (int k = 0; k < 4; k++)
        grad_input[places[k]] = input[places[k]] == largest ? grad_output[i] : 0;
}

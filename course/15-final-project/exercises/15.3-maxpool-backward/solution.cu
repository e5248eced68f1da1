// The gradient of 2 x 2 maximum pooling: one thread per square.
// input, grad_input: (planes, height, width), grad_output: (planes, height / 2, width / 2)
//
// Keep the place of the largest element, not only its value. With > instead of >=, a later element that is equally
// large does not replace it, so the first one wins, as it did in the forward pass.

__global__ void maxpool_backward(const float *input, const float *grad_output, float *grad_input, int planes,
                                 int height, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, squares_per_row = width / 2;

    if (i >= planes * (height / 2) * squares_per_row)
        return;
    // All rows of squares, over all planes, have the number i / squares_per_row; each is two rows of the input.
    int corner = i / squares_per_row * 2 * width + i % squares_per_row * 2;
    int places[4] = {corner, corner + 1, corner + width, corner + width + 1};
    int best = 0;

    for (int k = 1; k < 4; k++)
        if (input[places[k]] > input[places[best]])
            best = k;
    for (int k = 0; k < 4; k++)
        grad_input[places[k]] = k == best ? grad_output[i] : 0;
}

// Cross-entropy of each row of scores: one thread per row. x, probabilities: (rows, classes)

__global__ void cross_entropy(const float *x, const int *labels, float *probabilities, float *losses, int rows,
                              int classes)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float largest = -INFINITY, sum = 0;

    if (row >= rows)
        return;
    x += row * classes;
    probabilities += row * classes;

    for (int j = 0; j < classes; j++)
        largest = fmaxf(largest, x[j]);
    for (int j = 0; j < classes; j++)
        sum += expf(x[j] - largest);

    // TODO: the loss without the probabilities
    for (int j = 0; j < classes; j++)
        probabilities[j] = expf(x[j] - largest) / sum;
    losses[row] = -logf(probabilities[labels[row]]);
}

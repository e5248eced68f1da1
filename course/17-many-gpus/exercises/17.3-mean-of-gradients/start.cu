// Combines the mean gradients of several ranks: one thread per element. gradients: (ranks, n), counts: (ranks)

__global__ void mean_of_gradients(const float *gradients, const int *counts, float *result, int ranks, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (i >= n)
        return;
    // TODO: ranks with more images count more
    for (int rank = 0; rank < ranks; rank++)
        sum += gradients[rank * n + i];
    result[i] = sum / ranks;
}

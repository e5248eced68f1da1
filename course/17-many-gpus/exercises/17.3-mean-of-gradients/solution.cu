// Combines the mean gradients of several ranks: one thread per element. gradients: (ranks, n), counts: (ranks)
//
// A rank's mean times its count is the sum over its images. The sums are added and divided by the number of all images.
// A rank without images has no mean; 0 * NaN would still be NaN, so it is skipped.

__global__ void mean_of_gradients(const float *gradients, const int *counts, float *result, int ranks, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, images = 0;
    float sum = 0;

    if (i >= n)
        return;
    for (int rank = 0; rank < ranks; rank++) {
        if (counts[rank] > 0)
            sum += gradients[rank * n + i] * counts[rank];
        images += counts[rank];
    }
    result[i] = sum / images;
}

// One step of stochastic gradient descent: one thread per weight.
//
// Minus, because the gradient points to where the loss grows. The gradient is cleared while it is at hand: one store,
// instead of a launch that reads nothing and writes everything once more.

__global__ void sgd(float *weights, float *gradients, float rate, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        weights[i] -= rate * gradients[i];
        gradients[i] = 0;
    }
}

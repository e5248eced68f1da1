// One step of stochastic gradient descent: one thread per weight.

__global__ void sgd(float *weights, float *gradients, float rate, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    weights[i] += rate * gradients[i]; // TODO: the right direction, for the right elements, and clear the gradients
}

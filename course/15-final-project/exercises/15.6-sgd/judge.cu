#include "learn.h"

#include "15.6-sgd.cu"

__global__ void add_gradients(const float *added, float *gradients, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        gradients[i] += added[i];
}

int main(void)
{
    for (int n : {1, 256, 1009}) {
        std::vector<float> weights = learn_values<float>(n), expected = weights;
        int blocks = (n + 127) / 128;
        learn_case("n = %d", n);
        float *device_weights = learn_device(weights), *gradients = learn_device(std::vector<float>(n, 0.0f));
        for (int step = 1; step <= 3; step++) {
            std::vector<float> added = learn_values<float>(n, (unsigned)step + 1);
            for (int i = 0; i < n; i++)
                expected[i] -= 0.5f * added[i];
            float *device_added = learn_device(added);
            add_gradients<<<blocks, 128>>>(device_added, gradients, n);
            sgd<<<blocks, 128>>>(device_weights, gradients, 0.5f, n);
            learn_threads_1d(128);
            learn_expect("weights", device_weights, expected);
            learn_expect("gradients", gradients, std::vector<float>(n, 0.0f));
        }
    }
    return learn_passed();
}

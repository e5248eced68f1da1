#include "learn.h"

#include "12.5-loss-scaling.cu"

int main(void)
{
    struct {
        int n;
        float size, scale; // of the gradients, of the loss
        int overflow;
    } cases[] = {{1, 1, 1, 0}, {300, 0x1p-30f, 0x1p16f, 0}, {1009, 0x1p-20f, 1024, 0}, {300, 1, 0x1p13f, 1}};
    for (auto c : cases) {
        learn_case("n = %d, gradients of about %g, scale %g", c.n, c.size, c.scale);
        std::vector<float> gradients = learn_values<float>(c.n), weights = learn_values<float>(c.n, 2), expected(c.n);
        std::vector<int> overflow(1, c.overflow);
        const float rate = 0.5f / c.size;
        for (int i = 0; i < c.n; i++) {
            expected[i] = weights[i] - (c.overflow ? 0 : 0.5f * gradients[i]);
            gradients[i] *= c.size;
        }
        float *device_gradients = learn_device(gradients), *device_weights = learn_device(weights);
        __half *stored = learn_uninitialised<__half>(c.n);
        int *device_overflow = learn_device(std::vector<int>(1, 0));
        int blocks = (c.n + 127) / 128;
        store_gradients<<<blocks, 128>>>(device_gradients, stored, device_overflow, c.scale, c.n);
        learn_expect("overflow", device_overflow, overflow);
        update<<<blocks, 128>>>(device_weights, stored, device_overflow, rate, c.scale, c.n);
        learn_threads_1d(128);
        learn_expect("weights", device_weights, expected);
    }
    return learn_passed();
}

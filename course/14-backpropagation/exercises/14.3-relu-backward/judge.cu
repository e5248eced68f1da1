#include "learn.h"

#include "14.3-relu-backward.cu"

int main(void)
{
    for (int n : {1, 128, 1009}) {
        learn_case("n = %d", n);
        std::vector<float> input = learn_values<float>(n), gradient = learn_values<float>(n, 2), expected(n);
        for (int i = 0; i < n; i++)
            expected[i] = input[i] > 0 ? gradient[i] : 0;
        float *device_input = learn_device(input), *device_gradient = learn_device(gradient);
        float *device_out = learn_output<float>(n);
        learn_threads_1d(128);
        relu_backward<<<(n + 127) / 128, 128>>>(device_input, device_gradient, device_out, n);
        learn_expect("grad_input", device_out, expected);
    }
    return learn_passed();
}

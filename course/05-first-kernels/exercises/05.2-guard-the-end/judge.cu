#include "learn.h"

#include "05.2-guard-the-end.cu"

int main(void)
{
    for (int n : {10, 1, 32, 97}) {
        int threads = 4, blocks = (n + threads - 1) / threads;
        learn_case("n = %d, launched with %d threads", n, blocks * threads);
        std::vector<float> fahrenheit = learn_values<float>(n), expected(n);
        for (int i = 0; i < n; i++) {
            fahrenheit[i] = 32 + 9 * fahrenheit[i]; // whole degrees Celsius
            expected[i] = (fahrenheit[i] - 32) * 5 / 9;
        }
        float *device_fahrenheit = learn_device(fahrenheit), *device_celsius = learn_output<float>(n);
        learn_threads_1d(threads);
        to_celsius<<<blocks, threads>>>(device_fahrenheit, device_celsius, n);
        learn_expect("celsius", device_celsius, expected);
    }
    return learn_passed();
}

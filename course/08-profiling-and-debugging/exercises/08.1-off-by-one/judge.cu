#include "learn.h"

#include "08.1-off-by-one.cu"

int main(void)
{
    for (int n : {24, 1, 2, 3, 32, 33, 301}) {
        int threads = 32;
        learn_case("n = %d", n);
        std::vector<float> in = learn_values<float>(n), expected(n);
        for (float &value : in)
            value *= 3; // the means are whole numbers
        for (int i = 0; i < n; i++)
            expected[i] = i == 0 || i == n - 1 ? in[i] : (in[i - 1] + in[i] + in[i + 1]) / 3;
        float *device_in = learn_device(in), *device_out = learn_output<float>(n);
        learn_threads_1d(threads);
        smooth<<<(n + threads - 1) / threads, threads>>>(device_in, device_out, n);
        learn_expect("out", device_out, expected);
    }
    return learn_passed();
}

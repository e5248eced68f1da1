#include "learn.h"

#include "05.1-which-element.cu"

int main(void)
{
    for (int blocks : {1, 3, 50}) {
        int threads = 4, n = blocks * threads;
        learn_case("%d elements in blocks of %d threads", n, threads);
        std::vector<float> in = learn_values<float>(n), expected(n);
        for (int i = 0; i < n; i++)
            expected[i] = 2 * in[i];
        float *device_in = learn_device(in), *device_out = learn_output<float>(n);
        learn_threads_1d(threads);
        double_all<<<blocks, threads>>>(device_in, device_out);
        learn_expect("out", device_out, expected);
    }
    return learn_passed();
}

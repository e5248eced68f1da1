#include "learn.h"

#include "05.15-shift-left.cu"

int main(void)
{
    for (int n : {8, 1, 2, 31, 64, 127}) {
        int threads = (n + 31) / 32 * 32;
        learn_case("%d sample%s, %d threads", n, n == 1 ? "" : "s", threads);
        std::vector<float> samples = learn_values<float>(n), expected = samples;
        for (int i = 0; i + 1 < n; i++)
            expected[i] = samples[i + 1];
        float *device = learn_device(samples);
        learn_threads_1d(threads);
        shift_left<<<1, threads>>>(device, n);
        learn_expect("samples", device, expected);
    }
    return learn_passed();
}

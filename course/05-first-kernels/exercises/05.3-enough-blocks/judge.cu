#include "learn.h"

#include "05.3-enough-blocks.cu"

int main(void)
{
    for (int n : {100, 64, 65, 1, 127, 128, 997}) {
        learn_case("n = %d", n);
        std::vector<float> in = learn_values<float>(n), expected(n);
        for (int i = 0; i < n; i++)
            expected[i] = in[i] / 2;
        float *device_in = learn_device(in), *device_out = learn_output<float>(n);
        learn_threads_1d(THREADS);
        fade(device_in, device_out, n);
        learn_expect("out", device_out, expected);
        int idle = blocks_for(n) - (n + THREADS - 1) / THREADS;
        learn_require(idle <= 0, "blocks_for(%d) is %d: %d block%s nothing to do", n, blocks_for(n), idle,
                      idle == 1 ? " has" : "s have");
    }
    return learn_passed();
}

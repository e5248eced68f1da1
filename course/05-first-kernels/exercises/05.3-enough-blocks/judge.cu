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
        learn_require((blocks_for(n) - 1) * THREADS < n, "blocks_for(%d) is %d: the last block has nothing to do", n,
                      blocks_for(n));
    }
    return learn_passed();
}

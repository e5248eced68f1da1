#include "learn.h"

#include "05.14-divide-the-work.cu"

int main(void)
{
    for (int n : {5000, 1, 32, 4099}) { // 288 groups of 32 pixels or fewer, the limit in judge.json
        learn_case("%d pixel%s", n, n == 1 ? "" : "s");
        std::vector<int> in(n), expected(n);
        for (int i = 0; i < n; i++) {
            in[i] = i * 7 % 256;
            expected[i] = in[i] * (510 - in[i]) / 255;
        }
        int *device_in = learn_device(in), *device_out = learn_output<int>(n);
        brighten_on_gpu(device_in, device_out, n);
        learn_expect("out", device_out, expected);
    }
    return learn_passed();
}

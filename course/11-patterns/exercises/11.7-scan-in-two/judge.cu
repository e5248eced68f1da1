#include "learn.h"

#include "11.7-scan-in-two.cu"

int main(void)
{
    for (int n : {1, 64, 65, 1009, 4096}) {
        learn_case("n = %d", n);
        int blocks = (n + 63) / 64;
        std::vector<int> in = learn_values<int>(n), expected(n);
        for (int i = 0, sum = 0; i < n; i++)
            expected[i] = sum += in[i];
        int *device_in = learn_device(in), *device_out = learn_output<int>(n);
        int *sums = learn_uninitialised<int>(blocks), *scanned = learn_uninitialised<int>(blocks);
        int *total = learn_uninitialised<int>(1);
        learn_threads_1d(64);
        scan(device_in, device_out, sums, scanned, total, n);
        learn_expect("out", device_out, expected);
    }
    return learn_passed();
}

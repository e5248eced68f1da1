#include "learn.h"

#include "11.6-scan.cu"

int main(void)
{
    for (int n : {1, 2, 31, 97, 256}) {
        learn_case("n = %d", n);
        std::vector<int> in = learn_values<int>(n), expected(n);
        for (int i = 0, sum = 0; i < n; i++)
            expected[i] = sum += in[i];
        int *device_in = learn_device(in), *device_out = learn_output<int>(n);
        learn_threads_1d(THREADS);
        scan<<<1, THREADS>>>(device_in, device_out, n);
        learn_expect("out", device_out, expected);
    }
    return learn_passed();
}

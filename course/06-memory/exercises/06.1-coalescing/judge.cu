#include "learn.h"

#include "06.1-coalescing.cu"

int main(void)
{
    enum { THREADS = 128, PER_BLOCK = THREADS * PER_THREAD };
    for (int n : {1, 509, 1024, 3 * PER_BLOCK + 77}) {
        learn_case("n = %d", n);
        std::vector<float> in = learn_values<float>(n), expected(n);
        for (int i = 0; i < n; i++)
            expected[i] = 2 * in[i];
        float *device_in = learn_device(in), *device_out = learn_output<float>(n);
        double_four<<<(n + PER_BLOCK - 1) / PER_BLOCK, THREADS>>>(device_in, device_out, n);
        learn_expect("out", device_out, expected);
    }
    return learn_passed();
}

#include "learn.h"

#include "16.2-program-per-block.cu"

int main(void)
{
    for (int n : {1, 1000, 1024, 3001}) {
        learn_case("n = %d", n);
        std::vector<float> a = learn_values<float>(n), b = learn_values<float>(n, 2), expected(n);
        for (int i = 0; i < n; i++)
            expected[i] = a[i] + b[i];
        float *device_a = learn_device(a), *device_b = learn_device(b), *device_c = learn_output<float>(n);
        add_block<<<(n + 1023) / 1024, 128>>>(device_a, device_b, device_c, n);
        learn_expect("c", device_c, expected);
    }
    return learn_passed();
}

#include "learn.h"

#include "11.1-sum-with-atomics.cu"

int main(void)
{
    for (int n : {1, 31, 256, 1009}) {
        learn_case("n = %d", n);
        std::vector<float> in = learn_values<float>(n), expected(1, 0.0f);
        for (float value : in)
            expected[0] += value;
        float *device_in = learn_device(in), *total = learn_device(std::vector<float>(1, 0.0f));
        sum_all<<<(n + 255) / 256, 256>>>(device_in, total, n);
        learn_expect("total", total, expected);
    }
    return learn_passed();
}

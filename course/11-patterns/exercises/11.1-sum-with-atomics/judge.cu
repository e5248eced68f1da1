#include "learn.h"

#include "11.1-sum-with-atomics.cu"

// An atomic, because the simulator runs the blocks of a program with atomics one after the other. So a sum without
// atomics is reported as a race in every run, and does not come out wrong in some of them.
__global__ void clear(float *total)
{
    atomicExch(total, 0.0f);
}

int main(void)
{
    for (int n : {1, 31, 256, 1009}) {
        learn_case("n = %d", n);
        std::vector<float> in = learn_values<float>(n), expected(1, 0.0f);
        for (float value : in)
            expected[0] += value;
        float *device_in = learn_device(in), *total = learn_output<float>(1);
        clear<<<1, 1>>>(total);
        sum_all<<<(n + 255) / 256, 256>>>(device_in, total, n);
        learn_expect("total", total, expected);
    }
    return learn_passed();
}

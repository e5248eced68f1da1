#include "learn.h"

#include "11.2-block-sum.cu"

int main(void)
{
    for (int n : {1, 256, 257, 1009, 1024}) {
        learn_case("n = %d", n);
        int blocks = (n + THREADS - 1) / THREADS;
        std::vector<float> in = learn_values<float>(n), expected(blocks, 0.0f);
        for (int i = 0; i < n; i++)
            expected[i / THREADS] += in[i];
        float *device_in = learn_device(in), *partial = learn_output<float>(blocks);
        block_sum<<<blocks, THREADS>>>(device_in, partial, n);
        learn_expect("partial", partial, expected);
    }
    return learn_passed();
}

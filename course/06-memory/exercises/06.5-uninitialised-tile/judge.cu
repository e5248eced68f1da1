#include "learn.h"

#include "06.5-uninitialised-tile.cu"

int main(void)
{
    for (int n : {256, 1, 3 * BLOCK + 37}) {
        int blocks = (n + BLOCK - 1) / BLOCK;
        learn_case("n = %d", n);
        std::vector<float> in = learn_values<float>(n), expected(blocks);
        for (int i = 0; i < n; i++)
            expected[i / BLOCK] += in[i];
        float *device_in = learn_device(in), *device_sums = learn_output<float>(blocks);
        block_sums<<<blocks, BLOCK>>>(device_in, device_sums, n);
        learn_expect("sums", device_sums, expected);
    }
    return learn_passed();
}

#include "learn.h"

#include "13.4-conv-relu-pool.cu"

int main(void)
{
    struct {
        int width, height;
    } cases[] = {{2, 2}, {7, 5}, {16, 16}, {28, 28}, {3, 19}};
    std::vector<float> filter = {1, -2, 3, -4, 1, 2, -1, 2, -3};
    for (auto c : cases) {
        learn_case("width = %d, height = %d", c.width, c.height);
        std::vector<float> in = learn_values<float>(c.width * c.height);
        std::vector<float> expected((c.width / 2) * (c.height / 2), 0.0f);
        for (int y = 0; y < c.height / 2 * 2; y++)
            for (int x = 0; x < c.width / 2 * 2; x++) {
                float sum = 0, &largest = expected[y / 2 * (c.width / 2) + x / 2];
                for (int i = 0; i < 9; i++) {
                    int row = y + i / 3 - 1, column = x + i % 3 - 1;
                    if (row >= 0 && row < c.height && column >= 0 && column < c.width)
                        sum += filter[i] * in[row * c.width + column];
                }
                largest = std::fmax(largest, sum);
            }
        float *device_in = learn_device(in), *device_filter = learn_device(filter);
        float *scratch = learn_uninitialised<float>(in.size()), *device_out = learn_output<float>(expected.size());
        conv_relu_pool(device_in, device_filter, scratch, device_out, c.width, c.height);
        learn_expect("out", device_out, expected);
    }
    return learn_passed();
}

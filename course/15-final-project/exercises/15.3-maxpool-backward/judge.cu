#include "learn.h"

#include "15.3-maxpool-backward.cu"

int main(void)
{
    struct {
        int planes, height, width;
    } cases[] = {{1, 2, 2}, {1, 4, 6}, {5, 6, 4}, {3, 14, 14}};
    for (auto c : cases) {
        learn_case("%d planes of %d x %d", c.planes, c.height, c.width);
        std::vector<float> input = learn_values<float>(c.planes * c.height * c.width), expected(input.size(), 0.0f);
        for (float &value : input)
            value = std::fmax(value, 0.0f); // as after relu
        std::vector<float> gradient = learn_values<float>(input.size() / 4, 2);
        for (float &value : gradient)
            value += 9; // never 0
        for (size_t i = 0; i < gradient.size(); i++) {
            int per_row = c.width / 2, row = (int)i / per_row * 2, column = (int)i % per_row * 2;
            int best = row * c.width + column;
            for (int k = 1; k < 4; k++) {
                int place = (row + k / 2) * c.width + column + k % 2;
                if (input[place] > input[best])
                    best = place;
            }
            expected[best] = gradient[i];
        }
        float *device_input = learn_device(input), *device_gradient = learn_device(gradient);
        float *grad_input = learn_output<float>(input.size());
        maxpool_backward<<<((int)gradient.size() + 63) / 64, 64>>>(device_input, device_gradient, grad_input, c.planes,
                                                                   c.height, c.width);
        learn_expect("grad_input", grad_input, expected);
    }
    return learn_passed();
}

#include "learn.h"

#include "13.1-bias-relu.cu"

int main(void)
{
    struct {
        int rows, columns;
    } cases[] = {{1, 1}, {3, 7}, {16, 64}, {101, 10}};
    for (auto c : cases) {
        learn_case("rows = %d, columns = %d", c.rows, c.columns);
        std::vector<float> x = learn_values<float>(c.rows * c.columns), bias = learn_values<float>(c.columns, 2);
        std::vector<float> expected(x.size());
        for (size_t i = 0; i < x.size(); i++)
            expected[i] = std::fmax(x[i] + bias[i % c.columns], 0.0f);
        float *device_x = learn_device(x), *device_bias = learn_device(bias);
        bias_relu(device_x, device_bias, c.rows, c.columns);
        learn_expect("x", device_x, expected);
    }
    return learn_passed();
}

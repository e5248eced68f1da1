#include "learn.h"

#include "12.1-sum-in-float.cu"

int main(void)
{
    struct {
        int rows, columns, scale;
    } cases[] = {{1, 1, 1}, {3, 7, 1}, {2, 5000, 0}, {70, 31, 9}};
    for (auto c : cases) {
        learn_case("rows = %d, columns = %d%s", c.rows, c.columns, c.scale ? "" : ", all ones");
        std::vector<float> x = learn_values<float>(c.rows * c.columns), weights = learn_values<float>(c.columns, 2);
        for (float &value : x)
            value = c.scale ? value * c.scale + 29 : 1;
        for (float &value : weights)
            value = c.scale ? value * c.scale + 3 : 1;
        std::vector<float> expected(c.rows, 0.0f);
        for (int row = 0; row < c.rows; row++)
            for (int j = 0; j < c.columns; j++)
                expected[row] += x[row * c.columns + j] * weights[j];
        std::vector<__half> half_x(x.size()), half_weights(weights.size());
        for (size_t i = 0; i < x.size(); i++)
            half_x[i] = __float2half(x[i]);
        for (size_t i = 0; i < weights.size(); i++)
            half_weights[i] = __float2half(weights[i]);
        __half *device_x = learn_device(half_x), *device_weights = learn_device(half_weights);
        float *device_out = learn_output<float>(c.rows);
        rows_times_vector<<<(c.rows + 63) / 64, 64>>>(device_x, device_weights, device_out, c.rows, c.columns);
        learn_expect("out", device_out, expected);
    }
    return learn_passed();
}

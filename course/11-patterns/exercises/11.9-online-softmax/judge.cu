#include "learn.h"

#include "11.9-online-softmax.cu"

static void softmax_on_host(const float *x, float *y, int columns)
{
    double largest = x[0], sum = 0;
    for (int j = 0; j < columns; j++)
        largest = std::fmax(largest, (double)x[j]);
    for (int j = 0; j < columns; j++)
        sum += std::exp(x[j] - largest);
    for (int j = 0; j < columns; j++)
        y[j] = (float)(std::exp(x[j] - largest) / sum);
}

int main(void)
{
    struct {
        int rows, columns;
        float offset, slope; // slope: rising rows, where each element is a new largest value
    } cases[] = {{1, 1, 0, 0}, {70, 10, 0, 0}, {5, 13, 990, 0}, {5, 13, -990, 0}, {3, 50, 0, 1}, {3, 50, 0, -1}};
    for (auto c : cases) {
        learn_case("rows = %d, columns = %d, scores around %g, slope %g", c.rows, c.columns, c.offset, c.slope);
        std::vector<float> x = learn_values<float>(c.rows * c.columns), expected(x.size());
        for (size_t i = 0; i < x.size(); i++)
            x[i] += c.offset + c.slope * (float)(i % c.columns);
        for (int row = 0; row < c.rows; row++)
            softmax_on_host(&x[row * c.columns], &expected[row * c.columns], c.columns);
        float *device_x = learn_device(x), *device_y = learn_output<float>(x.size());
        softmax<<<(c.rows + 63) / 64, 64>>>(device_x, device_y, c.rows, c.columns);
        learn_expect("y", device_y, expected, 1e-5);
    }
    return learn_passed();
}

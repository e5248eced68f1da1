#include "learn.h"

#include "11.8-stable-softmax.cu"

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
        float offset;
    } cases[] = {{1, 1, 0}, {3, 7, 0}, {70, 10, 0}, {5, 13, 990}, {5, 13, -990}, {4, 31, 80}};
    for (auto c : cases) {
        learn_case("rows = %d, columns = %d, scores around %g", c.rows, c.columns, c.offset);
        std::vector<float> x = learn_values<float>(c.rows * c.columns), expected(x.size());
        for (float &value : x)
            value += c.offset;
        for (int row = 0; row < c.rows; row++)
            softmax_on_host(&x[row * c.columns], &expected[row * c.columns], c.columns);
        float *device_x = learn_device(x), *device_y = learn_output<float>(x.size());
        softmax<<<(c.rows + 63) / 64, 64>>>(device_x, device_y, c.rows, c.columns);
        learn_expect("y", device_y, expected, 1e-5);
    }
    return learn_passed();
}

#include "learn.h"

#include "13.2-one-pass-statistics.cu"

int main(void)
{
    struct {
        int rows, columns;
        float offset;
    } cases[] = {{1, 1, 3}, {3, 7, 0}, {70, 16, 0}, {5, 101, 4096}, {2, 64, -100000}};
    for (auto c : cases) {
        learn_case("rows = %d, columns = %d, values around %g", c.rows, c.columns, c.offset);
        std::vector<float> x = learn_values<float>(c.rows * c.columns), means(c.rows), variances(c.rows);
        for (float &value : x)
            value += c.offset;
        for (int row = 0; row < c.rows; row++) {
            double mean = 0, squares = 0;
            for (int j = 0; j < c.columns; j++)
                mean += (double)x[row * c.columns + j] / c.columns;
            for (int j = 0; j < c.columns; j++)
                squares += (x[row * c.columns + j] - mean) * (x[row * c.columns + j] - mean);
            means[row] = (float)mean;
            variances[row] = (float)(squares / c.columns);
        }
        float *device_x = learn_device(x), *device_means = learn_output<float>(c.rows);
        float *device_variances = learn_output<float>(c.rows);
        statistics<<<(c.rows + 63) / 64, 64>>>(device_x, device_means, device_variances, c.rows, c.columns);
        learn_expect("means", device_means, means, 1e-5);
        learn_expect("variances", device_variances, variances, 1e-3);
    }
    return learn_passed();
}

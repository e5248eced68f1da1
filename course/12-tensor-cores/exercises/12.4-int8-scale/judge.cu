#include "learn.h"

#include "12.4-int8-scale.cu"

int main(void)
{
    struct {
        int rows, columns;
    } cases[] = {{1, 1}, {3, 7}, {70, 10}, {5, 101}};
    for (auto c : cases) {
        learn_case("rows = %d, columns = %d", c.rows, c.columns);
        std::vector<float> x(c.rows * c.columns), scales(c.rows), values = learn_values<float>(x.size());
        std::vector<signed char> expected(x.size());
        for (int row = 0; row < c.rows; row++) {
            float step = row % 4 == 3 ? 0 : (float)(1 << row % 3) / 64; // each fourth row is zero
            int sign = row % 2 ? -1 : 1;
            scales[row] = step > 0 ? step : 1;
            for (int j = 0; j < c.columns; j++) {
                int i = row * c.columns + j;
                bool largest = j == (row * 3) % c.columns;
                int whole = largest ? sign * 127 : (int)values[i] * 15;
                float fraction = largest ? 0 : (float)(j % 5 - 2) * 0.21875f; // at most 0.4375: never a tie
                x[i] = ((float)whole + fraction) * step;
                expected[i] = (signed char)(step > 0 ? whole : 0);
            }
        }
        float *device_x = learn_device(x), *device_scales = learn_output<float>(c.rows);
        signed char *device_q = learn_output(expected);
        quantise<<<(c.rows + 63) / 64, 64>>>(device_x, device_q, device_scales, c.rows, c.columns);
        learn_expect("scales", device_scales, scales, 1e-6);
        learn_expect("q", device_q, expected);
    }
    return learn_passed();
}

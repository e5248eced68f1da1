#include "learn.h"

#include "18.1-heat.cu"

int main(void)
{
    struct {
        int width, height, steps;
    } cases[] = {{3, 3, 1}, {17, 9, 0}, {20, 13, 5}, {32, 16, 8}};
    for (auto c : cases) {
        learn_case("width = %d, height = %d, %d steps", c.width, c.height, c.steps);
        std::vector<float> plate = learn_values<float>(c.width * c.height), border = plate;
        for (int y = 1; y < c.height - 1; y++)
            for (int x = 1; x < c.width - 1; x++)
                border[y * c.width + x] = -1000;
        std::vector<float> expected = plate, before;
        for (int i = 0; i < c.steps; i++) {
            before = expected;
            for (int y = 1; y < c.height - 1; y++)
                for (int x = 1; x < c.width - 1; x++) {
                    const float *at = &before[y * c.width + x];
                    float mean = (at[-1] + at[1] + at[-c.width] + at[c.width]) / 4;
                    expected[y * c.width + x] = at[0] + (mean - at[0]) / 2;
                }
        }
        float *a = learn_device(plate), *b = learn_device(border), *result = simulate(a, b, c.width, c.height, c.steps);
        learn_wait();
        learn_require(result == a || result == b, "simulate returned neither a nor b");
        learn_expect("result", result, expected, 1e-5);
    }
    return learn_passed();
}

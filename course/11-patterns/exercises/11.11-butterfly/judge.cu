#include "learn.h"

#include "11.11-butterfly.cu"

int main(void)
{
    for (int n : {2, 4, 8, 64, 256}) {
        learn_case("n = %d", n);
        std::vector<float> in = learn_values<float>(2 * n), reordered(2 * n), expected(2 * n);
        for (int i = 0; i < n; i++) {
            int reversed = 0;
            for (int bit = 1; bit < n; bit *= 2)
                reversed = 2 * reversed + (i / bit) % 2;
            reordered[2 * reversed] = in[2 * i];
            reordered[2 * reversed + 1] = in[2 * i + 1];
            double real = 0, imaginary = 0; // the transform by its definition
            for (int j = 0; j < n; j++) {
                double angle = -2 * 3.14159265358979323846 * i * j / n;
                real += cos(angle) * in[2 * j] - sin(angle) * in[2 * j + 1];
                imaginary += cos(angle) * in[2 * j + 1] + sin(angle) * in[2 * j];
            }
            expected[2 * i] = (float)real;
            expected[2 * i + 1] = (float)imaginary;
        }
        float *data = learn_device(reordered);
        for (int half = 1; half < n; half *= 2)
            butterflies<<<(n / 2 + 63) / 64, 64>>>((float2 *)data, half, n);
        learn_expect("data", data, expected, 1e-4);
    }
    return learn_passed();
}

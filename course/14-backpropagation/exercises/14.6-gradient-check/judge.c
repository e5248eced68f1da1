#include "learn_c.h"

#include "14.6-gradient-check.c"

static double wave(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += sin(x[i]) * (i + 1) + x[i] * x[(i + 1) % n] * 0.1;
    return sum;
}

static void wave_gradient(const double *x, double *gradient, int n)
{
    for (int i = 0; i < n; i++)
        gradient[i] = cos(x[i]) * (i + 1) + 0.1 * (x[(i + 1) % n] + x[(i + n - 1) % n]);
}

static double cube(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i] * x[i];
    return sum;
}

static void check_wave(void)
{
    enum { COUNT = 7 };
    double x[COUNT], before[COUNT], gradient[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = before[i] = 1e-7 / 3 + 0.7 * i; // the first is so small that adding and subtracting a step changes it
    wave_gradient(x, gradient, COUNT);

    learn_case("a right gradient");
    double error = gradient_error(wave, x, gradient, COUNT);
    learn_require(error >= 0 && error < 1e-7, "the error of a right gradient is %g, expected less than 1e-7", error);
    learn_require(memcmp(x, before, sizeof x) == 0, "x was changed");

    learn_case("a gradient with one wrong element");
    for (int wrong = 0; wrong < COUNT; wrong++) {
        double right = gradient[wrong], size = fabs(right) > 1 ? fabs(right) : 1;
        gradient[wrong] += wrong % 2 ? 0.3 : -0.3;
        error = gradient_error(wave, x, gradient, COUNT);
        learn_require(fabs(error - 0.3 / size) < 1e-6, "element %d of %d is wrong by 0.3: the error is %g, expected %g",
                      wrong, COUNT, error, 0.3 / size);
        gradient[wrong] = right;
    }
}

int main(void)
{
    check_wave();
    learn_case("x * x * x at 100");
    double x = 100, gradient = 3e4;
    double error = gradient_error(cube, &x, &gradient, 1);
    learn_require(error >= 0 && error < 1e-7, "the error of a right gradient is %g, expected less than 1e-7", error);
    return learn_passed();
}

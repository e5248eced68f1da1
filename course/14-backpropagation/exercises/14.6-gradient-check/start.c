// Compares a gradient with slopes by finite differences.

#include <math.h>

// function: takes n numbers and gives one. gradient: n numbers to be checked at x.
double gradient_error(double (*function)(const double *x, int n), double *x, const double *gradient, int n)
{
    double step = 1e-12, largest = 0;

    // TODO: symmetric differences, a better step, the largest error, and x as it was
    for (int i = 0; i < n; i++) {
        double before = function(x, n);
        x[i] += step;
        double slope = (function(x, n) - before) / step;
        x[i] -= step;
        largest = fabs(gradient[i] - slope);
    }
    return largest;
}

// Compares a gradient with slopes by finite differences.
//
// The rounding error of a difference is about 1e-16 / step, its truncation error with symmetric differences about
// step^2. Both are small together near step = 1e-5. x[i] is saved and put back: (x + step) - step is not always x.

#include <math.h>

// function: takes n numbers and gives one. gradient: n numbers to be checked at x.
double gradient_error(double (*function)(const double *x, int n), double *x, const double *gradient, int n)
{
    double step = 1e-5, largest = 0;

    for (int i = 0; i < n; i++) {
        double saved = x[i];
        x[i] = saved + step;
        double above = function(x, n);
        x[i] = saved - step;
        double below = function(x, n);
        x[i] = saved;
        double slope = (above - below) / (2 * step);
        largest = fmax(largest, fabs(gradient[i] - slope) / fmax(1, fabs(slope)));
    }
    return largest;
}

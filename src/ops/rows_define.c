// The functions of the operators over rows in float64.

#include "ops/rows_define.h"

#include <math.h>

double heddle_rows_activate(int function, double x)
{
    switch (function) {
    case HEDDLE_ROWS_RELU: return x < 0 ? 0 : x;
    case HEDDLE_ROWS_TANH: return tanh(x);
    case HEDDLE_ROWS_SIGMOID: return 1 / (1 + exp(-x));
    default: return x;
    }
}

double heddle_rows_slope(int function, double y)
{
    switch (function) {
    case HEDDLE_ROWS_RELU: return y > 0;
    case HEDDLE_ROWS_TANH: return 1 - y * y;
    case HEDDLE_ROWS_SIGMOID: return y * (1 - y);
    default: return 1;
    }
}

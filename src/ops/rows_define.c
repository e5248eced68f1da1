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

double heddle_rows_byte(int function, double value)
{
    const double unit = function == HEDDLE_ROWS_TANH || function == HEDDLE_ROWS_SIGMOID ? HEDDLE_ROWS_MOST_BYTE : 1;
    return fmax(-HEDDLE_ROWS_MOST_BYTE - 1, fmin(HEDDLE_ROWS_MOST_BYTE, rint(unit * value)));
}

double heddle_rows_requantise(int function, double sum, double scale, double bias)
{
    return heddle_rows_byte(function, heddle_rows_activate(function, fmaf((float)sum, (float)scale, (float)bias)));
}

heddle_status heddle_rows_is_floats(const char *op, int int8)
{
    return int8 ? heddle_fail(HEDDLE_INVALID, "%s: int8=%d: only forward operators take bytes", op, int8) : HEDDLE_OK;
}

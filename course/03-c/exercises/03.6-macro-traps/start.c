// Three macros that are wrong in most places.

// The mean of two numbers.
#define AVERAGE(a, b) a + b / 2

// How many per cent of `whole` are `part`, rounded down.
#define PERCENT(part, whole) 100 * part / whole

// The larger of two numbers.
#define LARGER(a, b) a > b ? a : b

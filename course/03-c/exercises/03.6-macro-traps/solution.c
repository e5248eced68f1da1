// Three macros that are right wherever they are used.
//
// Parentheses around each argument keep what was passed together; parentheses around the whole keep the result together
// in the expression around it. One trap remains: an argument that is used twice is evaluated twice, so do not pass i++.

// The mean of two numbers.
#define AVERAGE(a, b) (((a) + (b)) / 2)

// How many per cent of `whole` are `part`, rounded down.
#define PERCENT(part, whole) (100 * (part) / (whole))

// The larger of two numbers.
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

// The names of the tiers and of arithmetic, for flags, checkpoints and tables.

#include <stddef.h>

#include "heddle/op.h"

const char *const heddle_tier_names[] = {"naive", "tuned", "vendor", "fused", NULL};
const char *const heddle_arithmetic_names[] = {"full", "tf32x3", "tf32", "fp16", "bf16", "int8", NULL};
